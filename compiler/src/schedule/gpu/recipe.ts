/** Recipes of webgpu: the shared moves, and those to grids, workgroups and subgroups. */
import { applying, type Move, sharedMoves } from "../recipe.ts";
import { cooperate, grid, teams } from "./moves.ts";

export const gpuMoves = { grid, cooperate, teams } as const satisfies Record<string, Move>;

export const apply = applying({ ...sharedMoves, ...gpuMoves });
