/** Recipes of wasm: the shared moves, and those to streams of memory and blocks of lanes. */
import { applying, type Move, sharedMoves } from "../recipe.ts";
import { prefetchAhead } from "./prefetch.ts";
import { blockSums } from "./sums.ts";

export const simdMoves = {
  prefetch: prefetchAhead,
  blockSums,
} as const satisfies Record<string, Move>;

export const apply = applying({ ...sharedMoves, ...simdMoves });
