/**
 * The order in which the launches of a run come, where it is not one after the other: the flow of a
 * plan as a list of instructions, and a walk through them that asks for each flag it comes to. A
 * device does what the walk says, and may wait in between. Loaded for plans that have a flow.
 * Imports nothing: what the loader has already is given, or bundlers would cut it out as one more
 * chunk.
 */
import type {
  ArtifactError,
  evaluateSize,
  Flow,
  GraphError,
  Plan,
  partsOf,
} from "@kiln-ml/artifact";
import type { RunOptions } from "./device.ts";
import type { nextTask } from "./devices/pressure.ts";

/** What the loader has, by the same names. */
export interface Given {
  readonly ArtifactError: typeof ArtifactError;
  readonly GraphError: typeof GraphError;
  readonly evaluateSize: typeof evaluateSize;
  readonly partsOf: typeof partsOf;
  readonly nextTask: typeof nextTask;
}

/** The two things that a loader and an executable ask of a flow. */
export interface Flows {
  /**
   * Throws ArtifactError where a flow names a step that there is not, or a place that `check`
   * refuses.
   */
  check(flow: readonly Flow[], steps: number, check: (where: string, place: Place) => void): void;
  /**
   * The instructions of a flow for the values of the dims. Throws ArtifactError for trips that are
   * no number of them.
   */
  code(flow: readonly Flow[], dims: Readonly<Record<string, number>>): FlowCode;
}

export const flowsWith = (given: Given): Flows => ({
  check: (flow, steps, check) => checkFlow(given, flow, steps, check),
  code: (flow, dims) => flowCode(given, flow, dims),
});

type Place = Plan["steps"][number]["args"][number];

type Instruction =
  | { readonly do: "launch"; readonly index: number }
  /** Goes to `to` unless the flag is set. */
  | { readonly do: "test"; readonly flag: Place; readonly to: number }
  | { readonly do: "reset"; readonly loop: number }
  /** Goes to `to` when the loop has made its trips. */
  | { readonly do: "enter"; readonly loop: number; readonly trips: number; readonly to: number }
  /** One trip more, then to `to`. */
  | { readonly do: "repeat"; readonly loop: number; readonly to: number }
  | { readonly do: "go"; readonly to: number };

function checkFlow(
  given: Given,
  flow: readonly Flow[],
  steps: number,
  check: (where: string, place: Place) => void,
): void {
  for (const f of flow) {
    if (typeof f === "number") {
      if (!(f >= 0 && f < steps))
        throw new given.ArtifactError(`load: the flow names step ${f} of ${steps}`);
      continue;
    }
    if ("if" in f) check("a branch", f.if);
    if ("while" in f) check("a loop", f.while.flag);
    for (const part of given.partsOf(f)) checkFlow(given, part, steps, check);
  }
}

export interface FlowCode {
  /** A new walk through it, within these limits. */
  walk(limits?: RunOptions): Walk;
  /** Of each launch, which loop counts which dim. */
  readonly counters: readonly ReadonlyMap<string, number>[];
  /** Of each launch, how often it runs; an unknown number of trips counts as one. */
  readonly times: readonly number[];
}

function flowCode(
  given: Given,
  flow: readonly Flow[],
  dims: Readonly<Record<string, number>>,
): FlowCode {
  const code: Instruction[] = [];
  const counters: ReadonlyMap<string, number>[] = [];
  const times: number[] = [];
  let loops = 0;
  type Around = { readonly counters: ReadonlyMap<string, number>; readonly times: number };
  const list = (flows: readonly Flow[], around: Around): void => {
    for (const f of flows) one(f, around);
  };
  const one = (f: Flow, around: Around): void => {
    if (typeof f === "number") {
      code.push({ do: "launch", index: f });
      counters[f] = around.counters;
      times[f] = around.times;
    } else if ("if" in f) {
      const test = code.push({ do: "go", to: 0 }) - 1;
      list(f.then, around);
      const end = code.push({ do: "go", to: 0 }) - 1;
      code[test] = { do: "test", flag: f.if, to: code.length };
      list(f.else, around);
      code[end] = { do: "go", to: code.length };
    } else if ("loop" in f) {
      const trips = given.evaluateSize(f.loop.trips, dims);
      repeated(trips, (loop) => {
        const inside = new Map(around.counters).set(f.loop.dim, loop);
        list(f.body, { counters: inside, times: around.times * trips });
        return -1;
      });
    } else
      repeated(
        f.while.most ?? Infinity,
        () => {
          list(f.while.test, around);
          const test = code.push({ do: "go", to: 0 }) - 1;
          list(f.body, around);
          return test;
        },
        f.while.flag,
      );
  };
  const repeated = (trips: number, body: (loop: number) => number, flag?: Place): void => {
    const loop = loops++;
    code.push({ do: "reset", loop });
    const top = code.push({ do: "go", to: 0 }) - 1;
    const test = body(loop);
    code.push({ do: "repeat", loop, to: top });
    code[top] = { do: "enter", loop, trips, to: code.length };
    if (test >= 0) code[test] = { do: "test", flag: flag!, to: code.length };
  };
  list(flow, { counters: new Map(), times: 1 });
  return { walk: (limits) => new Walk(given, code, loops, limits), counters, times };
}

/**
 * What a device is to do next: a launch by its number, or to say what a flag is; null if nothing
 * yet, and a pause may be due.
 */
export type Next = number | Place | null;

/** A walk that goes on for this long gives a page, or the other clients of a server, their turn. */
const sliceMs = 16;

/**
 * Instructions after which a walk comes back though no launch was among them: loops may be empty.
 */
const fruitless = 1024;

export class Walk {
  /** The trips so far of each loop. */
  readonly counts: number[];
  readonly #given: Given;
  readonly #code: readonly Instruction[];
  readonly #limits: RunOptions;
  /** Of all loops. */
  #trips = 0;
  #at = 0;
  #asked = -1;
  #since = Date.now();

  constructor(given: Given, code: readonly Instruction[], loops: number, limits: RunOptions = {}) {
    this.#given = given;
    this.#code = code;
    this.#limits = limits;
    this.counts = new Array<number>(loops).fill(0);
  }

  /**
   * The next launch, or the place of a flag, after which comes `answer`; undefined at the end.
   * Throws GraphError where the loops have made all the trips that they may.
   */
  next(): Next | undefined {
    const { counts } = this;
    for (let steps = 0; steps < fruitless; steps++) {
      const i = this.#code[this.#at];
      if (i === undefined) return undefined;
      this.#at += 1;
      if (i.do === "launch") return i.index;
      if (i.do === "test") {
        this.#asked = i.to;
        return i.flag;
      }
      if (i.do === "reset") counts[i.loop] = 0;
      else if (i.do === "go") this.#at = i.to;
      else if (i.do === "repeat") {
        counts[i.loop]! += 1;
        this.#at = i.to;
        this.#countTrip();
      } else if (counts[i.loop]! >= i.trips) this.#at = i.to;
    }
    return null;
  }

  answer(flag: boolean): void {
    if (this.#asked < 0) throw new this.#given.ArtifactError("run: no flag was asked for");
    if (!flag) this.#at = this.#asked;
    this.#asked = -1;
  }

  /** Whether the walk has gone on for so long that `pause` is due. */
  get due(): boolean {
    const since = Date.now() - this.#since;
    // A clock that was set back counts as long ago.
    return since >= sliceMs || since < 0;
  }

  /** Lets others have their turn. Rejects with the signal's reason if the run is to end. */
  async pause(): Promise<void> {
    await this.#given.nextTask();
    this.#since = Date.now();
    this.check();
  }

  /** Throws the signal's reason if the run is to end. */
  check(): void {
    this.#limits.signal?.throwIfAborted();
  }

  #countTrip(): void {
    const { maxTrips = Infinity } = this.#limits;
    this.#trips += 1;
    if (this.#trips > maxTrips)
      throw new this.#given.GraphError(
        `run: the loops make more trips than maxTrips, which is ${maxTrips}\n  pass a larger maxTrips, or bound the loop itself: whileLoop(…, { maxTrips })`,
      );
  }
}
