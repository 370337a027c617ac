/**
 * Maps so large that js runs four elements an iteration: the bits of the reference, with broadcasts and transposes, for a
 * symbolic number of rows, and where the result overwrites an operand.
 */

import { assign, declareParam, input, makeValue, type Tensor, trace } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { runProgram } from "../support/run.ts";

const numbers = (n: number, by: number) =>
  Array.from({ length: n }, (_, i) => Math.fround(Math.sin(by * (i + 1))));

async function check(program: Program, values: ReadonlyMap<Tensor, number[]>, dims = {}) {
  const rows = 65;
  const feeds = new Map(
    [...values].map(([t, data]) => {
      const shape = t.shape.map((d) => (typeof d === "number" ? d : rows));
      return [t, makeValue(t.dtype, shape, data)] as const;
    }),
  );
  const options = { target: "js", rounding: "each-op" } as const;
  const want = evaluateProgram(program, feeds, dims);
  const { values: got } = await runProgram(program, feeds, dims, guardedCpuDevice(), options);
  for (const [i, v] of got.entries()) assert.ok(sameValue(v, want[i]!), `result ${i}`);
  return compileProgram(program, options).artifact.kernels.map((k) => k.text);
}

test("large maps run four elements an iteration and have the bits of the reference", async () => {
  const [x, b, y] = [
    input("x", "f32", ["N", 64]),
    input("b", "f32", [64]),
    input("y", "f32", [72, 64]),
  ];
  const [z, t, s] = [x.mul(2).add(b).relu(), y.transpose().mul(y.sum()), y.greater(0.5)];
  const outputs = [z, t, s].map((value, i) => ({ name: `y${i}`, value }));
  const program: Program = { inputs: [x, b, y], outputs, updates: [] };
  const values = new Map([
    [x, numbers(65 * 64, 12.9898)],
    [b, numbers(64, 78.233)],
    [y, numbers(72 * 64, 1.7)],
  ]);
  const texts = await check(program, values, { N: 65 });
  assert.ok(texts.filter((text) => text.includes("+= 4)")).length >= 2, texts.join("\n"));
});

test("a large update overwrites its parameter four elements an iteration", async () => {
  const [w, g] = [declareParam("w", "f32", [4096], true), input("g", "f32", [4096])];
  const { updates } = trace(() => assign(w, w.sub(g.mul(w))));
  const program: Program = { inputs: [g], outputs: [], updates: [...updates] };
  const values = new Map([
    [w, numbers(4096, 3.1)],
    [g, numbers(4096, 0.7)],
  ]);
  const [text] = await check(program, values);
  assert.match(text!, /\+= 4\)/);
});

test.run();
