/**
 * The steps that may run next, and which of them does: the first of the program, but before it any
 * that gives back at least as much memory as it takes. A weight's gradient is such a step where it
 * is the last to read an activation and what came back to it: the program writes it after the
 * whole backward pass, and all of both would wait for it. Sizes decide nothing but the order.
 */
import { packedBytes } from "@kiln-ml/artifact";
import { maxOfDim, type Tensor } from "@kiln-ml/ir";
import { extentGuess } from "../sizes.ts";
import { Ranks } from "./ranks.ts";

/** What a step asks of memory. */
export interface Touching {
  readonly reads: ReadonlySet<Tensor>;
  /** What it stores, and the tensor each lies in. */
  readonly writes: ReadonlyMap<Tensor, Tensor>;
}

export class Ready {
  /** Bytes that a step takes, less those that it gives back if it runs now. */
  readonly #takes: number[];
  /** Steps that have yet to read a value. */
  readonly #readers = new Map<Tensor, Set<number>>();
  readonly #steps: readonly Touching[];
  readonly #first = new Ranks();
  readonly #others = new Ranks();
  readonly #waiting = new Set<number>();

  /** Steps by rank; the memory of `lasting` is never given back. */
  constructor(steps: readonly Touching[], lasting: ReadonlySet<Tensor>) {
    this.#steps = steps;
    const whole = new Map(steps.flatMap(({ writes }) => [...writes]));
    const isTemporary = (t: Tensor): boolean => {
      const lies = whole.get(t);
      return lies !== undefined && !lasting.has(lies) && !lasting.has(t);
    };
    for (const [i, { reads }] of steps.entries())
      for (const t of reads) {
        if (!isTemporary(t)) continue;
        const readers = this.#readers.get(t);
        if (readers) readers.add(i);
        else this.#readers.set(t, new Set([i]));
      }
    this.#takes = steps.map(({ writes }) =>
      [...writes.keys()].filter(isTemporary).reduce((sum, t) => sum + bytesOf(t), 0),
    );
    for (const [t, readers] of this.#readers) if (readers.size === 1) this.#lastReader(t, readers);
  }

  /** A step has all that it waits for. `early`: it runs as soon as it can. */
  add(step: number, early = false): void {
    if (early || this.#takes[step]! <= 0) this.#first.add(step);
    else {
      this.#others.add(step);
      this.#waiting.add(step);
    }
  }

  /** The step that runs next. */
  take(): number | undefined {
    const step = this.#first.take() ?? this.#takeOther();
    if (step === undefined) return undefined;
    this.#waiting.delete(step);
    for (const t of this.#steps[step]!.reads) {
      const readers = this.#readers.get(t);
      if (readers?.delete(step) && readers.size === 1) this.#lastReader(t, readers);
    }
    return step;
  }

  /** Those that came to run early are still among the others. */
  #takeOther(): number | undefined {
    let step = this.#others.take();
    while (step !== undefined && !this.#waiting.has(step)) step = this.#others.take();
    return step;
  }

  #lastReader(t: Tensor, readers: ReadonlySet<number>): void {
    for (const step of readers) {
      this.#takes[step]! -= bytesOf(t);
      if (this.#takes[step]! <= 0 && this.#waiting.delete(step)) this.#first.add(step);
    }
  }
}

const bytesOf = ({ dtype, shape }: Tensor): number =>
  shape.reduce<number>((size, d) => {
    const most = maxOfDim(d);
    return size * (Number.isFinite(most) ? most : extentGuess);
  }, packedBytes(dtype));
