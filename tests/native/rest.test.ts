/**
 * What is left of a loop after its last whole vector: one vector of which some lanes are stored,
 * where nothing that it computes or reads in vain does harm; else element by element.
 */
import { input, type Tensor, type Value } from "@kiln-ml/ir";
import { openNativeDevice } from "@kiln-ml/runtime/native";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { machines } from "../support/native-machines.ts";
import { evaluateProgram } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";

type Dtype = "f32" | "i32" | "u32" | "f16" | "i8";

/** Rows that no flat loop can run over: parts of wider ones, and a row for all of them. */
function rows(dtype: Dtype, n: number, of: (x: Tensor, b: Tensor) => Tensor) {
  const x = input(`x${dtype}${n}`, dtype, [3, n + 5]);
  const b = input(`b${dtype}${n}`, dtype, [n]);
  const part = x.slice([0, 2], [3, n + 2]);
  return { x, b, value: of(part, b) };
}

const sum = (x: Tensor, b: Tensor): Tensor => x.mul(b).add(x);

function textOf(dtype: Dtype, n: number, of: (x: Tensor, b: Tensor) => Tensor): string {
  const { x, b, value } = rows(dtype, n, of);
  const program: Program = { inputs: [x, b], outputs: [{ name: "y", value }], updates: [] };
  const features = ["lanes-16"];
  return compileProgram(program, { target: "native", features }).artifact.kernels[0]!.text;
}

test("the rest of a row is one vector, of as many lanes as are left", () => {
  assert.match(textOf("f32", 24, sum), /store_some\(.*, 8L\);/);
  assert.match(textOf("i32", 7, sum), /store_some\(.*, 7L\);/);
  assert.not.match(textOf("f32", 32, sum), "store_some");
  assert.not.match(textOf("f32", 17, sum), "store_some");
});

test("what may trap, or has no masks, is left element by element", () => {
  assert.not.match(
    textOf("i32", 24, (x, b) => x.div(b)),
    "store_some",
  );
  assert.not.match(
    textOf("u32", 24, (x, b) => x.rem(b)),
    "store_some",
  );
  assert.not.match(textOf("f16", 24, sum), "store_some");
  assert.not.match(textOf("i8", 24, sum), "store_some");
});

for (const machine of machines)
  machine.test("rows of every length are right, and nothing behind them changes", async (c) => {
    const device = await openNativeDevice({ threads: 1, poison: true, compiler: c.command });
    const feeds = new Map<Tensor, Value>();
    const outputs: { name: string; value: Tensor }[] = [];
    for (const dtype of ["f32", "i32"] as const)
      for (let n = 1; n <= 35; n += dtype === "f32" ? 1 : 3) {
        const { x, b, value } = rows(dtype, n, sum);
        for (const t of [x, b]) {
          const shape = t.shape as number[];
          const size = shape.reduce((p, q) => p * q, 1);
          const data = Float64Array.from({ length: size }, (_, i) => ((i * 37) % 23) - 11);
          feeds.set(t, { dtype, shape, data });
        }
        outputs.push({ name: `${dtype}${n}`, value });
      }
    const program: Program = { inputs: [...feeds.keys()], outputs, updates: [] };
    const want = evaluateProgram(program, feeds);
    const options = { target: "native", features: [...device.features] } as const;
    const { values } = await runProgram(program, feeds, {}, device, options);
    values.forEach((v, i) => {
      assert.equal([...v.data], [...want[i]!.data], outputs[i]!.name);
    });
    device.destroy();
  });

test.run();
