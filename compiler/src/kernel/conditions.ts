/** Conditions on index expressions, and the statements that run where they hold. */
import { type Condition, type Dim, isNonNegative, negDim, subDim } from "@kiln-ml/ir";
import type { Stmt } from "./kernel.ts";

export const isAtLeast0 = (value: Dim): Condition => ({ value, test: "nonnegative" });

/** value < end. */
export const isBelow = (value: Dim, end: Dim): Condition =>
  isAtLeast0(subDim(subDim(end, 1), value));

/** That an index, which is not negative, is 0. */
export const isFirst = (index: Dim): Condition => isAtLeast0(negDim(index));

/** The statements where all of some conditions hold. */
export const onlyIf = (when: readonly Condition[], then: readonly Stmt[]): Stmt[] =>
  when.length === 0 ? [...then] : [{ kind: "if", when, then }];

/** `then` where the value is not negative, else `otherwise`. */
export function either(value: Dim, then: readonly Stmt[], otherwise: readonly Stmt[]): Stmt[] {
  const negative = subDim(-1, value);
  if (isNonNegative(value)) return [...then];
  if (isNonNegative(negative)) return [...otherwise];
  return [...onlyIf([isAtLeast0(value)], then), ...onlyIf([isAtLeast0(negative)], otherwise)];
}
