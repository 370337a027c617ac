/** Trapezoids, the Bessel function of order 0, correlations, modes and the quiet softmax against plain loops. */
import * as ir from "@kiln-ml/ir";
import { test } from "uvu";
import { agrees, at, build, type Check, nd, sample } from "./check.ts";

const cases: Record<string, Check> = {
  trapezoid: {
    of: (y) => ir.trapezoid(y, { dx: 0.5 }),
    oracle: (y) =>
      build([2], (i) => [0, 1, 2].reduce((s, k) => s + (at(y, i!, k) + at(y, i!, k + 1)) / 4, 0)),
    inputs: [sample([2, 4])],
    symbols: [["N", "M"]],
    gradients: [0],
  },
  "trapezoid over places": {
    of: (y, x) => ir.trapezoid(y!, { x: x!, axis: 0 }),
    oracle: (y, x) =>
      build([2], (j) =>
        [0, 1, 2].reduce(
          (s, k) => s + ((at(y!, k, j!) + at(y!, k + 1, j!)) / 2) * (at(x!, k + 1) - at(x!, k)),
          0,
        ),
      ),
    inputs: [sample([4, 2]), sample([4], 2)],
    symbols: [["N", "M"], ["N"]],
    gradients: [0, 1],
  },
  i0: {
    of: (x) => ir.i0(x),
    // Σ (x²/4)ᵏ/(k!)².
    oracle: (x) =>
      build([5], (i) => {
        let [term, sum] = [1, 1];
        for (let k = 1; k < 80; k++) sum += term *= at(x, i!) ** 2 / 4 / (k * k);
        return sum;
      }),
    inputs: [nd([5], [0, 1, -3.5, 12, 25])],
    symbols: [["N"]],
    tolerance: 3,
  },
  "the slope of i0": {
    of: (x) => ir.i0(x),
    oracle: (x) =>
      build([3], (i) => {
        let [term, sum] = [1, 1];
        for (let k = 1; k < 60; k++) sum += term *= at(x, i!) ** 2 / 4 / (k * k);
        return sum;
      }),
    inputs: [nd([3], [0.5, -1, 2])],
    gradients: [0],
  },
  corrcoef: {
    of: (x) => ir.corrcoef(x),
    oracle: (x) => {
      const row = (i: number) => [0, 1, 2, 3].map((k) => at(x, i, k));
      const centred = (i: number) => row(i).map((v) => v - row(i).reduce((a, b) => a + b) / 4);
      const dot = (i: number, j: number) =>
        centred(i).reduce((s, v, k) => s + v * centred(j)[k]!, 0);
      return build([3, 3], (i, j) => dot(i!, j!) / Math.sqrt(dot(i!, i!) * dot(j!, j!)));
    },
    inputs: [sample([3, 4])],
    symbols: [["V", "N"]],
    gradients: [0],
    tolerance: 5,
  },
  quietSoftmax: {
    of: (x) => ir.quietSoftmax(x),
    oracle: (x) =>
      build(
        [2, 3],
        (i, j) =>
          Math.exp(at(x, i!, j!)) / (1 + [0, 1, 2].reduce((s, k) => s + Math.exp(at(x, i!, k)), 0)),
      ),
    inputs: [sample([2, 3])],
    symbols: [["N", "M"]],
    gradients: [0],
  },
  "quietSoftmax of great and small scores": {
    of: (x) => ir.quietSoftmax(x),
    oracle: () => nd([2, 2], [1, 0, 0, 0]),
    inputs: [nd([2, 2], [300, 100, -300, -400])],
  },
};
const modes: readonly (readonly number[])[] = [
  [3, 1, 3, 2],
  [2, 2, 1, 1],
  [5, 4, 3, 2],
  [7, 7, 7, 7],
];
cases.mode = {
  of: (x) => ir.mode(x),
  oracle: () => nd([4], [3, 1, 2, 7]),
  inputs: [nd([4, 4], modes.flat())],
  symbols: [["N", "M"]],
};
cases["mode along the first axis"] = {
  of: (x) => ir.mode(x, 0),
  oracle: () => nd([2], [1, 5]),
  inputs: [nd([3, 2], [1, 5, 1, 6, 2, 5])],
};

for (const [name, check] of Object.entries(cases)) test(name, () => agrees(name, check));

test.run();
