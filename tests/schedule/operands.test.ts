/** Operands of products on js are staged whatever dims are called, and the product is the same. */
import {
  concat,
  dim,
  evaluateDim,
  gather,
  input,
  makeValue,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { evaluateProgram, sameValue } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";

const device = guardedCpuDevice();
const options = { target: "js", rounding: "each-op" } as const;

const sample = (t: Tensor, dims: Dims): Value => {
  const shape = t.shape.map((d) => evaluateDim(d, dims));
  const size = shape.reduce((a, b) => a * b, 1);
  const data = Array.from({ length: size }, (_, i) => ((i * 7) % 11) - 4);
  return makeValue(t.dtype, shape, t.dtype === "f32" ? data.map((n) => Math.fround(n / 7)) : data);
};

/** The operands that each product stages, in the order of the products; their values are the reference's. */
async function stagedIn(inputs: readonly Tensor[], values: readonly Tensor[], dims: Dims = {}) {
  const outputs = values.map((value, i) => ({ name: `y${i}`, value }));
  const program: Program = { inputs: [...inputs], outputs, updates: [] };
  const feeds = new Map(inputs.map((t) => [t, sample(t, dims)]));
  const want = evaluateProgram(program, feeds, dims);
  const got = await runProgram(program, feeds, dims, device, options);
  got.values.forEach((v, i) => {
    assert.ok(sameValue(v, want[i]!), `result ${i}: ${v.data}, not ${want[i]!.data}`);
  });
  const staged: string[] = [];
  compileProgram(program, {
    ...options,
    observe(stage, { kernels }) {
      if (stage !== "lower") return;
      for (const { group, recipe } of kernels!)
        if (group.kind === "contraction")
          staged.push(
            [...recipe!.matchAll(/stage double (\w)|registers/g)].map(([s, n]) => n ?? s).join(" "),
          );
    },
  });
  return staged;
}

test("a dim may be called as a value or an accumulator of a product", async () => {
  for (const name of ["a", "b", "c", "c00", "packedA"]) {
    const [x, w] = [input("x", "f32", [dim(name), 6]), input("w", "f32", [6, dim(name)])];
    const values = [x.matmul(w), w.matmul(x)];
    assert.equal(await stagedIn([x, w], values, { [name]: 5 }), ["a b registers", "a b registers"]);
  }
});

test("rows that are gathered are staged with their indices", async () => {
  const [table, rows] = [input("table", "f32", [9, 6]), input("rows", "i32", ["n"])];
  const w = input("w", "f32", [6, 7]);
  const x = gather(table, [rows], [0]);
  const values = [x.matmul(w), x.matmul(x.transpose())];
  assert.equal(await stagedIn([table, rows, w], values, { n: 5 }), [
    "a b registers",
    "a b registers",
  ]);
});

test("an operand that lies in the buffer which the product writes is read where it is", async () => {
  const [x, w] = [input("x", "f32", [5, 6]), input("w", "f32", [6, 6])];
  const states = [x.matmul(w)];
  for (let i = 0; i < 2; i++) states.push(states[i]!.matmul(w).tanh());
  const all = concat(states, 0);
  assert.equal(await stagedIn([x, w], [all]), ["a b registers", "b", "b"]);
});

test.run();
