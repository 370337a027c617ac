/**
 * The programs that an ONNX model comes to: one for each form of its inputs, and where import must know values, one that computes them
 * first. What was computed is kept while what it depends on is small.
 */
import type { Dim, Tensor } from "@kiln-ml/ir";
import type { Check, Value } from "@kiln-ml/onnx";
import type { CompiledFunction } from "../compile/compile.ts";
import type { ShapedArray } from "../compile/feed.ts";

export type Feeds = Readonly<Record<string, ShapedArray>>;

/** A program of the tree: final, or one that computes the next value that import must know. */
export interface Stage {
  readonly run: CompiledFunction<[Record<string, Tensor>], Record<string, Tensor | Tensor[]>>;
  /** What import threw. */
  failure?: string;
  /** The two extents that it found to be unequal. */
  apart?: readonly [Dim, Dim] | undefined;
  /** The key of the demanded value. */
  demand?: string;
  /** The feeds that the demanded value depends on. */
  depends?: readonly string[];
  /** Demanded values by what the feeds held, if those are small. */
  readonly answers: Map<string, readonly number[]>;
  /** The nodes whose flags the run gives, from the last trace. */
  checks?: readonly Check[];
  /** Whether there is somebody to look at flags: nobody does for an artifact. */
  readonly checked: boolean;
  /** The form of the results, from the last trace. */
  outputs?: Map<string, Value>;
}

/** Programs that a model keeps; data-dependent sizes would otherwise fill the memory. */
const keptStages = 64;

/** The stages of a model by their keys, the most recently used last. */
export class Stages {
  readonly #kept = new Map<string, Stage>();
  /** Programs compiled of stages that are no longer kept. */
  #dropped = 0;

  /** Programs compiled so far. */
  get compiles(): number {
    return [...this.#kept.values()].reduce((n, { run }) => n + run.compiles, this.#dropped);
  }

  of(key: string, make: () => Stage): Stage {
    const stage = this.#kept.get(key) ?? make();
    this.#kept.delete(key);
    this.#kept.set(key, stage);
    if (this.#kept.size > keptStages) {
      const [oldest] = this.#kept.keys();
      this.drop((k) => k === oldest);
    }
    return stage;
  }

  /** Forgets those with such keys. */
  drop(which: (key: string) => boolean): Stage[] {
    const gone = [...this.#kept].filter(([key]) => which(key));
    for (const [key, { run }] of gone) {
      this.#dropped += run.compiles;
      this.#kept.delete(key);
    }
    return gone.map(([, stage]) => stage);
  }
}

/** Answers that a stage keeps, and the elements of feeds that are small enough to compare. */
const keptAnswers = 16;
const smallFeeds = 256;

/** True if its program was traced and computes the outputs. */
export const isFinal = (stage: Stage): boolean =>
  stage.outputs !== undefined && stage.demand === undefined;

/** What a demanded value depends on, as text; undefined where that is not small, or not known yet. */
export function questionOf({ demand, depends }: Stage, feeds: Feeds): string | undefined {
  if (demand === undefined || !depends) return undefined;
  const size = depends.reduce((n, feed) => n + feeds[feed]!.data.length, 0);
  if (size > smallFeeds) return undefined;
  // It may depend on the extents of any input.
  const shapes = Object.values(feeds).map(({ shape }) => shape.join());
  return [...shapes, ...depends.map((feed) => feeds[feed]!.data.join())].join(";");
}

export function remember(
  answers: Map<string, readonly number[]>,
  question: string | undefined,
  values: readonly number[],
): void {
  if (question === undefined) return;
  if (answers.size >= keptAnswers) answers.delete(answers.keys().next().value as string);
  answers.set(question, values);
}
