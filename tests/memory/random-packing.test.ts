/**
 * Products of all sizes around the edges of tiles, steps of attention, and blocks of transformers with a symbolic batch and
 * length: they are right on one thread, two and four, change nothing outside of their bindings, and their kernels name no
 * place outside.
 */
import { dim, grad, input, makeValue, type Tensor, trace, type Value } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Program } from "../../compiler/src/program.ts";
import { Session } from "../nn/fixture.ts";
import { staysInside } from "../support/bounds.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { anyProduct, type Product, programOf } from "../support/products.ts";
import { evaluateProgram } from "../support/reference.ts";
import { type Dims, runProgram } from "../support/run.ts";
import { runs } from "../support/setup.ts";
import { wasmDevice } from "../support/wasm.ts";

const cpu = guardedCpuDevice();

type Feeds = ReadonlyMap<Tensor, Value>;

/** Throws where a result on wasm is off by more than f32 allows; the device throws where memory was changed that is nobody's. */
async function agrees(program: Program, feeds: Feeds, dims: Dims, want: readonly Value[]) {
  for (const threads of [1, 2, 4]) {
    const device = wasmDevice({ threads, relaxed: false });
    const got = await runProgram(program, feeds, dims, device, { target: "wasm" });
    for (const [i, v] of got.values.entries()) {
      const right = want[i]!.data;
      const scale = right.reduce((most, e) => Math.max(most, Math.abs(e)), 1);
      const off = v.data.findIndex((e, j) => !(Math.abs(e - right[j]!) <= 2e-5 * scale));
      assert.is(
        off,
        -1,
        `${threads} threads: element ${off} of ${i}: ${v.data[off]}, ${right[off]}`,
      );
    }
  }
}

async function checkProduct(product: Product): Promise<void> {
  const { program, feeds, dims, want } = programOf(product);
  const value: Value = { dtype: "f32", shape: [], data: want };
  await agrees(program, feeds, dims, [value]);
  await runProgram(program, feeds, dims, cpu, { target: "js" });
}

test("products around the edges of tiles", async () => {
  await fc.assert(fc.asyncProperty(anyProduct, checkProduct), { numRuns: runs(50) });
});

test("products around the edges of tiles name no place outside", () => {
  fc.assert(
    fc.property(anyProduct, (product) => {
      const { program } = programOf(product);
      for (const target of ["js", "wasm", "webgpu"] as const) staysInside(program, { target });
    }),
    { numRuns: runs(6) },
  );
});

const noise = (shape: readonly number[], seed: number): Value => {
  const count = shape.reduce((a, b) => a * b, 1);
  const data = Array.from({ length: count }, (_, i) =>
    Math.fround(Math.sin(12.9898 * (i + 1) + 78.233 * seed)),
  );
  return makeValue("f32", shape, data);
};

/** softmax(q·kᵀ)·v and its gradients; batch and lengths are symbols. */
function attention(heads: number, depth: number, width: number) {
  const [B, T, S] = [dim("B"), dim("T"), dim("S")];
  const q = input("q", "f32", [B, heads, T, depth]);
  const k = input("k", "f32", [B, heads, S, depth]);
  const v = input("v", "f32", [B, heads, S, width]);
  const y = q.matmul(k.swapAxes(-1, -2)).softmax().matmul(v);
  const values = [y, ...grad(y.mul(y).sum(), [q, k, v])];
  const outputs = values.map((value, i) => ({ name: `y${i}`, value }));
  const feeds = (b: number, t: number, s: number): Feeds =>
    new Map([
      [q, noise([b, heads, t, depth], 1)],
      [k, noise([b, heads, s, depth], 2)],
      [v, noise([b, heads, s, width], 3)],
    ]);
  return { program: { inputs: [q, k, v], outputs, updates: [] } as Program, feeds };
}

const length = fc.constantFrom(1, 3, 4, 5, 8, 12, 16, 20, 31, 32, 33);

test("steps of attention with symbolic lengths", async () => {
  const one = fc.record({
    heads: fc.constantFrom(1, 2),
    depth: fc.constantFrom(1, 4, 5, 8, 16),
    width: fc.constantFrom(1, 3, 8, 16),
    batch: fc.constantFrom(1, 2, 3),
    queries: length,
    keys: length,
  });
  await fc.assert(
    fc.asyncProperty(one, async ({ heads, depth, width, batch, queries, keys }) => {
      const { program, feeds } = attention(heads, depth, width);
      const [given, dims] = [feeds(batch, queries, keys), { B: batch, T: queries, S: keys }];
      await agrees(program, given, dims, evaluateProgram(program, given, dims));
    }),
    { numRuns: runs(10) },
  );
});

/** A block of a transformer: y = x + attention(norm(x)), y + mlp(norm(y)). */
class Block extends nn.Module {
  readonly norm1 = new nn.LayerNorm(8);
  readonly attention = new nn.MultiHeadAttention(8, 2);
  readonly norm2 = new nn.LayerNorm(8);
  readonly mlp = new nn.Sequential(new nn.Linear(8, 16), new nn.GELU(), new nn.Linear(16, 8));
  override forward(x: Tensor): Tensor {
    const y = x.add(this.attention.forward(this.norm1.forward(x), { causal: true }));
    return y.add(this.mlp.forward(this.norm2.forward(y)));
  }
}

/** The block on x[B, T, 8], and the gradients of its parameters. */
function blockStep() {
  const block = new Block();
  const x = input("x", "f32", [dim("B"), dim("T"), 8]);
  const { value, updates } = trace(() => {
    const y = block.forward(x);
    return [y, ...grad(y.mul(y).mean(), [...block.parameters()])];
  });
  const outputs = value.map((v, i) => ({ name: `y${i}`, value: v }));
  const program: Program = { inputs: [x], outputs, updates: [...updates] };
  const session = new Session();
  const feeds = (B: number, T: number): Feeds => {
    const all = new Map([[x, noise([B, T, 8], 4)]]);
    for (const p of block.state().values()) all.set(p, session.valueOf(p));
    return all;
  };
  return { program, feeds };
}

test("a block of a transformer whose batch and length are symbols", async () => {
  const { program, feeds } = blockStep();
  for (const [B, T] of [
    [1, 8],
    [2, 12],
    [3, 16],
    [2, 5],
  ] as const) {
    const given = feeds(B, T);
    await agrees(program, given, { B, T }, evaluateProgram(program, given, { B, T }));
  }
});

test("a block of a transformer names no place outside", () => {
  const { program } = blockStep();
  for (const target of ["js", "wasm"] as const) staysInside(program, { target }, { few: true });
});

test.run();
