import type { Tensor } from "../../node.ts";
import { select } from "./compare.ts";

/** x where the condition holds, 0 elsewhere, in the dtype of x: a number would make i32 of bool. */
export const kept = (condition: Tensor, x: Tensor): Tensor =>
  select(condition, x, x.dtype === "bool" ? false : 0);
