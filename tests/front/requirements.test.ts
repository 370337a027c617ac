/**
 * What is refused where an extent is a number is refused where it is a symbol, by the run, before anything has changed: every op
 * and layer that asks something of its extents, on every target.
 */
import { type Device, openWebGpu } from "@kiln-ml/runtime";
import {
  compile,
  cond,
  convolution,
  foldWindows,
  grad,
  type InputSpec,
  iota,
  maxPool,
  nn,
  ones,
  pad,
  random,
  ShapeError,
  sliceAxis,
  split,
  subDim,
  type Tensor,
  topK,
  useDevice,
  windows,
  zeros,
} from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { gpuTest, heldGpu } from "../support/webgpu.ts";

type Fn = (x: Tensor) => Tensor;

interface Case {
  readonly build: (N: Tensor) => Tensor;
  /** With a name in the place of each extent that may be a symbol. */
  readonly spec: readonly (number | string)[];
  /** Too little, and enough. */
  readonly few: readonly number[];
  readonly enough: readonly number[];
}

const rank1 = (build: Fn, few: number, enough = few + 1): Case => ({
  build,
  spec: [few === 0 ? "N>=0" : "N"],
  few: [few],
  enough: [enough],
});

const image = (build: Fn, few = 2, enough = 3): Case => ({
  build,
  spec: ["B", 2, "N", 5],
  few: [1, 2, few, 5],
  enough: [1, 2, enough, 5],
});

const kernel = ones([2, 2, 3, 3]);

const cases: Readonly<Record<string, Case>> = {
  slice: rank1((x) => sliceAxis(x, 0, 2, 4).sum(), 3),
  "slice from the end": rank1((x) => sliceAxis(x, 0, -3).sum(), 2),
  "slice with a stride": rank1((x) => sliceAxis(x, 0, 3, undefined, 2).sum(), 2),
  take: rank1((x) => x.take(5).mul(2), 5),
  "take from the end": rank1((x) => x.take(-4), 3),
  "topK values": rank1((x) => topK(x, 4).values.sum(), 3),
  "topK places": rank1((x) => topK(x, 4, 0, { largest: false }).indices, 3),
  "pad that crops": rank1((x) => pad(x, 0, [-2], [-1]).sum(), 2),
  split: rank1((x) => split(x, [2, subDim(x.shape[0]!, 2)])[1]!.sum(), 1),
  windows: rank1((x) => windows(x, { size: 3 }).sum(), 2),
  "windows with dilation": rank1((x) => windows(x, { size: 3, dilation: 2 }).sum(), 4),
  "windows of a symbol": rank1(
    (x) => windows(iota([4], 0, "f32"), { size: x.shape[0]! }).sum(),
    5,
    4,
  ),
  fold: rank1((x) => foldWindows(windows(x, { size: 2 }), { size: 2, extent: x.shape }).sum(), 1),
  zeros: rank1(
    (x) =>
      zeros([subDim(x.shape[0]!, 3)])
        .sum()
        .add(x.sum()),
    2,
  ),
  iota: rank1(
    (x) =>
      iota([subDim(x.shape[0]!, 3)])
        .sum()
        .add(x.sum()),
    2,
  ),
  random: rank1(
    (x) =>
      random
        .uniform(random.key(1), [subDim(x.shape[0]!, 3)])
        .sum()
        .add(x.sum()),
    2,
  ),
  "a table that is long enough": rank1((x) => sliceAxis(ones([4]), 0, 0, x.shape[0]!).add(x), 5, 4),
  "max of nothing": rank1((x) => x.max(), 0),
  "min of nothing": rank1((x) => x.min(0), 0),
  "argMax of nothing": rank1((x) => x.argMax(0), 0),
  "argMin of nothing": rank1((x) => x.argMin(), 0),
  "norm of order infinity": rank1((x) => x.norm(0, { order: Infinity }), 0),
  categorical: rank1((x) => random.categorical(random.key(1), x), 0),
  accuracy: {
    build: (x) => nn.accuracy(x, zeros([2], "i32")),
    spec: [2, "C>=0"],
    few: [2, 0],
    enough: [2, 3],
  },
  "take from an empty axis": rank1((x) => x.take(zeros([2], "i32")), 0),
  convolution: image((x) => convolution(x, kernel).sum()),
  "convolution with padding": image(
    (x) => convolution(x, kernel, { padding: [[0, 0], 1], dilation: [2, 1] }).sum(),
    4,
    5,
  ),
  "convolution's gradient": image((x) => grad(convolution(x, kernel).sum(), [x])[0]!.sum()),
  maxPool: image((x) => maxPool(x, { size: 3 }).sum()),
  avgPool: image((x) => x.avgPool({ size: [3, 1] }).mean()),
  "nn.MaxPool2d": image((x) => new nn.MaxPool2d(3).forward(x)),
  "nn.AvgPool2d": image((x) => new nn.AvgPool2d(3, { stride: 1 }).forward(x)),
  "nn.Conv2d": image((x) => new nn.Conv2d(2, 3, 3).forward(x)),
  "nn.Conv1d": {
    build: (x) => new nn.Conv1d(2, 3, 4).forward(x),
    spec: ["B", 2, "T"],
    few: [2, 2, 3],
    enough: [2, 2, 4],
  },
  "nn.BatchNorm1d": {
    build: (x) => new nn.BatchNorm1d(3).forward(x),
    spec: ["N", 3],
    few: [1, 3],
    enough: [2, 3],
  },
  "nn.BatchNorm2d": {
    build: (x) => new nn.BatchNorm2d(2).forward(x),
    spec: ["N", 2, "H", "W"],
    few: [1, 2, 1, 1],
    enough: [1, 2, 1, 2],
  },
};

const tensorOf = (shape: readonly number[]) => ({
  data: Float32Array.from(
    { length: shape.reduce((a, b) => a * b, 1) },
    (_, i) => ((i * 7) % 11) + 1,
  ),
  shape,
});

async function refusal(call: () => unknown): Promise<Error> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    return error as Error;
  }
  return assert.unreachable("nothing was thrown") as never;
}

async function refuses({ build, spec, few }: Case, target: "js" | "wasm" | "webgpu") {
  const options = { target } as const;
  await refusal(() => compile(build, { ...options, inputs: [few as InputSpec] })(tensorOf(few)));
  const inputs: readonly InputSpec[] = [{ name: "rows", shape: spec }];
  const error = await refusal(() => compile(build, { ...options, inputs })(tensorOf(few)));
  assert.match(error.message, /^run: /);
  assert.match(error.message, /input rows \[/);
}

for (const [name, c] of Object.entries(cases)) {
  for (const target of ["js", "wasm"] as const)
    test(`${target}: ${name}: too little is refused, enough is as with a number`, async () => {
      await refuses(c, target);
      const values: unknown[] = [];
      for (const spec of [c.enough, c.spec]) {
        const f = compile(c.build, { target, inputs: [spec as InputSpec] });
        nn.seed(3);
        const y = await f(tensorOf(c.enough));
        values.push([y.shape, ...(await y.data())]);
      }
      assert.equal(values[1], values[0]);
    });
}

gpuTest("webgpu: too little is refused", async () => {
  const device: Device = await openWebGpu({
    gpu: await heldGpu("backend=null"),
    allowSoftware: true,
  });
  useDevice(device);
  for (const c of Object.values(cases)) await refuses(c, "webgpu");
  device.destroy();
});

test("a run that is refused leaves parameters as they are", async () => {
  const norm = new nn.BatchNorm1d(2);
  const f = compile((x: Tensor) => norm.forward(x), { inputs: [["N", 2]], target: "js" });
  await f(tensorOf([3, 2]));
  const before = [...(await norm.runningVar!.data())];
  const { message } = await refusal(() => f(tensorOf([1, 2])));
  assert.is(
    message,
    "run: dim N must be at least 2, is 1 in input arg0 [N,2]\n  batchNorm: one value a channel has no variance: input is [N,2]",
  );
  assert.equal([...(await norm.runningVar!.data())], before);
});

test("of several symbols all are named, with where they come from", async () => {
  const norm = new nn.BatchNorm2d(2);
  const f = compile((x: Tensor) => norm.forward(x), {
    inputs: [["N", 2, "H", 1]],
    target: "js",
  });
  assert.is(
    (await refusal(() => f(tensorOf([1, 2, 1, 1])))).message,
    "run: batchNorm: one value a channel has no variance: input is [N,2,H,1]: H is 1 in input arg0 [N,2,H,1], N is 1 in input arg0 [N,2,H,1]\n  call eval() to use the running statistics",
  );
});

test("epochs by 64 of 129 samples: the last one is told, not normalised by nothing", async () => {
  const norm = new nn.BatchNorm1d(2);
  const f = compile((x: Tensor) => norm.forward(x).sum(), { target: "js" });
  await f(tensorOf([64, 2]));
  await refusal(() => f(tensorOf([1, 2])));
  assert.ok([...(await norm.runningVar!.data())].every(Number.isFinite));
});

test("what stands in regions is required too", async () => {
  const f = compile(
    (x: Tensor) =>
      cond(
        x.sum().greater(0),
        () => [sliceAxis(x, 0, 2, 4).sum()],
        () => [zeros([])],
      )[0]!,
    { inputs: [["N"]], target: "js" },
  );
  await refusal(() => f(tensorOf([3])));
});

test.run();
