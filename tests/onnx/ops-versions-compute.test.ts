/**
 * What ops that compute meant in older opsets, and attributes that became inputs: expected values are worked out by hand.
 */
import type { ElementType } from "@kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type Arrays,
  type Attribute,
  float32,
  int64,
  numbers,
  runSmall,
  type SmallModel,
} from "./small-model.ts";

const typed = (type: ElementType, dims: readonly number[], data: Int8Array | Int32Array) => ({
  name: "",
  type,
  dims,
  data,
});

/** All outputs of one node; inputs in order, undefined where left out. */
async function run(
  op: string,
  opset: number,
  inputs: Arrays,
  attributes: Readonly<Record<string, Attribute>> = {},
  extra: Partial<SmallModel> & { count?: number } = {},
) {
  const { count = 1, ...rest } = extra;
  const outputs = Array.from({ length: count }, (_, i) => `y${i}`);
  const names = [...Object.keys(inputs), ...Object.keys(rest.initializers ?? {})].sort();
  const shapes = Object.fromEntries(Object.entries(inputs).map(([k, t]) => [k, t.dims]));
  const types = Object.fromEntries(Object.entries(inputs).map(([k, t]) => [k, t.type]));
  const nodes = [{ op, inputs: names, outputs, attributes }];
  const results = await runSmall({ opset, inputs: shapes, types, nodes, outputs, ...rest }, inputs);
  return results.map((t) => ({ type: t.type, dims: [...t.dims], values: numbers(t) }));
}

const near = (got: readonly number[], want: readonly number[]): void => {
  assert.is(got.length, want.length);
  for (const [i, w] of want.entries())
    assert.ok(Math.abs(got[i]! - w) <= 1e-6 + 1e-5 * Math.abs(w), `${i}: ${got[i]} is not ${w}`);
};

test("softmax before opset 13 is over all axes from `axis` on", async () => {
  const a = float32([1, 2, 2], [0, 0, 0, Math.log(5)]);
  const [old] = await run("Softmax", 11, { a }, { axis: 1 });
  near(old!.values, [1 / 8, 1 / 8, 1 / 8, 5 / 8]);
  const [now] = await run("Softmax", 13, { a }, { axis: 1 });
  near(now!.values, [1 / 2, 1 / 6, 1 / 2, 5 / 6]);
  const [six] = await run("Softmax", 6, { a: float32([2, 2], [0, 0, 0, 0]) }, { axis: -1 });
  near(six!.values, [0.5, 0.5, 0.5, 0.5]);
});

test("binary ops before opset 7 align the second input at `axis`", async () => {
  const a = float32([2, 2, 2], [0, 0, 0, 0, 0, 0, 0, 0]);
  const b = float32([2], [1, 2]);
  const [y] = await run("Add", 6, { a, b }, { broadcast: 1, axis: 1 });
  assert.equal(y!.values, [1, 1, 2, 2, 1, 1, 2, 2]);
  const [now] = await run("Add", 7, { a, b });
  assert.equal(now!.values, [1, 2, 1, 2, 1, 2, 1, 2]);
});

test("bounds of Clip are attributes before opset 11 and inputs since", async () => {
  const a = float32([3], [-3, 0.5, 3]);
  const [old] = await run("Clip", 6, { a }, { min: -1, max: 1 });
  assert.equal(old!.values, [-1, 0.5, 1]);
  const [now] = await run("Clip", 13, { a, b: float32([], [2]), c: float32([], [1]) });
  assert.equal(now!.values, [1, 1, 1]);
});

test("axes of reductions are an attribute before opset 18 and an input since", async () => {
  const a = float32([2, 2], [1, 2, 3, 4]);
  const [old] = await run("ReduceMax", 13, { a }, { axes: [-1], keepdims: 0 });
  assert.equal(old, { type: "float32", dims: [2], values: [2, 4] });
  const [now] = await run("ReduceMax", 18, { a }, {}, { initializers: { b: int64([0]) } });
  assert.equal(now, { type: "float32", dims: [1, 2], values: [3, 4] });
  const noop = { noop_with_empty_axes: 1 };
  const [same] = await run("ReduceSum", 13, { a }, noop);
  assert.equal(same!.values, [1, 2, 3, 4]);
  const [squares] = await run("ReduceSumSquare", 18, { a }, noop);
  assert.equal(squares!.values, [1, 4, 9, 16]);
  const [all] = await run("ReduceSum", 13, { a }, { keepdims: 0 });
  assert.equal(all, { type: "float32", dims: [], values: [10] });
});

test("ArgMax takes the first of equals, or the last", async () => {
  const a = float32([1, 4], [1, 3, 3, 0]);
  const [first] = await run("ArgMax", 13, { a }, { axis: 1, keepdims: 0 });
  assert.equal(first, { type: "int64", dims: [1], values: [1] });
  const [last] = await run("ArgMax", 13, { a }, { axis: 1, select_last_index: 1 });
  assert.equal(last, { type: "int64", dims: [1, 1], values: [2] });
});

test("batch statistics are used where opset 9 has outputs for them and opset 14 says so", async () => {
  const a = float32([2, 1, 1], [1, 3]);
  const one = float32([1], [1]);
  const zero = float32([1], [0]);
  const inputs = { a, b: one, c: zero, d: zero, e: one };
  const attributes = { epsilon: 0.0000001, momentum: 0.5 };
  const [kept] = await run("BatchNormalization", 9, inputs, attributes);
  near(kept!.values, [1, 3]);
  const [old] = await run("BatchNormalization", 9, inputs, attributes, { count: 3 });
  near(old!.values, [-1, 1]);
  const training = { ...attributes, training_mode: 1 };
  const now = await run("BatchNormalization", 15, inputs, training, { count: 3 });
  near(now[0]!.values, [-1, 1]);
  near(now[1]!.values, [1]);
  near(now[2]!.values, [1]);
});

test("GroupNormalization scales groups in opset 18 and channels since 21", async () => {
  const a = float32([1, 4, 1], [-1, 1, -1, 1]);
  const groups = { b: float32([2], [1, 2]), c: float32([2], [0, 1]) };
  const [old] = await run(
    "GroupNormalization",
    18,
    { a, ...groups },
    { num_groups: 2, epsilon: 0.00000001 },
  );
  near(old!.values, [-1, 1, -1, 3]);
  const channels = { b: float32([4], [1, 2, 3, 4]), c: float32([4], [0, 0, 0, 1]) };
  const [now] = await run(
    "GroupNormalization",
    21,
    { a, ...channels },
    { num_groups: 2, epsilon: 0.00000001 },
  );
  near(now!.values, [-1, 2, -3, 5]);
});

test("integers narrower than what holds them wrap", async () => {
  const int16 = (values: number[]) => ({
    name: "",
    type: "int16" as const,
    dims: [2],
    data: Int16Array.from(values),
  });
  const [y] = await run("Add", 14, { a: int16([32767, -32768]), b: int16([1, -1]) });
  assert.equal(y, { type: "int16", dims: [2], values: [-32768, 32767] });
  const [cast] = await run(
    "Cast",
    13,
    { a: typed("int32", [2], Int32Array.of(70000, -70000)) },
    { to: 5 },
  );
  assert.equal(cast, { type: "int16", dims: [2], values: [4464, -4464] });
});

test("integer powers are exact, and negative exponents leave only ±1", async () => {
  const a = typed("int32", [4], Int32Array.of(3, -1, 2, -2));
  const [up] = await run("Pow", 15, { a, b: int64([19, 3, 10, 31]) });
  assert.equal(up!.values, [1162261467, -1, 1024, -2147483648]);
  const [down] = await run("Pow", 15, { a, b: int64([-1, -1, -2, -1]) });
  assert.equal(down!.values, [0, -1, 0, 0]);
  const [root] = await run("Pow", 15, { a, b: float32([], [2]) });
  assert.equal(root, { type: "int32", dims: [4], values: [9, 1, 4, 4] });
});

test("Mod has the sign of the divisor, with fmod that of the dividend", async () => {
  const a = typed("int32", [4], Int32Array.of(7, -7, 7, -7));
  const b = typed("int32", [4], Int32Array.of(3, 3, -3, -3));
  assert.equal((await run("Mod", 13, { a, b }))[0]!.values, [1, 2, -2, -1]);
  assert.equal((await run("Mod", 13, { a, b }, { fmod: 1 }))[0]!.values, [1, -1, 1, -1]);
});

test("shifts by all bits or more leave nothing", async () => {
  const u8 = (values: number[]) => ({
    name: "",
    type: "uint8" as const,
    dims: [3],
    data: Uint8Array.from(values),
  });
  const inputs = { a: u8([255, 255, 255]), b: u8([1, 7, 8]) };
  const [left] = await run("BitShift", 11, inputs, { direction: "LEFT" });
  assert.equal(left!.values, [254, 128, 0]);
  const [right] = await run("BitShift", 11, inputs, { direction: "RIGHT" });
  assert.equal(right!.values, [127, 1, 0]);
});

test("quantized values are rounded half to even and limited, one scale a block", async () => {
  const a = float32([1, 4], [1, 3, -1000, 1000]);
  const scales = {
    b: float32([1, 2], [2, 2]),
    c: { ...typed("int8", [1, 2], Int8Array.of(0, 0)) },
  };
  const attributes = { axis: 1, block_size: 2 };
  const [q] = await run("QuantizeLinear", 21, { a, ...scales }, attributes);
  assert.equal(q, { type: "int8", dims: [1, 4], values: [0, 2, -128, 127] });
  const bytes = { a: typed("int8", [1, 4], Int8Array.of(1, 2, 3, 4)) };
  const blocks = { b: float32([1, 2], [0.5, 2]), c: typed("int8", [1, 2], Int8Array.of(1, -1)) };
  const [x] = await run("DequantizeLinear", 21, { ...bytes, ...blocks }, attributes);
  assert.equal(x!.values, [0, 0.5, 8, 10]);
});

test("a deformed kernel reads between elements, times the mask, and 0 outside", async () => {
  const inputs = {
    a: float32([1, 1, 2, 2], [1, 2, 3, 4]),
    b: float32([1, 1, 1, 1], [2]),
    // Half a row down everywhere, and half a column to the right.
    c: float32([1, 2, 2, 2], new Array(8).fill(0.5)),
    d: float32([1], [10]),
    e: float32([1, 1, 2, 2], [1, 1, 0, 1]),
  };
  const [y] = await run("DeformConv", 19, inputs, { kernel_shape: [1, 1] });
  // Means of the four, of 2 and 4 and two outside, nothing by the mask, of 4 and three outside.
  near(y!.values, [2 * 2.5 + 10, 2 * 1.5 + 10, 10, 2 * 1 + 10]);
});

test("determinants take the largest pivot, and are 0 for singular matrices", async () => {
  const a = float32([3, 2, 2], [0, 2, 3, 4, 1, 2, 2, 4, 5, 0, 0, 2]);
  near((await run("Det", 11, { a }))[0]!.values, [-6, 0, 10]);
});

test("a ratio that is not 0 is refused in training, 0 is the identity", async () => {
  const a = float32([2], [1, 2]);
  const truth = { name: "", type: "bool" as const, dims: [], data: Uint8Array.of(1) };
  const of = (ratio: number) => ({ initializers: { b: float32([], [ratio]), c: truth }, count: 2 });
  const [y, mask] = await run("Dropout", 13, { a }, {}, of(0));
  assert.equal(y!.values, [1, 2]);
  assert.equal(mask, { type: "bool", dims: [2], values: [1, 1] });
  try {
    await run("Dropout", 13, { a }, {}, of(0.5));
    assert.unreachable("no error");
  } catch (error) {
    assert.match((error as Error).message, /Dropout Dropout0: training mode with a ratio/);
  }
});

test.run();
