/** Models of many nodes, one behind the other: no stack grows with the model, and none is walked anew at each of its nodes. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { float32, int64, numbers, runSmall, type SmallNode } from "./small-model.ts";

/** Where calls would be nested as deep, a stack would have ended. */
const many = 12_000;
const x = float32([4], [1, 2, 3, 4]);

/** Nodes of one op or two in turns, each of the one before and of `more`. */
const chain = (length: number, ops: readonly string[], more: readonly string[]): SmallNode[] =>
  Array.from({ length }, (_, i) => ({
    op: ops[i % ops.length]!,
    inputs: [`s${i}`, ...more],
    outputs: [`s${i + 1}`],
  }));

test("a shape that thousands of nodes compute is known when the model is read", async () => {
  const nodes: SmallNode[] = [
    { op: "Shape", inputs: ["x"], outputs: ["s0"] },
    ...chain(many, ["Add", "Sub"], ["one"]),
    { op: "Reshape", inputs: ["x", `s${many}`] },
  ];
  const [y] = await runSmall(
    { inputs: { x: ["N"] }, initializers: { one: int64([1]) }, nodes },
    { x },
  );
  assert.equal(y!.dims, [4]);
  assert.equal(numbers(y!), [1, 2, 3, 4]);
});

test("a shape that hundreds of nodes make of what only a run has is asked for once", async () => {
  const few = 600;
  const nodes: SmallNode[] = [
    { op: "Cast", inputs: ["k"], outputs: ["s0"], attributes: { to: 7 } },
    ...chain(few, ["Add", "Sub"], ["one"]),
    { op: "Expand", inputs: ["x", `s${few}`] },
  ];
  const k = { name: "", type: "int32" as const, dims: [1], data: Int32Array.of(4) };
  const [y] = await runSmall(
    { inputs: { x: [4], k: [1] }, types: { k: "int32" }, initializers: { one: int64([1]) }, nodes },
    { x, k },
  );
  assert.equal(numbers(y!), [1, 2, 3, 4]);
});

test("thousands of sums of int32 may end in a Cast, which asks for their bounds", async () => {
  const nodes: SmallNode[] = [
    ...chain(many, ["Add", "Sub"], ["s0"]),
    { op: "Cast", inputs: [`s${many}`], attributes: { to: 7 } },
  ];
  const s0 = { name: "", type: "int32" as const, dims: [2], data: Int32Array.of(7, -3) };
  const [y] = await runSmall({ inputs: { s0: [2] }, types: { s0: "int32" }, nodes }, { s0 });
  assert.equal(numbers(y!), [7, -3]);
});

test.run();
