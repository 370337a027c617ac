/** Variances in parts: as near as the plain form where the mean is large beside the deviations. */
import { evaluate, input, makeValue, type Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { splitVariance } from "../../compiler/src/passes/split-variance.ts";
import { type Program, sameProgram } from "../../compiler/src/program.ts";

const [rows, columns] = [1048576, 2];

function variances(mean: number): { parts: number[]; wanted: number[] } {
  const x = input("x", "f32", [rows, columns]);
  const d = x.sub(x.sum(0).div(rows).broadcastInDim([rows, columns], [1]));
  const value = d.mul(d).sum(0).div(rows);
  const plain: Program = { inputs: [x], outputs: [{ name: "y", value }], updates: [] };
  const split = splitVariance.run(plain);
  assert.not(sameProgram(split, plain), "it was not split");
  let state = 7;
  const data = Float32Array.from({ length: rows * columns }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return mean + state / 2 ** 32;
  });
  const wanted = Array.from({ length: columns }, (_, c) => {
    const own = data.filter((_, i) => i % columns === c);
    const middle = own.reduce((a, b) => a + b, 0) / rows;
    return own.reduce((a, b) => a + (b - middle) ** 2, 0) / rows;
  });
  const inputs = new Map<Tensor, ReturnType<typeof makeValue>>([
    [x, makeValue("f32", [rows, columns], data)],
  ]);
  const [y] = evaluate([split.outputs[0]!.value], { inputs });
  return { parts: [...y!.data], wanted };
}

for (const mean of [0, 1e3, 1e6])
  test(`a mean of ${mean} leaves the variance of a unit as it is`, () => {
    const { parts, wanted } = variances(mean);
    for (const [i, v] of wanted.entries())
      assert.ok(Math.abs(parts[i]! - v) < 3e-4 * v, `column ${i}: ${parts[i]}, expected ${v}`);
  });

test.run();
