/**
 * One reader's inputs in a thread of its own, so that one that hangs or runs out of memory can be told and stopped. Says
 * in shared memory which input it is at.
 */
import { parentPort, workerData } from "node:worker_threads";
import { readers } from "./readers.ts";
import { fuzzReader } from "./tally.ts";

export interface Job {
  readonly name: string;
  readonly seed: number;
  readonly count: number;
  readonly first: number;
  /** One Int32: the number of the input at hand. */
  readonly at: SharedArrayBuffer;
}

const { name, seed, count, first, at } = workerData as Job;
const reader = readers.find((r) => r.name === name);
if (!reader) throw new Error(`no reader ${name}`);
const place = new Int32Array(at);
const tally = await fuzzReader(reader, seed, count, first, (index) =>
  Atomics.store(place, 0, index),
);
parentPort?.postMessage(tally);
