/** Recipes of js: the shared moves, and those that stage operands and make register tiles. */
import { applying, type Move, sharedMoves, wherePossible } from "../recipe.ts";
import { registers } from "../registers.ts";
import { stage } from "../stage.ts";

export const serialMoves = { stage, registers } as const satisfies Record<string, Move>;

const moves = { ...sharedMoves, ...serialMoves };

export const apply = applying(moves);
export const where = wherePossible(moves);
