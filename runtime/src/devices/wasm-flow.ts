/**
 * A run whose calls come in an order of their own: the calls of the launches are copied, in the order of the walk and with
 * the counters of their loops, into batches for the crew. A batch ends where it is full or a flag must be read.
 */
import type { Walk } from "../flow.ts";
import type { Layout, Place } from "../layout.ts";
import { word } from "./wasm-calls.ts";
import type { Calls } from "./wasm-program.ts";

const batchWords = 1 << 14;

class CallWalk {
  readonly #calls: Calls;
  readonly #layout: Layout;
  readonly #walk: Walk;
  readonly #launched: number[] | null;
  /** The launch that did not fit into the last batch. */
  #left = -1;
  #batch = new Int32Array(batchWords);

  constructor(calls: Calls, layout: Layout, walk: Walk, launched: number[] | null) {
    this.#calls = calls;
    this.#layout = layout;
    this.#walk = walk;
    this.#launched = launched;
  }

  /** Calls that come next, and the flag that is asked for after them; undefined at the end. */
  batch(): { words: Int32Array; flag: Place | undefined } | undefined {
    let at = 0;
    for (;;) {
      const next = this.#left >= 0 ? this.#left : this.#walk.next();
      this.#left = -1;
      if (typeof next !== "number") {
        if (next === undefined && at === 0) return undefined;
        return { words: this.#batch.subarray(0, at), flag: next };
      }
      const length = this.#calls.starts[next + 1]! - this.#calls.starts[next]!;
      if (at > 0 && at + length > this.#batch.length) {
        this.#left = next;
        return { words: this.#batch.subarray(0, at), flag: undefined };
      }
      if (length > this.#batch.length) this.#batch = new Int32Array(length);
      this.#put(next, at);
      this.#launched?.push(next);
      at += length;
    }
  }

  answer(flag: boolean): void {
    this.#walk.answer(flag);
  }

  /** The calls of a launch, with the trips so far. */
  #put(index: number, to: number): void {
    const { words, starts, pieces } = this.#calls;
    const { args, counted } = this.#layout.launches[index]!;
    const [from, end] = [starts[index]!, starts[index + 1]!];
    const batch = this.#batch;
    for (let i = from; i < end; i++) batch[to + i - from] = words[i]!;
    if (counted.length === 0) return;
    for (const piece of pieces[index]!) {
      const call = to + piece - word.pieces - from + word.args + args.length;
      for (const { at, loop } of counted) batch[call + at] = this.#walk.counts[loop]!;
    }
  }
}

type Batch = NonNullable<ReturnType<CallWalk["batch"]>>;
type RunCalls = (words: Int32Array) => void | Promise<void>;
type ReadFlag = (place: Place) => boolean;

/** Runs batches until the walk is over; a promise from the first one that is not done at once. */
export function runFlow(
  calls: Calls,
  layout: Layout,
  order: Walk,
  launched: number[] | null,
  run: RunCalls,
  flag: ReadFlag,
): void | Promise<void> {
  const walk = new CallWalk(calls, layout, order, launched);
  for (let batch = walk.batch(); batch; batch = walk.batch()) {
    const running = batch.words.length > 0 ? run(batch.words) : undefined;
    if (running) return goOn(walk, run, flag, batch, running);
    if (batch.flag) walk.answer(flag(batch.flag));
  }
}

async function goOn(
  walk: CallWalk,
  run: RunCalls,
  flag: ReadFlag,
  first: Batch,
  running: Promise<void>,
): Promise<void> {
  await running;
  if (first.flag) walk.answer(flag(first.flag));
  for (let batch = walk.batch(); batch; batch = walk.batch()) {
    if (batch.words.length > 0) await run(batch.words);
    if (batch.flag) walk.answer(flag(batch.flag));
  }
}
