/**
 * A run whose calls come in an order of their own: the calls of the launches are copied, in the
 * order of the walk and with the counters of their loops, into batches for the executor. A batch
 * ends where it is full or a flag must be read.
 */
import type { Walk } from "../flow.ts";
import type { Layout, Place } from "../layout.ts";
import type { Calls } from "./wasm-program.ts";

const batchWords = 1 << 14;
/**
 * Nobody knows before how long a batch takes: the first ones are short, and those after a long one
 * shorter.
 */
const firstWords = 1 << 9;
const shortMs = 4;
const longMs = 16;

/** Calls, and the flag that is asked for after them. */
interface Batch {
  readonly words: Int32Array;
  readonly flag: Place | undefined;
}

/** What a walk asks of the program and its device. */
export interface FlowHost {
  run(words: Int32Array): void | Promise<void>;
  flag(place: Place): boolean;
  /** Throws DeviceError once the device is lost. */
  check(): void;
}

class CallWalk {
  readonly #calls: Calls;
  readonly #layout: Layout;
  readonly #walk: Walk;
  readonly #launched: number[] | null;
  /** The launch that did not fit into the last batch. */
  #left = -1;
  #batch = new Int32Array(batchWords);
  /** Words that the next batch may have, if there is more than one launch in it. */
  #room = firstWords;

  constructor(calls: Calls, layout: Layout, walk: Walk, launched: number[] | null) {
    this.#calls = calls;
    this.#layout = layout;
    this.#walk = walk;
    this.#launched = launched;
  }

  /** Calls that come next, and the flag that is asked for after them; undefined at the end. */
  batch(): Batch | undefined {
    let at = 0;
    for (;;) {
      const next = this.#left >= 0 ? this.#left : this.#walk.next();
      this.#left = -1;
      if (typeof next !== "number") {
        if (next === undefined && at === 0) return undefined;
        return { words: this.#batch.subarray(0, at), flag: next ?? undefined };
      }
      const length = this.#calls.starts[next + 1]! - this.#calls.starts[next]!;
      if (at > 0 && at + length > this.#room) {
        this.#left = next;
        return { words: this.#batch.subarray(0, at), flag: undefined };
      }
      if (length > this.#batch.length) this.#batch = new Int32Array(length);
      this.#put(next, at);
      this.#launched?.push(next);
      at += length;
    }
  }

  /** Runs a batch, and by the time it takes decides how long the next one may be. */
  run(host: FlowHost, { words }: Batch): void | Promise<void> {
    if (words.length === 0) return;
    const start = Date.now();
    const running = host.run(words);
    if (running) return running.then(() => this.#fit(Date.now() - start));
    this.#fit(Date.now() - start);
  }

  #fit(took: number): void {
    if (took <= shortMs) this.#room = Math.min(batchWords, 2 * this.#room);
    else if (took > longMs) this.#room = Math.max(1, this.#room >> 1);
  }

  answer(flag: boolean): void {
    this.#walk.answer(flag);
  }

  /** The calls of a launch, with the trips so far. */
  #put(index: number, to: number): void {
    const { words, starts, pieces, argsAfterPieces } = this.#calls;
    const { args, counted } = this.#layout.launches[index]!;
    const [from, end] = [starts[index]!, starts[index + 1]!];
    const batch = this.#batch;
    for (let i = from; i < end; i++) batch[to + i - from] = words[i]!;
    if (counted.length === 0) return;
    for (const piece of pieces[index]!) {
      const call = to + piece + argsAfterPieces - from + args.length;
      for (const { at, loop } of counted) batch[call + at] = this.#walk.counts[loop]!;
    }
  }
}

/** Runs batches until the walk is over; a promise from the first one that is not done at once. */
export function runFlow(
  calls: Calls,
  layout: Layout,
  order: Walk,
  launched: number[] | null,
  host: FlowHost,
): void | Promise<void> {
  const walk = new CallWalk(calls, layout, order, launched);
  for (let batch = walk.batch(); batch; batch = walk.batch()) {
    const running = walk.run(host, batch);
    if (running || order.due) return goOn(walk, order, host, batch, running);
    if (batch.flag) walk.answer(host.flag(batch.flag));
  }
}

/**
 * The rest of a run that takes long, after the batch `first`; others have their turn between two
 * batches.
 */
async function goOn(
  walk: CallWalk,
  order: Walk,
  host: FlowHost,
  first: Batch,
  running: void | Promise<void>,
): Promise<void> {
  await running;
  for (let batch: Batch | undefined = first; batch; ) {
    if (order.due) await order.pause();
    order.check();
    host.check();
    if (batch.flag) walk.answer(host.flag(batch.flag));
    batch = walk.batch();
    if (batch) await walk.run(host, batch);
  }
}
