/**
 * Formulas of several steps on f16 and bf16: each gives what it gives in f32, rounded once, on every target, fused and not. And under
 * mixed precision every public layer and every method of a tensor builds, with its gradients.
 */
import {
  concat,
  type Dtype,
  grad,
  input,
  isFloat,
  makeValue,
  roundTo,
  stack,
  Tensor,
  trace,
  type Value,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { createCpuDevice, type Device } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runProgram } from "../support/run.ts";
import { variants, wasmDevice } from "../support/wasm.ts";
import { layers, others } from "./every-layer.ts";

const halves = ["f16", "bf16"] as const;
const devices: readonly Device[] = [createCpuDevice({ poison: true }), wasmDevice(variants[0]!)];

type Formula = (x: Tensor) => Tensor;
const like = (x: Tensor, from = 0.5): Tensor => x.mul(0).add(from);

/** Formulas by name, and numbers on which a half's own digits or range would not do. */
const formulas: Readonly<Record<string, readonly [Formula, readonly number[]]>> = {
  mean: [(x) => x.mean(), new Array(4096).fill(30)],
  variance: [(x) => x.variance(), [300, -300, 290, -310]],
  std: [(x) => x.std(), [300, -300, 290, -310]],
  norm: [(x) => x.norm(), [300, 400, 0, 1]],
  "norm of order 1": [
    (x) => x.norm(undefined, { order: 1 }).mul(2 ** -10),
    new Array(512).fill(99),
  ],
  logSumExp: [(x) => x.logSumExp(), new Array(3000).fill(5)],
  softmax: [(x) => x.softmax(), [1, 2, 3, 4, 5, -9, 11]],
  logSoftmax: [(x) => x.logSoftmax(), [1, 2, 3, 4, 5, -9, 11]],
  normalize: [(x) => x.normalize(), [300, 400, -200, 10]],
  logAddExp: [(x) => x.logAddExp(1.5), [-8, 0, 3, 9]],
  lerp: [(x) => x.lerp(x.neg(), 0.3), [1.25, -7, 3, 600]],
  gelu: [(x) => x.gelu(), [-3, -1, 0.1, 2]],
  geluTanh: [(x) => x.geluTanh(), [-5, -3, 0.1, 2]],
  softplus: [(x) => x.softplus(), [-9, -4, 0.1, 6]],
  logSigmoid: [(x) => x.logSigmoid(), [9, 4, 0.1, -6]],
  mish: [(x) => x.mish(), [-9, -4, 0.1, 6]],
  silu: [(x) => x.silu(), [-9, -4, 0.1, 6]],
  elu: [(x) => x.elu(0.7), [-3, -0.01, 2]],
  celu: [(x) => x.celu(0.7), [-3, -0.01, 2]],
  selu: [(x) => x.selu(), [-3, -0.01, 2]],
  softsign: [(x) => x.softsign(), [-700, 0.01, 5]],
  hardSigmoid: [(x) => x.hardSigmoid(), [-2.99, 0.3, 1.7]],
  hardSwish: [(x) => x.hardSwish(), [-2.99, 0.3, 1.7]],
  leakyRelu: [(x) => x.leakyRelu(), [-7.3, -300, 2]],
  avgPool: [
    (x) => x.reshape([1, 1, 2, -1]).avgPool({ size: 2 }),
    [60000, 60000, 9, 60000, 60000, 7],
  ],
  layerNorm: [
    (x) => new nn.LayerNorm(768, { affine: false }).forward(x),
    Array.from({ length: 768 }, (_, i) => (i % 2 ? 10 : -10)),
  ],
  rmsNorm: [
    (x) => new nn.RmsNorm(256).forward(x).convert(x.dtype),
    Array.from({ length: 256 }, (_, i) => 300 + i),
  ],
  mse: [(x) => nn.mse(x, like(x, 0)), new Array(300).fill(200)],
  huber: [(x) => nn.huber(x, like(x, 0), { delta: 0.3 }), new Array(300).fill(90)],
  bceWithLogits: [(x) => nn.bceWithLogits(x, like(x)), [-9, 8, 0.3]],
  crossEntropy: [
    (x) => nn.crossEntropy(x.reshape([1, -1]), input("t", "i32", [1]).mul(0)),
    [8, 2, -4],
  ],
};

/** The results for numbers in a dtype. */
async function resultOf(
  f: Formula,
  numbers: readonly number[],
  dtype: Dtype,
  on: Device,
  fusion: boolean,
): Promise<Value> {
  const x = input("x", dtype, [numbers.length]);
  const { value: y } = trace(() => f(x));
  const feeds = new Map<Tensor, Value>();
  const inputs = [x];
  feeds.set(x, makeValue(dtype, [numbers.length], numbers));
  for (const t of inputsOf(y)) {
    if (t === x) continue;
    inputs.push(t);
    feeds.set(t, makeValue(t.dtype, t.shape as number[], [0]));
  }
  const params = parametersOf(y);
  for (const p of params)
    feeds.set(p, makeValue(p.dtype, p.shape as number[], new Array(Number(p.shape[0])).fill(1)));
  const program = { inputs, outputs: [{ name: "y", value: y }], updates: [] };
  const { values } = await runProgram(program, feeds, {}, on, { target: on.target, fusion });
  return values[0]!;
}

function leavesOf(y: Tensor, op: string): Tensor[] {
  const seen = new Set<Tensor>();
  const walk = (t: Tensor): void => {
    if (seen.has(t)) return;
    seen.add(t);
    t.operands.forEach(walk);
  };
  walk(y);
  return [...seen].filter((t) => t.op === op);
}
const inputsOf = (y: Tensor): Tensor[] => leavesOf(y, "input");
const parametersOf = (y: Tensor): Tensor[] => leavesOf(y, "param");

for (const dtype of halves)
  for (const [name, [f, numbers]] of Object.entries(formulas))
    test(`${dtype}: ${name} is f32's, rounded once`, async () => {
      const held = numbers.map((n) => roundTo(dtype, n));
      for (const device of devices)
        for (const fusion of [true, false]) {
          const own = await resultOf(f, held, dtype, device, fusion);
          const wide = await resultOf(f, held, "f32", device, fusion);
          assert.is(own.dtype, dtype, name);
          const unit = dtype === "f16" ? 2 ** -10 : 2 ** -7;
          own.data.forEach((got, k) => {
            const want = roundTo(dtype, wide.data[k]!);
            // Sums in another order may lie on the other side of a tie.
            const near = Object.is(got, want) || Math.abs(got - want) <= unit * Math.abs(want);
            assert.ok(
              near,
              `${device.target}, fusion ${fusion}: ${got}, want ${want} of ${wide.data[k]}`,
            );
          });
        }
    });

test("every public layer is tried under mixed precision", () => {
  const isClass = (v: unknown): boolean =>
    typeof v === "function" && /^class/.test(Function.prototype.toString.call(v));
  const found = Object.entries(nn).filter(([, v]) => isClass(v));
  assert.equal(found.map(([name]) => name).sort(), [...Object.keys(layers), ...others].sort());
});

/**
 * Throws unless the gradients of Σ y by `xs` are built, each in its own dtype, in the scope and out
 * of it.
 */
function checkGradients(half: "f16" | "bf16", make: () => Tensor, xs: readonly Tensor[]): void {
  const loss = nn.autocast(half, () => make().sum());
  const reached = xs.filter((x) => leavesOf(loss, x.op).includes(x));
  for (const grads of [grad(loss, reached), nn.autocast(half, () => grad(loss, reached))])
    grads.forEach((g, i) => {
      assert.is(g.dtype, reached[i]!.dtype);
    });
}

for (const half of halves)
  for (const [name, [make, shape, kind = "f32"]] of Object.entries(layers))
    test(`${half}: ${name} and its gradients build under mixed precision, of f32 and of halves`, () => {
      for (const dtype of kind === "i32" ? (["i32"] as const) : (["f32", half] as const)) {
        const [layer, x] = [make(), input("x", dtype, shape)];
        trace(() => {
          const of = (): Tensor => {
            const forward = layer.forward.bind(layer) as (
              x: Tensor,
            ) => Tensor | { readonly y: Tensor };
            const y = forward(x);
            return y instanceof Tensor ? y : y.y;
          };
          checkGradients(half, of, [...(isFloat(dtype) ? [x] : []), ...layer.parameters()]);
        });
      }
    });

const index = input("i", "i32", [4]);
const other = input("other", "f32", [4, 4]);
/** What methods take besides a float [4, 4]; those that are not here take nothing more. */
const rest: Readonly<Record<string, readonly unknown[]>> = {
  add: [2],
  after: [other],
  atan2: [2],
  div: [other],
  maximum: [1],
  minimum: [1],
  mul: [2],
  pow: [2],
  rem: [2],
  sub: [2],
  equal: [1],
  greater: [1],
  greaterEqual: [1],
  less: [1],
  lessEqual: [1],
  notEqual: [1],
  bitcast: ["bf16"],
  convert: ["f32"],
  broadcastInDim: [
    [2, 4, 4],
    [1, 2],
  ],
  expandDims: [0],
  foldWindows: [{ size: [2], stride: [2], extent: [8] }],
  pad: [0, [1, 1], [1, 1]],
  reshape: [[16]],
  reverse: [[0]],
  slice: [
    [0, 0],
    [2, 2],
  ],
  sliceAxis: [0, 0, 2],
  split: [2],
  squeeze: [[]],
  swapAxes: [0, 1],
  transpose: [[1, 0]],
  windows: [{ size: [2] }],
  cummax: [0],
  cummin: [0],
  cumprod: [0],
  cumsum: [0],
  dotGeneral: [other, { lhsContract: [1], rhsContract: [0] }],
  matmul: [other],
  clamp: [-1, 1],
  lerp: [other, 0.3],
  logAddExp: [other],
  dot: [input("v", "f32", [4])],
  outer: [input("u", "f32", [4])],
  gather: [[index], [0]],
  scatter: [other, [index], [0], "add"],
  take: [index],
  takeAlongAxis: [index.reshape([4, 1]), 1],
  avgPool: [{ size: 2 }],
  maxPool: [{ size: 2 }],
  convolution: [input("k", "f32", [2, 4, 2])],
  broadcastTo: [[2, 4, 4]],
  argSort: [],
  topK: [2],
  fullLike: [3],
};
/** The shape where it is not [4, 4]. */
const shapes: Readonly<Record<string, readonly number[]>> = {
  dot: [4],
  outer: [4],
  avgPool: [1, 4, 8],
  maxPool: [1, 4, 8],
  convolution: [1, 4, 8],
  foldWindows: [4, 2],
};
/** Of integers, of bool, or no ops. */
const excluded = new Set(
  "constructor site rank toString bitwiseNot not and or xor shiftLeft shiftRight select where oneHot all any at data item toList dispose".split(
    " ",
  ),
);

const methods = Object.entries(Object.getOwnPropertyDescriptors(Tensor.prototype))
  .filter(([name, { value }]) => typeof value === "function" && !excluded.has(name))
  .map(([name]) => name);
/** Those of which no gradient flows. */
const still = new Set(["bitcast", "stopGradient", "zerosLike", "onesLike", "fullLike"]);

for (const half of halves)
  test(`${half}: every method and its gradient build under mixed precision`, () => {
    for (const name of methods) {
      const x = input("x", half, shapes[name] ?? [4, 4]);
      const call = (): Tensor => {
        const method = (x as unknown as Record<string, (...args: unknown[]) => unknown>)[name]!;
        const y = method.apply(x, [...(rest[name] ?? [])]);
        return (
          Array.isArray(y) ? y[0] : y instanceof Tensor ? y : (y as { values: Tensor }).values
        ) as Tensor;
      };
      try {
        const y = nn.autocast(half, call);
        if (isFloat(y.dtype) && !still.has(name)) checkGradients(half, call, [x]);
      } catch (error) {
        assert.unreachable(`${name}: ${String(error)}`);
      }
    }
  });

test("tensors of mixed precision are put together in the dtype that they meet in", () => {
  const [h, b, f] = [input("h", "f16", [2]), input("b", "bf16", [2]), input("f", "f32", [2])];
  assert.is(concat([h, f]).dtype, "f32");
  assert.is(stack([h, b]).dtype, "f32");
  assert.is(h.scatter(f, [input("i", "i32", [2])], [0], "set").dtype, "f32");
});

test("updates of a scatter of halves are added up in f32", async () => {
  const f: Formula = (x) => x.sliceAxis(0, 0, 1).scatter(x, [x.mul(0).convert("i32")], [0]);
  for (const device of devices) {
    const { data } = await resultOf(f, new Array(600).fill(1), "bf16", device, true);
    assert.equal([...data], [roundTo("bf16", 601)], device.target);
  }
});

test("the second gradient of a standard deviation of halves is a number on every target", async () => {
  const f: Formula = (x) => {
    const [g] = grad(x.std(), [x]);
    return grad(g!.mul(g!).sum(), [x])[0]!;
  };
  for (const device of devices)
    for (const fusion of [true, false]) {
      const { data } = await resultOf(f, [1, 2, 3, 4.5], "f16", device, fusion);
      assert.ok(data.every(Number.isFinite), `${device.target}: ${data}`);
    }
});

test("a mean of more halves than f16 counts, and pools over whole images", async () => {
  for (const device of devices) {
    const all = new Array(65536).fill(0.5);
    assert.equal([...(await resultOf((x) => x.mean(), all, "f16", device, true)).data], [0.5]);
    const pool: Formula = (x) =>
      new nn.AdaptiveAvgPool2d(1).forward(x.reshape([1, 1, 256, 256])).reshape([1]);
    assert.equal([...(await resultOf(pool, all, "f16", device, true)).data], [0.5]);
  }
});

test.run();
