/** `compile(fn, { check })`: what is at fault is named, on every target, in loops and branches too, and nothing changes. */
import { openWebGpu } from "@kiln-ml/runtime";
import {
  CheckError,
  type CompileOptions,
  compile,
  cond,
  constant,
  GraphError,
  grad,
  type InputSpec,
  nn,
  oneHot,
  ones,
  optim,
  param,
  scan,
  type Tensor,
  useDevice,
  whileLoop,
  zeros,
} from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { gpuTest, heldGpu } from "../support/webgpu.ts";

class Net extends nn.Module {
  readonly embed = new nn.Embedding(5, 4);
  readonly body = new nn.Sequential(
    new nn.Linear(4, 4),
    new nn.Lambda((x) => x.sub(x).log()),
    new nn.Linear(4, 2),
  );
  override forward(x: Tensor): Tensor {
    return this.body.forward(this.embed.forward(x));
  }
}

const ids: InputSpec = { shape: ["N"], dtype: "i32" };
const divided = (x: Tensor): Tensor =>
  scan([ones([])], [x], ([c], [v]) => ({ carry: [c!.div(v!)], ys: [] })).carry[0]!;
const grown = (x: Tensor): Tensor =>
  whileLoop(
    [x.sum(), constant(0, "i32")],
    (_c, i) => i!.less(4),
    (c, i) => [c!.exp(), i!.add(1)],
  )[0]!;

interface Case {
  // biome-ignore lint/suspicious/noExplicitAny: functions of one and of two tensors.
  readonly fn: (...args: any[]) => unknown;
  readonly inputs: readonly InputSpec[];
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
  /** The message begins with it, up to the place. */
  readonly says: string;
  readonly within?: string;
}

const net = () => new Net();
const table = (i: Tensor) => zeros([5, 2]).take(i);

const cases: Readonly<Record<string, Case>> = {
  log: {
    fn: (x) => x.log().sum(),
    inputs: [["N"]],
    good: [[1, 2]],
    bad: [[1, 0]],
    says: "log makes ∞ or NaN of finite numbers: element [1] of [2] is −∞, of 0 (",
  },
  overflow: {
    fn: (x) => x.exp().sum(),
    inputs: [["N"]],
    good: [[1, 2]],
    bad: [[1, 200]],
    says: "exp makes ∞ or NaN of finite numbers: element [1] of [2] is ∞, of 200 (",
  },
  input: {
    fn: (x) => x.mul(2),
    inputs: [["N"]],
    good: [[1, -Infinity]],
    bad: [[1, Number.NaN]],
    says: "input arg0 holds NaN: element [1] of [2] is NaN",
  },
  gradient: {
    fn: (x) => grad(x.sqrt().sum(), [x])[0],
    inputs: [["N"]],
    good: [[1, 4]],
    bad: [[1, 0]],
    says: "div makes ∞ or NaN of finite numbers: element [1] of [2] is ∞, of 0.5 and 0",
  },
  "inside of a scan": {
    fn: divided,
    inputs: [["N"]],
    good: [[1, 2]],
    bad: [[1, 0]],
    says: "div makes",
  },
  "inside of a loop": {
    fn: grown,
    inputs: [["N"]],
    good: [[-30, 0]],
    bad: [[3, 3]],
    says: "exp makes",
  },
  "inside of a branch": {
    fn: (x) =>
      cond(
        x.sum().greater(0),
        () => [x.log()],
        () => [x],
      )[0],
    inputs: [["N"]],
    good: [[-1, 0]],
    bad: [[1, 0]],
    says: "log makes",
  },
  take: {
    fn: table,
    inputs: [ids],
    good: [new Int32Array([4, -5])],
    bad: [new Int32Array([1, 5])],
    says: "take: an index is outside axis 0 of [5,2]: element [1] of [2] is 5 (",
  },
  "take from the end": {
    fn: table,
    inputs: [ids],
    good: [new Int32Array([0])],
    bad: [new Int32Array([-6])],
    says: "take: an index is outside axis 0 of [5,2]: element [0] of [1] is −6 (",
  },
  scatter: {
    fn: (i) => zeros([3]).scatter(ones([1]), [i], [0]),
    inputs: [{ shape: [1], dtype: "i32" }],
    good: [new Int32Array([-3])],
    bad: [new Int32Array([3])],
    says: "scatter: an index is outside axis 0 of [3]: element [0] of [1] is 3 (",
  },
  oneHot: {
    fn: (i) => oneHot(i, 3),
    inputs: [ids],
    good: [new Int32Array([-1])],
    bad: [new Int32Array([3])],
    says: "oneHot: an index is none of 3 classes: element [0] of [1] is 3 (",
  },
  crossEntropy: {
    fn: (x, t) => nn.crossEntropy(x, t),
    inputs: [["N", 3], ids],
    good: [[[1, 2, 3]], new Int32Array([2])],
    bad: [[[1, 2, 3]], new Int32Array([7])],
    says: "crossEntropy: a target is none of 3 classes: element [0] of [1] is 7 (",
  },
};

async function message(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    return error.message;
  }
  return "nothing was thrown";
}

async function finds(c: Case, target: "js" | "wasm" | "webgpu"): Promise<void> {
  const options: CompileOptions = { target, inputs: c.inputs, check: ["finite", "indices"] };
  const f = compile(c.fn, options) as (...args: unknown[]) => Promise<unknown>;
  const found = await message(() => f(...c.bad));
  assert.ok(found.startsWith(`check: ${c.says}`), found);
  assert.is(await message(() => f(...c.good)), "nothing was thrown");
}

for (const [name, c] of Object.entries(cases))
  for (const target of ["js", "wasm"] as const)
    test(`${target}: ${name}: the fault is named, and what is right is not`, () =>
      finds(c, target));

gpuTest("webgpu: faults are named", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  useDevice(device);
  for (const name of ["log", "inside of a scan", "take", "crossEntropy"])
    await finds(cases[name]!, "webgpu");
  device.destroy();
});

test("the line and the path of the module are told", async () => {
  const finite = compile((x: Tensor) => net().forward(x), {
    target: "js",
    inputs: [ids],
    check: "finite",
  });
  assert.match(
    await message(() => finite(new Int32Array([1]))),
    /^check: log makes ∞ or NaN of finite numbers: element \[0,0\] of \[1,4\] is −∞, of 0 \(.*check\.test\.ts:\d+:\d+, in Net\.body\.1\)\n {2}parameters are as they were before the call$/,
  );
  const indices = compile((x: Tensor) => net().forward(x), {
    target: "js",
    inputs: [ids],
    check: "indices",
  });
  assert.match(await message(() => indices(new Int32Array([9]))), /in Net\.embed\)/);
});

test("a step with a fault leaves parameters and moments as they were", async () => {
  const w = param([1, 1], { name: "w" });
  const opt = new optim.Adam([w], { lr: 0.1 });
  const step = compile(
    (x: Tensor) => {
      const loss = w.mul(x).sqrt().sum();
      opt.step(loss);
      return loss;
    },
    { target: "js", check: "finite" },
  );
  await step([1, 4]);
  const before = [...(await w.data())];
  await message(() => step([-1, 4]));
  assert.equal([...(await w.data())], before);
  await step([1, 4]);
  assert.ok([...(await w.data())].every(Number.isFinite));
});

test("layers on ordinary numbers have no fault", async () => {
  const x = { data: Float32Array.from({ length: 32 }, (_, i) => (i % 5) - 2), shape: [2, 4, 4] };
  const layers: readonly ((x: Tensor) => Tensor)[] = [
    (t) =>
      new nn.MultiHeadAttention(4, 2).forward(new nn.LayerNorm(4).forward(t), { causal: true }),
    (t) => new nn.LSTM(4, 3).forward(t).y,
    (t) => new nn.BatchNorm1d(4).forward(t),
    (t) => new nn.MaxPool2d(2, { padding: 1 }).forward(t.reshape([1, 2, 4, 4])),
    (t) => t.softmax().add(t.logSoftmax()).add(t.gelu()).add(t.softplus()),
    (t) => t.logSumExp(-1).add(t.norm(-1)).add(t.std(-1)),
  ];
  for (const layer of layers) {
    const f = compile((t: Tensor) => grad(layer(t).square().mean(), [t])[0]!, {
      target: "js",
      inputs: [[2, 4, 4]],
      check: ["finite", "indices"],
    });
    assert.is(await message(() => f(x)), "nothing was thrown");
  }
});

test("another word than the two is refused", () =>
  assert.throws(
    () => compile((x: Tensor) => x, { check: "finit" as "finite" }),
    (e: Error) =>
      e instanceof GraphError &&
      e.message === 'compile: check is "finite" or "indices", got "finit"',
  ));

test.run();
