/**
 * What `node.ts` has, in a page: progress goes to the console, and what needs files says that there
 * are none. Bundlers for pages take it in the place of `node.ts` by the condition `browser`, so
 * that what imports that has no `node:` in it.
 */
import { GraphError } from "@kiln-ml/ir";
import type { CheckpointOptions } from "./callbacks/checkpoint.ts";
import type { TensorBoardOptions } from "./callbacks/tensor-board.ts";
import type { Callback } from "./run.ts";

export { type Out, sparkline, type TerminalOptions, terminal } from "./callbacks/terminal.ts";
export type { CheckpointOptions, TensorBoardOptions };

const noFiles = (op: string, path: string, instead: string): GraphError =>
  new GraphError(`${op}: a page has no files, got ${String(path)}\n  ${instead}`);

/** Throws GraphError: a page keeps the bytes of `run.snapshot()` itself. */
export function checkpoint(folder: string, _options?: CheckpointOptions): Callback {
  throw noFiles("checkpoint", folder, "keep run.snapshot() in a callback of your own");
}

/** Throws GraphError: a page keeps `run.records` itself. */
export function jsonLines(path: string): Callback {
  throw noFiles("jsonLines", path, "keep run.records in a callback of your own");
}

/** Throws GraphError: a page shows `run.records` itself. */
export function report(path: string): Callback {
  throw noFiles("report", path, "show run.records in a callback of your own");
}

/** Throws GraphError: a page shows `run.records` itself. */
export function tensorBoard(folder: string, _options?: TensorBoardOptions): Callback {
  throw noFiles("tensorBoard", folder, "show run.records in a callback of your own");
}

/** Rejects with GraphError: a page loads weights by `loadState`. */
export async function readCheckpoint(path: string): Promise<Uint8Array | undefined> {
  throw noFiles("resume", path, "fetch the bytes, and give them to loadState");
}
