/** The moves of every target, for laws that hold for all of them. */
import { gpuMoves } from "../../compiler/src/schedule/gpu/recipe.ts";
import { sharedMoves } from "../../compiler/src/schedule/recipe.ts";
import { serialMoves } from "../../compiler/src/schedule/serial/recipe.ts";
import { simdMoves } from "../../compiler/src/schedule/simd/recipe.ts";

export const moves = { ...sharedMoves, ...serialMoves, ...simdMoves, ...gpuMoves };
