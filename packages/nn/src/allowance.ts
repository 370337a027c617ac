/**
 * How much memory modules that are being made may take. There is no bound but while a network is
 * made of a config, which may come from anywhere.
 */
import { GraphError } from "@kiln-ml/ir";

/** What a module itself counts as, in elements. */
const moduleElements = 2 ** 14;

let left = Number.POSITIVE_INFINITY;
let all = left;

function spend(elements: number): void {
  if (left === Number.POSITIVE_INFINITY) return;
  left -= elements;
  // A product that is no number is for the checks of whoever asks.
  if (left < 0)
    throw new GraphError(
      `fromConfig: the network takes more than ${all.toLocaleString("en-US")} elements of parameters\n  if it may, allow more: { maxElements }`,
    );
}

export const spendModule = (): void => spend(moduleElements);

export const spendElements = (shape: readonly number[]): void =>
  spend(shape.reduce((a, b) => a * b, 1));

/** Runs `make`, which throws GraphError where it takes more than `elements`. */
export function withAllowance<T>(elements: number, make: () => T): T {
  const before = [left, all] as const;
  left = all = elements;
  try {
    return make();
  } finally {
    [left, all] = before;
  }
}
