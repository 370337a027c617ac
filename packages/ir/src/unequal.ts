/** The error for two extents that have to be equal, which it carries: whoever can make them equal may try. */
import type { Dim } from "./dim.ts";
import { ShapeError } from "./errors.ts";

export const unequal = (message: string, a: Dim, b: Dim): ShapeError =>
  Object.assign(new ShapeError(message), { apart: [a, b] as const });
