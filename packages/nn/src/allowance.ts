/**
 * How much memory modules that are being made may take. There is no bound but while a network is
 * made of a config, which may come from anywhere.
 */

/** What a module itself counts as, in elements. */
const moduleElements = 2 ** 14;

let left = Number.POSITIVE_INFINITY;
let refuse = (): void => {};

function spend(elements: number): void {
  left -= elements;
  // A product that is no number is for the checks of whoever asks.
  if (left < 0) refuse();
}

export const spendModule = (): void => spend(moduleElements);

export const spendElements = (shape: readonly number[]): void =>
  spend(shape.reduce((a, b) => a * b, 1));

/** Runs `make`, in which `refused` is called, and throws, where more than `elements` are taken. */
export function withAllowance<T>(elements: number, refused: () => never, make: () => T): T {
  const before = [left, refuse] as const;
  left = elements;
  refuse = refused;
  try {
    return make();
  } finally {
    [left, refuse] = before;
  }
}
