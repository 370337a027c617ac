/**
 * Ops as older opsets have them: attributes that became inputs, defaults that changed.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type Attribute,
  float32,
  int64,
  numbers,
  runSmall,
  type SmallModel,
} from "./small-model.ts";

const ramp = (dims: readonly number[]) =>
  float32(
    dims,
    Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => i),
  );

type Extra = Partial<SmallModel>;

/** The outputs of one op on x, as shapes and numbers. */
async function run(
  opset: number,
  op: string,
  dims: readonly number[],
  attributes: Readonly<Record<string, Attribute>>,
  others: readonly string[] = [],
  extra: Extra = {},
) {
  const outputs = extra.outputs ?? ["y"];
  const model: SmallModel = {
    opset,
    inputs: { x: dims },
    nodes: [{ op, inputs: ["x", ...others], outputs, attributes }],
    ...extra,
  };
  const results = await runSmall(model, { x: ramp(dims) });
  return results.map((t) => ({ dims: [...t.dims], values: numbers(t) }));
}

test("Slice takes attributes before opset 10", async () => {
  const [y] = await run(9, "Slice", [3, 4], { starts: [1, -3], ends: [1000, -1] });
  assert.equal(y, { dims: [2, 2], values: [5, 6, 9, 10] });
});

test("Pad takes attributes before opset 11", async () => {
  const [y] = await run(2, "Pad", [1, 2], { pads: [0, 1, 1, 0], value: 9 });
  assert.equal(y, { dims: [2, 3], values: [9, 0, 1, 9, 9, 9] });
});

test("Split takes an attribute before opset 13", async () => {
  const parts = await run(11, "Split", [5], { split: [2, 3] }, [], { outputs: ["a", "b"] });
  assert.equal(
    parts.map((p) => p.values),
    [
      [0, 1],
      [2, 3, 4],
    ],
  );
});

test("Squeeze and Unsqueeze take attributes before opset 13", async () => {
  assert.equal((await run(11, "Squeeze", [1, 2, 1], { axes: [-1] }))[0]!.dims, [1, 2]);
  assert.equal((await run(11, "Squeeze", [1, 2, 1], {}))[0]!.dims, [2]);
  assert.equal((await run(11, "Unsqueeze", [2], { axes: [0, 2] }))[0]!.dims, [1, 2, 1]);
});

test("TopK takes an attribute before opset 10", async () => {
  const parts = await run(9, "TopK", [2, 3], { k: 2 }, [], { outputs: ["v", "i"] });
  assert.equal(parts[0], { dims: [2, 2], values: [2, 1, 5, 4] });
  assert.equal(parts[1], { dims: [2, 2], values: [2, 1, 2, 1] });
});

test("Upsample and Resize before opset 11 read at place / scale, rounded down", async () => {
  const wanted = [0, 0, 1, 1, 2];
  const scales = { initializers: { s: float32([2], [1, 5 / 3]) } };
  const old = { scales: [1, 5 / 3] };
  assert.equal((await run(7, "Upsample", [1, 3], old))[0]!.values, wanted);
  assert.equal((await run(9, "Upsample", [1, 3], {}, ["s"], scales))[0]!.values, wanted);
  assert.equal((await run(10, "Resize", [1, 3], {}, ["s"], scales))[0]!.values, wanted);
});

test("a DFT has its axis as an attribute, and as an input since opset 20", async () => {
  const axis = { initializers: { a: int64(0) } };
  const [old] = await run(17, "DFT", [2, 2, 1], { axis: 0 });
  const [now] = await run(20, "DFT", [2, 2, 1], {}, ["", "a"], axis);
  assert.equal(old, now);
  const wanted = [2, 0, 4, 0, -2, 0, -2, 0];
  for (const [i, v] of old!.values.entries()) assert.ok(Math.abs(v - wanted[i]!) < 1e-6);
});

test("0 in a reshape copies an extent unless allowzero says otherwise", async () => {
  const to = (shape: readonly number[]) => ({ initializers: { s: int64(shape) } });
  assert.equal(
    (await run(14, "Reshape", [2, 0, 3], {}, ["s"], to([0, 0, -1])))[0]!.dims,
    [2, 0, 3],
  );
  const zero = await run(14, "Reshape", [2, 0, 3], { allowzero: 1 }, ["s"], to([3, 0]));
  assert.equal(zero[0]!.dims, [3, 0]);
});

test.run();
