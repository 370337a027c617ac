/**
 * What of training needs files and a terminal: checkpoints, logs, reports, the line that is redrawn.
 */
export { type CheckpointOptions, checkpoint } from "./callbacks/checkpoint.ts";
export { jsonLines } from "./callbacks/json-lines.ts";
export { report } from "./callbacks/report.ts";
export { type TensorBoardOptions, tensorBoard } from "./callbacks/tensor-board.ts";
export { type Out, sparkline, type TerminalOptions, terminal } from "./callbacks/terminal.ts";
export { readCheckpoint } from "./checkpoint-files.ts";
