/**
 * Recipes: which moves make a schedule of a naive kernel, as text that can be kept, compared and
 * tried anew: `merge; unroll i0 4`. Decides nothing; families choose recipes.
 */
import { bug } from "@kiln-ml/ir";
import type { Stmt } from "../kernel/kernel.ts";
import { plainName } from "../kernel/names.ts";
import { expand, promote, splitSum } from "./accumulator-moves.ts";
import type { gpuMoves } from "./gpu/recipe.ts";
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
import type { serialMoves } from "./serial/recipe.ts";
import type { simdMoves } from "./simd/recipe.ts";

export type Move = (body: readonly Stmt[], ...args: string[]) => readonly Stmt[];

/** The moves that every target has, by name; those of one target lie in its folder. */
export const sharedMoves = {
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
  vectorise,
  keep,
} as const satisfies Record<string, Move>;

type MoveName =
  | keyof typeof sharedMoves
  | keyof typeof serialMoves
  | keyof typeof simdMoves
  | keyof typeof gpuMoves;

/** Those after which sums are rounded in other places; all others keep every bit. */
export const roundsAnew: ReadonlySet<string> = new Set<MoveName>([
  "promote",
  "splitSum",
  "blockSums",
  "cooperate",
  "teams",
  "scan",
]);

/** A move and its arguments. */
export type Step = readonly [name: MoveName, ...args: (string | number)[]];

export interface Refusal {
  /** The step that cannot be taken. */
  readonly step: string;
  readonly why: string;
  /** True if the program does not allow it, so that a schedule may do without. */
  readonly byProgram?: boolean;
}

/** One step as text; loops may be given by the names that kernels have for them. */
export const printStep = (step: Step): string => step.map((a) => plainName(`${a}`)).join(" ");

/** Takes the steps of a recipe, one after the other, or says which cannot be taken. */
export function tryRecipe(
  body: readonly Stmt[],
  recipe: string,
  moves: Readonly<Record<string, Move>> = sharedMoves,
): readonly Stmt[] | Refusal {
  let now = body;
  for (const step of recipe.split("; ").filter((s) => s !== "")) {
    const [name, ...args] = step.split(" ");
    const move = moves[name!];
    if (!move) return { step, why: `there is no move ${name}` };
    try {
      now = move(now, ...args);
    } catch (e) {
      if (!(e instanceof Refused)) throw e;
      return { step, why: e.message, byProgram: e.byProgram };
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

/**
 * Takes steps, or says which of them the statements do not allow, out of these moves: a target's
 * own are loaded with its schedules, and no page carries those of another.
 */
export const attempting =
  (moves: Readonly<Record<string, Move>>) =>
  ({ body, recipe }: Moved, ...steps: readonly Step[]): Moved | Refusal => {
    const more = steps.map(printStep).join("; ");
    const made = tryRecipe(body, more, moves);
    if ("why" in made) return made;
    return { body: made, recipe: [recipe, more].filter((r) => r !== "").join("; ") };
  };

/** A schedule that chooses a step which cannot be taken has a fault. */
const mistaken = ({ step, why }: Refusal): never => bug("schedule", `${step}: ${why}`);

/** Takes a step where the program allows it. */
export const wherePossible =
  (moves: Readonly<Record<string, Move>>) =>
  (from: Moved, step: Step): Moved => {
    const made = attempting(moves)(from, step);
    if (!("why" in made)) return made;
    return made.byProgram ? from : mistaken(made);
  };

/** Takes steps that were chosen for the statements. */
export const applying =
  (moves: Readonly<Record<string, Move>>) =>
  (from: Moved, ...steps: readonly Step[]): Moved => {
    const made = attempting(moves)(from, ...steps);
    return "why" in made ? mistaken(made) : made;
  };

/** The same with the moves that every target has. */
export const apply = applying(sharedMoves);
