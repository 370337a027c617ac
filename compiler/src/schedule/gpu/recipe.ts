/** Recipes of webgpu: the shared moves, and those to grids, workgroups and subgroups. */
import { applying, attempting, type Move, sharedMoves } from "../recipe.ts";
import { cooperate, grid, teams } from "./moves.ts";
import { scan } from "./scan-move.ts";

export const gpuMoves = { grid, cooperate, teams, scan } as const satisfies Record<string, Move>;

const moves = { ...sharedMoves, ...gpuMoves };
export const apply = applying(moves);
/** The same for steps that the statements may not allow. */
export const attempt = attempting(moves);
