/**
 * `checkpoint` computes its body again, at less memory and to the same bits; `customVjp` takes the
 * rule of the user's in place of its own, in both directions and to the second order.
 */
import {
  checkpoint,
  customVjp,
  DtypeError,
  evaluate,
  GraphError,
  grad,
  input,
  jvp,
  makeValue,
  param,
  parseGraph,
  printGraph,
  scan,
  type Tensor,
  tensor,
  verifyGraph,
} from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { guardedCpuDevice } from "../support/guarded-cpu.ts";
import { runProgram } from "../support/run.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";

const width = 4;

/** Blocks that each keep a wide value for their gradient. */
function network(wrap: (f: (x: Tensor) => Tensor) => (x: Tensor) => Tensor, depth = 5): Program {
  const x = input("x", "f32", [16, width]);
  const ws = Array.from({ length: depth }, (_, i) => input(`w${i}`, "f32", [width, 8 * width]));
  const vs = Array.from({ length: depth }, (_, i) => input(`v${i}`, "f32", [8 * width, width]));
  let h = x;
  for (const [i, w] of ws.entries()) h = wrap((a) => a.add(a.matmul(w).tanh().matmul(vs[i]!)))(h);
  const grads = grad(h.mul(h).mean(), [...ws, ...vs]);
  const outputs = grads.map((value, i) => ({ name: `g${i}`, value }));
  return { inputs: [x, ...ws, ...vs], outputs, updates: [] };
}

const feedsOf = (program: Program) =>
  new Map(
    program.inputs.map((t, k) => {
      const shape = t.shape as number[];
      const size = shape.reduce((a, b) => a * b, 1);
      const numbers = Array.from({ length: size }, (_, i) => Math.sin(i * 1.7 + k) / 4);
      return [t, makeValue("f32", shape, numbers)] as const;
    }),
  );

const plain = network((f) => f);
const again = network(checkpoint);

for (const target of ["js", "wasm", "webgpu"] as const)
  test(`${target}: what is computed again is not kept: a block more adds half of the slots, or less`, () => {
    const bytesOf = (program: Program): number => {
      const { artifact } = compileProgram(program, { target });
      return artifact.plan.slots.reduce((sum, s) => sum + Number(s.sizes[0]), 0);
    };
    const wraps = [(f: (x: Tensor) => Tensor) => f, checkpoint];
    const [kept, less] = wraps.map((wrap) => [5, 6].map((n) => bytesOf(network(wrap, n))));
    const added = (bytes: readonly number[]): number => bytes[1]! - bytes[0]!;
    assert.ok(less![0]! < kept![0]!, `${less} bytes with checkpoints, ${kept} without`);
    assert.ok(added(less!) <= added(kept!) / 2, `${less} bytes with checkpoints, ${kept} without`);
  });

test("js: gradients through a checkpoint have the bits of those without", async () => {
  const cpu = guardedCpuDevice();
  const options = { target: "js", rounding: "each-op" } as const;
  const [kept, less] = await Promise.all(
    [plain, again].map((p) => runProgram(p, feedsOf(p), {}, cpu, options)),
  );
  for (const [i, v] of less!.values.entries())
    assert.equal([...v.data], [...kept!.values[i]!.data]);
});

for (const variant of variants)
  test(`wasm, ${nameOfVariant(variant)}: gradients through a checkpoint are near those of js`, async () => {
    const js = await runProgram(again, feedsOf(again), {}, guardedCpuDevice(), { target: "js" });
    const options = { target: "wasm" } as const;
    const wasm = await runProgram(again, feedsOf(again), {}, wasmDevice(variant), options);
    for (const [i, v] of wasm.values.entries())
      for (const [k, x] of v.data.entries())
        assert.ok(Math.abs(x - js.values[i]!.data[k]!) < 1e-6, `gradient ${i}, element ${k}`);
  });

test("a checkpoint may stand in a loop, in a checkpoint, and be of no elements", () => {
  const inner = checkpoint((v: Tensor) => v.sin().mul(v));
  const f = checkpoint((v: Tensor) => inner(v).add(1).log());
  const x = input("x", "f64", ["N>=0"]);
  const y = scan([x], [], ([c]) => ({ carry: [f(c!)], ys: [] }), { length: 2 }).carry[0]!;
  const g = (v: Tensor): Tensor => v.sin().mul(v).add(1).log();
  const [got, want] = [y, g(g(x))].map((t) => grad(t.sum(), [x])[0]!);
  for (const data of [[0.5, 1.25], []]) {
    const inputs = new Map([[x, makeValue("f64", [data.length], data)]]);
    const [a, b] = evaluate([got!, want!], { inputs });
    for (const [i, v] of a!.data.entries()) assert.ok(Math.abs(v - b!.data[i]!) < 1e-12);
  }
});

test("a checkpoint of parameters alone, and of what it reads from outside, has all gradients", () => {
  const w = param([1, 2, 3], { name: "w", dtype: "f64" });
  const x = tensor([0.5, 1, 2], { dtype: "f64" });
  const y = checkpoint((v: Tensor) => v.mul(w).exp())(w).add(checkpoint(() => x.mul(w))());
  const [g] = evaluate(grad(y.sum(), [w]));
  for (const [i, v] of g!.data.entries()) {
    const n = i + 1;
    assert.ok(Math.abs(v - (2 * n * Math.exp(n * n) + [0.5, 1, 2][i]!)) < 1e-9 * Math.exp(n * n));
  }
});

test("calls with a gradient of their own are printed and read back", () => {
  const x = input("x", "f32", [2]);
  const y = customVjp(
    (v: Tensor) => checkpoint((a: Tensor) => a.sin())(v),
    ([g]) => [g!.mul(2)],
  )(x);
  const graph = { params: [x], results: [y] };
  verifyGraph(graph);
  const text = printGraph(graph);
  assert.match(text, /gradient="custom"/);
  assert.match(text, /gradient="recompute"/);
  assert.is(printGraph(parseGraph(text).graph), text);
  assert.throws(
    () => parseGraph(text.replace('gradient="custom"', 'gradient="recompute"')),
    /verify: call has 2 regions and the gradient recompute/,
  );
});

/** x, whose gradient is cut off at ±1. */
const clip = customVjp(
  (v: Tensor) => v.mul(1),
  ([g]) => [g!.minimum(1).maximum(-1)],
);

test("the rule of the user's is the gradient, and gradients of it go through the rule", () => {
  const x = tensor([1, -2, 0.25], { dtype: "f64" });
  const [g] = grad(clip(x).mul(clip(x)).sum(), [x]);
  assert.equal([...evaluate([g!])[0]!.data], [1, -1, 0.5]);
  const twice = customVjp(
    (v: Tensor) => v.mul(v),
    ([h], _y, v) => [h!.mul(v!).mul(5)],
  );
  const [first] = grad(twice(x).sum(), [x]);
  const [second] = grad(first!.sum(), [x]);
  assert.equal(evaluate([first!, second!]).map((v) => [...v.data]), [[5, -10, 1.25], [5, 5, 5]]); // biome-ignore format: by order
});

test("jvp transposes the rule", () => {
  const f = customVjp(
    (a: Tensor, b: Tensor) => [a.mul(b), a.add(b)],
    ([g, h], _ys, a, b) => [g!.mul(b!).mul(3).add(h!), g!.mul(a!).mul(3)],
  );
  const [a, b] = [tensor([2, 3], { dtype: "f64" }), tensor([5, 7], { dtype: "f64" })];
  const { tangent } = jvp(f, [a, b], [a.onesLike(), a.onesLike().mul(10)]);
  assert.equal(
    evaluate(tangent as readonly Tensor[]).map((v) => [...v.data]),
    [[3 * (5 + 20), 3 * (7 + 30)], [1, 1]], // biome-ignore format: by result
  );
});

const refuses = (call: () => unknown, type: new (text: string) => Error, text: string): void => {
  assert.throws(call, (e: Error) => e instanceof type && e.message === text);
};

test("customVjp says what is wrong with a rule", () => {
  const [x, w] = [input("x", "f32", [2]), input("w", "f32", [2])];
  refuses(
    () =>
      customVjp(
        (v: Tensor) => v.exp(),
        () => [],
      )(x),
    GraphError,
    "customVjp: the rule must give a list of 1 cotangents, got 0\n  give one for each argument, undefined for none",
  );
  refuses(
    () =>
      customVjp(
        (v: Tensor) => v.argMax(),
        ([g]) => [g],
      )(x),
    DtypeError,
    "customVjp: a result is i32, which has no cotangent\n  return it from a function of its own",
  );
  refuses(
    () =>
      grad(
        customVjp(
          (v: Tensor) => v.mul(w),
          ([g]) => [g],
        )(x).sum(),
        [x, w],
      ),
    GraphError,
    "customVjp: the function reads w from outside, toward which its rule gives no gradient\n  make it an argument of the function, or read it through stopGradient",
  );
});

test.run();
