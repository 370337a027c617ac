/**
 * Weights in 8 bits on wasm: read as they are stored and scaled while the product's operand is packed, one kernel for all,
 * within the ulps of the ops; every byte has the value that it stands for.
 */
import {
  convert,
  convolution,
  type Dtype,
  input,
  makeValue,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";
import { agreesOnWasm } from "../support/targets.ts";
import { variants, wasmDevice } from "../support/wasm.ts";

const low = { u8: 0, i8: -128 } as const;
const integers = Object.keys(low) as (keyof typeof low)[];

const program = (inputs: readonly Tensor[], value: Tensor): Program => ({
  inputs,
  outputs: [{ name: "y", value }],
  updates: [],
});

const sizeOf = (t: Tensor): number => t.shape.reduce<number>((n, d) => n * Number(d), 1);

/** Numbers without pattern: bytes over all of their range, floats within 2. */
function feed(t: Tensor): Value {
  const bytes = low[t.dtype as keyof typeof low];
  const numbers = Array.from({ length: sizeOf(t) }, (_, i) =>
    bytes === undefined ? 2 * Math.sin(12.9898 * (i + 1)) : bytes + ((i * 97) % 256),
  );
  return makeValue(t.dtype, t.shape.map(Number), numbers);
}

async function agreesInOneKernel(inputs: readonly Tensor[], y: Tensor): Promise<void> {
  const p = program(inputs, y);
  await agreesOnWasm(p, new Map(inputs.map((t) => [t, feed(t)])));
  assert.is(compileProgram(p, { target: "wasm" }).artifact.plan.steps.length, 1);
}

const f32 = (name: string, ...shape: number[]) => input(name, "f32", shape);

for (const dtype of integers) {
  test(`each of the 256 values of ${dtype} becomes its f32 and comes back`, async () => {
    const values = Array.from({ length: 256 }, (_, i) => low[dtype] + i);
    const [x, y] = [input("x", dtype, [256]), f32("y", 256)];
    const narrow = makeValue(dtype, [256], values);
    const wide = makeValue("f32", [256], values);
    for (const [from, to, value, want] of [
      [x, "f32", narrow, wide],
      [y, dtype, wide, narrow],
    ] as const satisfies readonly (readonly [Tensor, Dtype, Value, Value])[]) {
      const p = program([from], convert(from, to));
      for (const variant of variants) {
        const options = { target: "wasm" } as const;
        const { values: got } = await runProgram(
          p,
          new Map([[from, value]]),
          {},
          wasmDevice(variant),
          options,
        );
        assert.ok(sameValue(got[0]!, want), `${got[0]!.data}`);
      }
    }
  });

  // Shapes with and without a rest in each direction, and one with a single row.
  for (const [m, k, n] of [
    [8, 16, 8],
    [5, 19, 11],
    [1, 64, 33],
    [17, 3, 1],
  ] as const) {
    test(`${dtype} weights of [${k},${n}] with a scale a column are one kernel with the product`, () => {
      const [x, w, scale] = [f32("x", m, k), input("w", dtype, [k, n]), f32("scale", n)];
      return agreesInOneKernel([x, w, scale], x.matmul(w.convert("f32").mul(scale)));
    });

    test(`${dtype} weights of [${n},${k}] with zero points, bias and ReLU are one kernel`, () => {
      const [x, w] = [f32("x", m, k), input("w", dtype, [n, k])];
      const [scale, zero, bias] = [
        f32("scale", n, 1),
        input("zero", dtype, [n, 1]),
        f32("bias", n),
      ];
      const weights = w.convert("f32").sub(zero.convert("f32")).mul(scale);
      const y = x.matmul(weights.transpose()).add(bias).relu();
      return agreesInOneKernel([x, w, scale, zero, bias], y);
    });
  }

  test(`a convolution with ${dtype} weights is one kernel`, () => {
    const [x, w, scale] = [
      f32("x", 2, 3, 7, 6),
      input("w", dtype, [5, 3, 3, 3]),
      f32("s", 5, 1, 1, 1),
    ];
    const y = convolution(x, w.convert("f32").mul(scale), { padding: 1 });
    return agreesInOneKernel([x, w, scale], y);
  });
}

test.run();
