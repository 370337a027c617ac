/**
 * Where a run takes place: what shows its progress, and where its checkpoints are read from.
 */
import { GraphError } from "@kiln-ml/ir";
import type { Callback } from "./run.ts";

/** What is outside of the loop: where checkpoints are read from, and what shows progress. */
export interface Surroundings {
  /** The newest checkpoint of a folder, or the file; undefined for a folder without any. */
  readCheckpoint(path: string): Promise<Uint8Array | undefined>;
  renderer(): Callback | undefined;
}

let current: Surroundings = {
  readCheckpoint(path) {
    throw new GraphError(`resume: there are no files here to read ${path} from`);
  },
  renderer: () => undefined,
};

/**
 * Says where a run takes place: how reports are drawn, and how checkpoints are read.
 * `kiln-ml/train` does it for Node. No counterpart in PyTorch.
 *
 * @param by Reads checkpoints, and shows progress.
 * @example
 *   train.surround({ readCheckpoint: async () => undefined, renderer: () => undefined });
 */
export function surround(by: Surroundings): void {
  current = by;
}

/** Where runs take place now. */
export const surroundings = (): Surroundings => current;
