/** Recipes of js: the shared moves, and those that stage operands and make register tiles. */
import { applying, type Move, sharedMoves } from "../recipe.ts";
import { registers } from "../registers.ts";
import { stage } from "../stage.ts";

export const serialMoves = { stage, registers } as const satisfies Record<string, Move>;

export const apply = applying({ ...sharedMoves, ...serialMoves });
