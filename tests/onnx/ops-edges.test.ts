/**
 * Edges of ops that ONNX's own tests leave out: nothing selected, scalars, long lines, sizes that inputs decide.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type Arrays,
  float32,
  int64,
  numbers,
  runSmall,
  type SmallModel,
  type SmallNode,
  wave,
} from "./small-model.ts";

async function run(
  nodes: readonly SmallNode[],
  inputs: Arrays,
  extra: Partial<SmallModel> = {},
): Promise<{ dims: number[]; values: number[] }[]> {
  const shapes = Object.fromEntries(Object.entries(inputs).map(([k, t]) => [k, t.dims]));
  const types = Object.fromEntries(Object.entries(inputs).map(([k, t]) => [k, t.type]));
  const results = await runSmall({ inputs: shapes, types, nodes, ...extra }, inputs);
  return results.map((t) => ({ dims: [...t.dims], values: numbers(t) }));
}

const bool = (values: readonly number[]) => ({
  name: "",
  type: "bool" as const,
  dims: [values.length],
  data: Uint8Array.from(values),
});

const near = (a: readonly number[], b: readonly number[], tolerance = 1e-4) => {
  assert.is(a.length, b.length);
  for (const [i, v] of b.entries())
    assert.ok(Math.abs(a[i]! - v) <= tolerance * (1 + Math.abs(v)), `${i}: ${a[i]} and ${v}`);
};

test("the shape of a scalar is empty, and a reshape to it gives a scalar", async () => {
  const nodes = [
    { op: "Shape", inputs: ["x"], outputs: ["s"] },
    { op: "Reshape", inputs: ["one", "s"] },
  ];
  const [y, s] = await run(
    nodes,
    { x: float32([], [3]) },
    { outputs: ["y", "s"], initializers: { one: float32([1], [7]) } },
  );
  assert.equal(y, { dims: [], values: [7] });
  assert.equal(s, { dims: [0], values: [] });
});

test("a slice may be empty", async () => {
  const [y] = await run(
    [{ op: "Slice", inputs: ["x", "s", "e"] }],
    { x: wave([3, 2]) },
    { initializers: { s: int64([2]), e: int64([1]) } },
  );
  assert.equal(y, { dims: [0, 2], values: [] });
});

test("nothing may be found", async () => {
  const zeros = { x: float32([2, 3], [0, 0, 0, 0, 0, 0]) };
  assert.equal((await run([{ op: "NonZero", inputs: ["x"] }], zeros))[0]!.dims, [2, 0]);
  const none = { x: wave([3, 2]), c: bool([0, 0]) };
  const kept = [{ op: "Compress", inputs: ["x", "c"], attributes: { axis: 0 } }];
  assert.equal((await run(kept, none))[0]!.dims, [0, 2]);
});

test("what is found can be used by what follows", async () => {
  const nodes = [
    { op: "NonZero", inputs: ["x"], outputs: ["at"] },
    { op: "Transpose", inputs: ["at"], outputs: ["rows"] },
    { op: "GatherND", inputs: ["x", "rows"], outputs: ["v"] },
    { op: "Shape", inputs: ["v"], outputs: ["n"] },
  ];
  const [v, n] = await run(nodes, { x: float32([2, 2], [0, 5, 6, 7]) }, { outputs: ["v", "n"] });
  assert.equal(v!.values, [5, 6, 7]);
  assert.equal(n!.values, [3]);
});

test("distinct values are counted", async () => {
  const x = float32([7], [3, 1, 3, 2, 1, 3, 0]);
  const outputs = ["y", "first", "number", "count"];
  const sorted = await run([{ op: "Unique", inputs: ["x"], outputs }], { x }, { outputs });
  assert.equal(
    sorted.map((t) => t.values),
    [
      [0, 1, 2, 3],
      [6, 1, 3, 0],
      [3, 1, 3, 2, 1, 3, 0],
      [1, 2, 1, 3],
    ],
  );
  const attributes = { sorted: 0 };
  const found = await run(
    [{ op: "Unique", inputs: ["x"], outputs, attributes }],
    { x },
    { outputs },
  );
  assert.equal(
    found.map((t) => t.values),
    [
      [3, 1, 2, 0],
      [0, 1, 3, 6],
      [0, 1, 0, 2, 1, 0, 3],
      [3, 2, 1, 1],
    ],
  );
});

test("NaN is one value", async () => {
  const x = float32([4], [Number.NaN, 1, Number.NaN, 1]);
  const outputs = ["y", "first", "number", "count"];
  const [y, , , count] = await run([{ op: "Unique", inputs: ["x"], outputs }], { x }, { outputs });
  assert.equal(y!.values, [1, Number.NaN]);
  assert.equal(count!.values, [2, 2]);
});

test("no box is selected where none scores enough", async () => {
  const inputs = { b: wave([1, 3, 4]), s: float32([1, 1, 3], [0.1, 0.2, 0.3]) };
  const initializers = { k: int64([3]), iou: float32([], [0.5]), least: float32([], [0.9]) };
  const nodes = [{ op: "NonMaxSuppression", inputs: ["b", "s", "k", "iou", "least"] }];
  assert.equal((await run(nodes, inputs, { initializers }))[0]!.dims, [0, 3]);
});

/** Σ x[j]·e^(−2πi·jk/n), pair by pair. */
function spectrum(x: readonly number[], n: number): number[] {
  const out: number[] = [];
  for (let k = 0; k < n; k++) {
    let [re, im] = [0, 0];
    for (let j = 0; j < n; j++) {
      const angle = (-2 * Math.PI * ((j * k) % n)) / n;
      const [a, b] = [x[2 * j]!, x[2 * j + 1]!];
      re += a * Math.cos(angle) - b * Math.sin(angle);
      im += a * Math.sin(angle) + b * Math.cos(angle);
    }
    out.push(re, im);
  }
  return out;
}

for (const n of [300, 512, 263])
  test(`a line of ${n} has the spectrum of the definition, and comes back`, async () => {
    const x = wave([1, n, 2]);
    const forth = { op: "DFT", inputs: ["x"], outputs: ["y"] };
    const back = { op: "DFT", inputs: ["y"], outputs: ["z"], attributes: { inverse: 1 } };
    const [y, z] = await run([forth, back], { x }, { outputs: ["y", "z"] });
    near(y!.values, spectrum(Array.from(x.data as Float32Array), n), 1e-3);
    near(z!.values, Array.from(x.data as Float32Array));
  });

test("half a spectrum gives a real line back", async () => {
  const x = wave([1, 600, 1]);
  const attributes = { onesided: 1 };
  const [y, z] = await run(
    [
      { op: "DFT", inputs: ["x"], outputs: ["y"], attributes },
      { op: "DFT", inputs: ["y"], outputs: ["z"], attributes: { onesided: 1, inverse: 1 } },
    ],
    { x },
    { outputs: ["y", "z"] },
  );
  assert.equal(y!.dims, [1, 301, 2]);
  near(z!.values, Array.from(x.data as Float32Array));
});

test("as many samples as a region needs are taken in a bin", async () => {
  // A ramp in both directions: the mean over a bin is the value at its centre, however many samples there are.
  const ramp = float32(
    [1, 1, 8, 8],
    Array.from({ length: 64 }, (_, i) => (i % 8) + 10 * Math.floor(i / 8)),
  );
  const inputs = { x: ramp, r: float32([1, 4], [1, 1, 6, 5]), b: int64([0]) };
  const attributes = {
    output_height: 2,
    output_width: 1,
    coordinate_transformation_mode: "half_pixel",
  };
  const [y] = await run([{ op: "RoiAlign", inputs: ["x", "r", "b"], attributes }], inputs);
  near(y!.values, [3 + 15, 3 + 35]);
});

test("regions have their maxima", async () => {
  const x = float32(
    [1, 1, 4, 4],
    Array.from({ length: 16 }, (_, i) => i),
  );
  const attributes = { pooled_shape: [2, 2] };
  const [y] = await run([{ op: "MaxRoiPool", inputs: ["x", "r"], attributes }], {
    x,
    r: float32([1, 5], [0, 0, 0, 3, 3]),
  });
  assert.equal(y, { dims: [1, 1, 2, 2], values: [5, 7, 13, 15] });
});

test("padding may crop on one side and extend on the other", async () => {
  const x = float32([1, 4], [1, 2, 3, 4]);
  const initializers = { p: int64([0, -1, 0, 2]) };
  const padded = async (mode: string) =>
    (
      await run([{ op: "Pad", inputs: ["x", "p"], attributes: { mode } }], { x }, { initializers })
    )[0]!.values;
  assert.equal(await padded("constant"), [2, 3, 4, 0, 0]);
  assert.equal(await padded("edge"), [2, 3, 4, 4, 4]);
  assert.equal(await padded("reflect"), [2, 3, 4, 3, 2]);
  assert.equal(await padded("wrap"), [2, 3, 4, 2, 3]);
});

test("labels are numbers for numbers", async () => {
  const attributes = { keys_int64s: [3, 5], values_floats: [0.5, 2.5], default_float: -1.5 };
  const nodes = [{ op: "LabelEncoder", domain: "ai.onnx.ml", inputs: ["x"], attributes }];
  assert.equal((await run(nodes, { x: int64([5, 4, 3]) }))[0]!.values, [2.5, -1.5, 0.5]);
});

test("a tree of two classes that scores one of them gives both", async () => {
  const strings = (value: readonly string[]) => ({ kind: "strings" as const, value });
  const attributes = {
    nodes_treeids: [0, 0, 0],
    nodes_nodeids: [0, 1, 2],
    nodes_featureids: [1, 0, 0],
    nodes_values: [0.5, 0, 0],
    nodes_modes: strings(["BRANCH_LEQ", "LEAF", "LEAF"]),
    nodes_truenodeids: [1, 0, 0],
    nodes_falsenodeids: [2, 0, 0],
    class_treeids: [0, 0],
    class_nodeids: [1, 2],
    class_ids: [0, 0],
    class_weights: [0.25, 0.75],
    classlabels_int64s: [10, 20],
  };
  const outputs = ["label", "scores"];
  const nodes = [
    { op: "TreeEnsembleClassifier", domain: "ai.onnx.ml", inputs: ["x"], outputs, attributes },
  ];
  const [label, scores] = await run(nodes, { x: float32([2, 2], [9, 0, 9, 1]) }, { outputs });
  assert.equal(label!.values, [10, 20]);
  near(scores!.values, [0.75, 0.25, 0.25, 0.75]);
});

test.run();
