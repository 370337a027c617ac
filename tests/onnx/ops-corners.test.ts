/**
 * Corners of single ops that random models came upon. What is expected follows from the
 * definitions.
 */
import { ImportedModel, type TensorDef } from "@kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { OnnxModel, type OnnxTensor } from "../../packages/kiln/src/onnx.ts";
import {
  type Arrays,
  float32,
  int64,
  loadSmall,
  modelOf,
  numbers,
  runSmall,
  type SmallModel,
} from "./small-model.ts";

const near = (got: readonly number[], want: readonly number[]): void => {
  assert.is(got.length, want.length);
  for (const [i, v] of want.entries())
    assert.ok(
      Object.is(got[i], v) || Math.abs(got[i]! - v) < 1e-5,
      `element ${i}: ${got[i]}, expected ${v}`,
    );
};

const one = async (model: SmallModel, inputs: Arrays): Promise<OnnxTensor> =>
  (await runSmall(model, inputs))[0]!;

const bools = (dims: readonly number[], values: readonly number[]): TensorDef => ({
  name: "",
  type: "bool",
  dims,
  data: Uint8Array.from(values),
});

test("Squeeze without axes takes out what turns out to be 1", async () => {
  const model: SmallModel = {
    inputs: { x: [1, "A", "B"] },
    nodes: [{ op: "Squeeze", inputs: ["x"] }],
  };
  const loaded = loadSmall(model);
  const dims = async (a: number, b: number) => {
    const x = float32([1, a, b], new Array<number>(a * b).fill(1));
    return ((await loaded.run({ x })).y as OnnxTensor).dims;
  };
  assert.equal(await dims(1, 1), []);
  assert.equal(await dims(2, 1), [2]);
  assert.equal(await dims(2, 3), [2, 3]);
});

test("Compress takes a condition shorter than the axis, whose extent is a symbol", async () => {
  const y = await one(
    {
      inputs: { x: [5], c: ["C"] },
      types: { c: "bool" },
      nodes: [{ op: "Compress", inputs: ["x", "c"] }],
    },
    { x: float32([5], [1, 2, 3, 4, 5]), c: bools([3], [0, 1, 1]) },
  );
  near(numbers(y), [2, 3]);
});

test("MaxPool of bytes finds its places inside, though padding is as small as they are", async () => {
  const [y, at] = await runSmall(
    {
      inputs: { x: [1, 1, 3] },
      types: { x: "uint8" },
      outputs: ["y", "at"],
      nodes: [
        {
          op: "MaxPool",
          inputs: ["x"],
          outputs: ["y", "at"],
          attributes: { kernel_shape: [2], pads: [1, 1] },
        },
      ],
    },
    { x: { name: "", type: "uint8", dims: [1, 1, 3], data: Uint8Array.of(0, 3, 0) } },
  );
  near(numbers(y!), [0, 3, 3, 0]);
  near(numbers(at!), [0, 1, 1, 2]);
});

test("Resize of opset 10 reads upward where it shrinks, downward where it grows", async () => {
  const resized = (scale: number) =>
    one(
      {
        opset: 10,
        inputs: { x: [4] },
        initializers: { s: float32([1], [scale]) },
        nodes: [{ op: "Resize", inputs: ["x", "s"] }],
      },
      { x: float32([4], [1, 2, 3, 4]) },
    );
  near(numbers(await resized(0.6)), [1, 3]);
  near(numbers(await resized(1.5)), [1, 1, 2, 3, 3, 4]);
});

test("a kernel whose extents are symbols is as large as kernel_shape says", async () => {
  const model = (op: string): SmallModel => ({
    inputs: { x: [1, 1, "N"], w: [1, 1, "K"] },
    nodes: [{ op, inputs: ["x", "w"], attributes: { kernel_shape: [2] } }],
  });
  const inputs = { x: float32([1, 1, 3], [1, 2, 3]), w: float32([1, 1, 2], [1, 10]) };
  near(numbers(await one(model("Conv"), inputs)), [21, 32]);
  near(numbers(await one(model("ConvTranspose"), inputs)), [1, 12, 23, 30]);
  const unnamed = { ...model("Conv"), nodes: [{ op: "Conv", inputs: ["x", "w"] }] };
  near(numbers(await one(unnamed, inputs)), [21, 32]);
});

test("kernel_shape that is not the kernel's is an error", async () => {
  const model: SmallModel = {
    inputs: { x: [1, 1, 3], w: [1, 1, 2] },
    nodes: [{ op: "Conv", inputs: ["x", "w"], attributes: { kernel_shape: [3] } }],
  };
  try {
    await one(model, { x: float32([1, 1, 3], [1, 2, 3]), w: float32([1, 1, 2], [1, 10]) });
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /kernel_shape is \[3\], the kernel is \[2\]/);
  }
});

/** Queries of one head that weigh all keys alike; values are 1, 10, 100. */
const attention = (attributes: Record<string, number>, inputs: readonly string[]): SmallModel => ({
  opset: 24,
  inputs: { q: [1, 1, 2, 1], k: [1, 1, 3, 1], v: [1, 1, 3, 1], m: [2, 3], n: [1] },
  types: { m: "bool", n: "int64" },
  outputs: ["y", "w"],
  nodes: [
    {
      op: "Attention",
      inputs,
      outputs: ["y", "", "", "w"],
      attributes: { ...attributes, qk_matmul_output_mode: 3 },
    },
  ],
});

const attended: Arrays = {
  q: float32([1, 1, 2, 1], [0, 0]),
  k: float32([1, 1, 3, 1], [1, 2, 3]),
  v: float32([1, 1, 3, 1], [1, 10, 100]),
  m: bools([2, 3], [0, 0, 0, 1, 1, 0]),
  n: int64([3]),
};

test("a query that may see no key gives 0; its weights are not defined", async () => {
  const [y, w] = await runSmall(attention({}, ["q", "k", "v", "m"]), attended);
  near(numbers(y!), [0, 5.5]);
  near(numbers(w!), [NaN, NaN, NaN, 0.5, 0.5, 0]);
});

test("queries behind a cache outside are its last ones", async () => {
  const model = attention({ is_causal: 1 }, ["q", "k", "v", "", "", "", "n"]);
  near(numbers((await runSmall(model, attended))[0]!), [5.5, 37]);
  const two = await runSmall(model, { ...attended, n: int64([2]) });
  near(numbers(two[0]!), [1, 5.5]);
});

test("activations of a recurrence use up alpha and beta only where they have them", async () => {
  const y = await one(
    {
      inputs: { x: [1, 1, 1] },
      initializers: { w: float32([2, 1, 1], [1, 1]), r: float32([2, 1, 1], [0, 0]) },
      nodes: [
        {
          op: "RNN",
          inputs: ["x", "w", "r"],
          attributes: {
            hidden_size: 1,
            direction: "bidirectional",
            activations: { kind: "strings", value: ["Relu", "Affine"] },
            activation_alpha: { kind: "floats", value: [3] },
            activation_beta: { kind: "floats", value: [0.5] },
          },
        },
      ],
    },
    { x: float32([1, 1, 1], [2]) },
  );
  near(numbers(y), [2, 6.5]);
});

const int32 = (dims: readonly number[], values: readonly number[]): TensorDef => ({
  name: "",
  type: "int32",
  dims,
  data: Int32Array.from(values),
});

test("GroupQueryAttention writes into a buffer with room, each sequence where it ends", async () => {
  const model: SmallModel = {
    inputs: {
      q: ["B", 1, 1],
      k: ["B", 1, 1],
      v: ["B", 1, 1],
      pk: ["B", 1, "P", 1],
      pv: ["B", 1, "P", 1],
      n: ["B"],
    },
    types: { n: "int32" },
    initializers: { total: int32([], [3]) },
    outputs: ["y", "pk2", "pv2"],
    nodes: [
      {
        op: "GroupQueryAttention",
        domain: "com.microsoft",
        inputs: ["q", "k", "v", "pk", "pv", "n", "total"],
        outputs: ["y", "pk2", "pv2"],
        attributes: { num_heads: 1, kv_num_heads: 1 },
      },
    ],
  };
  const [y, , values] = await runSmall(model, {
    q: float32([2, 1, 1], [0, 0]),
    k: float32([2, 1, 1], [1, 1]),
    v: float32([2, 1, 1], [100, 1000]),
    pk: float32([2, 1, 4, 1], new Array<number>(8).fill(1)),
    pv: float32([2, 1, 4, 1], [1, 2, 3, 4, 5, 6, 7, 8]),
    n: int32([2], [2, 1]),
  });
  near(numbers(values!), [1, 2, 100, 0, 5, 1000, 0, 0]);
  near(numbers(y!), [103 / 3, 1005 / 2]);
});

test("LinearRegressor transforms its scores", async () => {
  const y = await one(
    {
      inputs: { x: [1, 1] },
      nodes: [
        {
          op: "LinearRegressor",
          domain: "ai.onnx.ml",
          inputs: ["x"],
          attributes: {
            coefficients: { kind: "floats", value: [2] },
            post_transform: "LOGISTIC",
          },
        },
      ],
    },
    { x: float32([1, 1], [0.5]) },
  );
  near(numbers(y), [1 / (1 + Math.exp(-1))]);
});

/** The outputs on a target of one's choice. */
async function runOn(target: "js" | "wasm", model: SmallModel, inputs: Arrays) {
  const loaded = new OnnxModel(new ImportedModel(modelOf(model)), { target }, {});
  return Object.values(await loaded.run(inputs)) as OnnxTensor[];
}

test("parts of a tensor without elements have none", async () => {
  const model: SmallModel = {
    inputs: { x: [0, 2, 3] },
    outputs: ["a", "b"],
    nodes: [{ op: "Split", inputs: ["x"], outputs: ["a", "b"], attributes: { axis: 1 } }],
  };
  for (const target of ["js", "wasm"] as const) {
    const parts = await runOn(target, model, { x: float32([0, 2, 3], []) });
    assert.equal(
      parts.map((t) => t.dims),
      [
        [0, 1, 3],
        [0, 1, 3],
      ],
    );
  }
});

test("Gelu of what is far below 0 is 0", async () => {
  const model: SmallModel = { inputs: { x: [2] }, nodes: [{ op: "Gelu", inputs: ["x"] }] };
  for (const target of ["js", "wasm"] as const)
    for (const v of numbers((await runOn(target, model, { x: float32([2], [-470, -9]) }))[0]!))
      assert.ok(v === 0, `${target}: ${v}`);
});

test("doubles are sorted on wasm", async () => {
  const model: SmallModel = {
    inputs: { x: [4] },
    types: { x: "float64" },
    initializers: { k: int64([2]) },
    outputs: ["y", "at"],
    nodes: [{ op: "TopK", inputs: ["x", "k"], outputs: ["y", "at"] }],
  };
  const x = { name: "", type: "float64", dims: [4], data: Float64Array.of(1, 4, -3, 2) } as const;
  const [y, at] = await runOn("wasm", model, { x });
  near(numbers(y!), [4, 2]);
  near(numbers(at!), [1, 3]);
});

test("a Resize to a symbolic extent that is 1 reads the first place of pytorch_half_pixel", async () => {
  const y = await one(
    {
      inputs: { x: [1, 1, "H"], like: ["A"] },
      initializers: { front: int64([1, 1]) },
      nodes: [
        { op: "Shape", inputs: ["like"], outputs: ["e"] },
        { op: "Concat", inputs: ["front", "e"], outputs: ["sizes"], attributes: { axis: 0 } },
        {
          op: "Resize",
          inputs: ["x", "", "", "sizes"],
          attributes: {
            mode: "linear",
            coordinate_transformation_mode: "pytorch_half_pixel",
          },
        },
      ],
    },
    { x: float32([1, 1, 3], [5, 6, 7]), like: float32([1], [0]) },
  );
  near(numbers(y), [5]);
});

test("losses leave out an ignored class that is none, in a target of the file too", async () => {
  const logs = [-1, -2, -3, Number.NEGATIVE_INFINITY, -5, -6];
  const target = { ...int64([0, 7]), dims: [2] };
  const ignore = { ignore_index: 7, reduction: "none" };
  for (const fixed of [true, false])
    for (const [attributes, want] of [
      [ignore, [1, 0]],
      [{ ...ignore, reduction: "mean" }, [1]],
    ] as const) {
      const y = await one(
        {
          inputs: { x: [2, 3], ...(fixed ? {} : { t: [2] }) },
          types: fixed ? {} : { t: "int64" },
          initializers: fixed ? { t: target } : {},
          nodes: [{ op: "NegativeLogLikelihoodLoss", inputs: ["x", "t"], attributes }],
        },
        { x: float32([2, 3], logs), ...(fixed ? {} : { t: target }) },
      );
      near(numbers(y), want);
    }
});

test("Trilu keeps bools", async () => {
  const y = await one(
    {
      inputs: { x: [2, 2] },
      types: { x: "bool" },
      nodes: [{ op: "Trilu", inputs: ["x"] }],
    },
    { x: bools([2, 2], [1, 1, 1, 0]) },
  );
  assert.is(y.type, "bool");
  near(numbers(y), [1, 1, 0, 0]);
});

test("Resize that keeps the ratio of extents has one scale for all axes, which is not rounded", async () => {
  const y = await one(
    {
      inputs: { x: [5, 6, 3] },
      initializers: { sizes: int64([8, 1, 9]) },
      nodes: [
        {
          op: "Resize",
          inputs: ["x", "", "", "sizes"],
          attributes: {
            nearest_mode: "floor",
            axes: [0, 1, 2],
            keep_aspect_ratio_policy: "not_larger",
          },
        },
      ],
    },
    {
      x: float32(
        [5, 6, 3],
        Array.from({ length: 90 }, (_, i) => i),
      ),
    },
  );
  assert.equal(y.dims, [1, 1, 1]);
  // (0 + ½) · 6 − ½ is 2.5 on each axis.
  near(numbers(y), [2 * 18 + 2 * 3 + 2]);
});

test.run();
