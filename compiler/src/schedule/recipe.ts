/**
 * Recipes: which moves make a schedule of a naive kernel, as text that can be kept, compared and
 * tried anew: `merge; unroll i0 4`. Decides nothing; families choose recipes.
 */
import { bug } from "@kiln-ml/ir";
import type { Stmt } from "../kernel/kernel.ts";
import { plainName } from "../kernel/names.ts";
import { expand, promote, splitSum } from "./accumulator-moves.ts";
import { cooperate, grid, teams } from "./gpu/moves.ts";
import { keep } from "./keep.ts";
import { inLanes, vectorise } from "./lane-moves.ts";
import {
  flatten,
  inline,
  mark,
  merge,
  Refused,
  reorder,
  split,
  unroll,
  writeOut,
} from "./loop-moves.ts";
import { prefetchAhead } from "./simd/prefetch.ts";
import { blockSums } from "./simd/sums.ts";

type Move = (body: readonly Stmt[], ...args: string[]) => readonly Stmt[];

/** The moves by name. */
export const moves = {
  merge,
  mark,
  unroll,
  writeOut,
  split,
  inline,
  flatten,
  reorder,
  promote,
  expand,
  splitSum,
  inLanes,
  prefetch: prefetchAhead,
  blockSums,
  vectorise,
  keep,
  grid,
  cooperate,
  teams,
} as const satisfies Record<string, Move>;

/** Those after which sums are rounded in other places; all others keep every bit. */
export const roundsAnew: ReadonlySet<string> = new Set<keyof typeof moves>([
  "promote",
  "splitSum",
  "blockSums",
  "cooperate",
  "teams",
]);

/** A move and its arguments. */
export type Step = readonly [name: keyof typeof moves, ...args: (string | number)[]];

export interface Refusal {
  /** The step that cannot be taken. */
  readonly step: string;
  readonly why: string;
}

/** One step as text; loops may be given by the names that kernels have for them. */
export const printStep = (step: Step): string => step.map((a) => plainName(`${a}`)).join(" ");

/** Takes the steps of a recipe, one after the other, or says which cannot be taken. */
export function tryRecipe(body: readonly Stmt[], recipe: string): readonly Stmt[] | Refusal {
  let now = body;
  for (const step of recipe.split("; ").filter((s) => s !== "")) {
    const [name, ...args] = step.split(" ");
    const move = (moves as Readonly<Record<string, Move>>)[name!];
    if (!move) return { step, why: `there is no move ${name}` };
    try {
      now = move(now, ...args);
    } catch (e) {
      if (!(e instanceof Refused)) throw e;
      return { step, why: e.message };
    }
  }
  return now;
}

/** Statements, and the recipe that made them of a naive kernel. */
export interface Moved {
  readonly body: readonly Stmt[];
  readonly recipe: string;
}

export const naive = (body: readonly Stmt[]): Moved => ({ body, recipe: "" });

/** What the steps make of statements that they were chosen for. */
export function apply({ body, recipe }: Moved, ...steps: readonly Step[]): Moved {
  const more = steps.map(printStep).join("; ");
  const made = tryRecipe(body, more);
  if ("why" in made) return bug("schedule", `${made.step}: ${made.why}`);
  return { body: made, recipe: [recipe, more].filter((r) => r !== "").join("; ") };
}
