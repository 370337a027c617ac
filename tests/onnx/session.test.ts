/** Models that run: what is demanded, what is kept between runs, and what is called what. */
import { GraphError, input } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { OnnxTensor } from "../../packages/kiln/src/onnx.ts";
import { float32, int64, loadSmall, numbers } from "./small-model.ts";

/** y = x in the shape that the input `shape` gives. */
const reshape = {
  inputs: { x: [6], shape: [2] },
  types: { shape: "int64" },
  nodes: [{ op: "Reshape", inputs: ["x", "shape"] }],
} as const;

const x = float32([6], [1, 2, 3, 4, 5, 6]);

test("a demanded value is computed once for what its inputs hold", async () => {
  const model = loadSmall(reshape);
  const first = await model.run({ x, shape: int64([2, 3]) });
  assert.equal((first.y as OnnxTensor).dims, [2, 3]);
  const compiles = model.compiles;
  assert.is(compiles, 2, "one program for the value, one for the result");
  await model.run({ x, shape: int64([2, 3]) });
  assert.is(model.compiles, compiles);
  const other = await model.run({ x, shape: int64([3, 2]) });
  assert.equal((other.y as OnnxTensor).dims, [3, 2]);
  assert.is(model.compiles, compiles + 1);
});

test("what a caller writes into its arrays after the call changes no program of the run", async () => {
  const model = loadSmall(reshape);
  const call = (from: number, shape: readonly number[]) => {
    const x = float32(
      [6],
      Array.from({ length: 6 }, (_, i) => from + i),
    );
    const extents = int64(shape);
    const y = model.run({ x, shape: extents });
    (x.data as Float32Array).fill(99);
    (extents.data as BigInt64Array).fill(9n);
    return y.then(({ y }) => [(y as OnnxTensor).dims, numbers(y as OnnxTensor)]);
  };
  // Neither when a program is made, nor when it is there, nor with others under way.
  assert.equal(await call(0, [2, 3]), [
    [2, 3],
    [0, 1, 2, 3, 4, 5],
  ]);
  assert.equal(await call(1, [2, 3]), [
    [2, 3],
    [1, 2, 3, 4, 5, 6],
  ]);
  assert.equal(await Promise.all([call(2, [3, 2]), call(3, [6, 1]), call(4, [2, 3])]), [
    [
      [3, 2],
      [2, 3, 4, 5, 6, 7],
    ],
    [
      [6, 1],
      [3, 4, 5, 6, 7, 8],
    ],
    [
      [2, 3],
      [4, 5, 6, 7, 8, 9],
    ],
  ]);
});

test("a value that depends on large inputs is computed at every run", async () => {
  const model = loadSmall({
    inputs: { x: [600] },
    nodes: [{ op: "NonZero", inputs: ["x"] }],
  });
  const places = async (...at: number[]) => {
    const values = new Array<number>(600).fill(0);
    for (const i of at) values[i] = 1;
    const { y } = await model.run({ x: float32([600], values) });
    return numbers(y as OnnxTensor);
  };
  assert.equal(await places(3, 599), [3, 599]);
  assert.equal(await places(7, 8), [7, 8]);
  assert.equal(await places(5), [5]);
});

test("programs for sizes that data decide are not kept without end", async () => {
  const model = loadSmall({
    inputs: { n: [] },
    types: { n: "int64" },
    initializers: { zero: int64(0), one: int64(1) },
    nodes: [{ op: "Range", inputs: ["zero", "n", "one"] }],
  });
  for (let n = 1; n <= 70; n++) {
    const { y } = await model.run({ n: int64(n) });
    assert.is(numbers(y as OnnxTensor).length, n);
  }
  assert.is(model.compiles, 71);
  const { y } = await model.run({ n: int64(1) });
  assert.equal(numbers(y as OnnxTensor), [0]);
  assert.is(model.compiles, 72, "the oldest program was dropped and is compiled again");
});

test("outputs of an artifact have the names of the file", async () => {
  const model = loadSmall({
    inputs: { x: [2] },
    nodes: [
      { op: "Neg", inputs: ["x"], outputs: ["minus.x"] },
      { op: "Abs", inputs: ["x"], outputs: ["7"] },
    ],
    outputs: ["minus.x", "7"],
  });
  const { signature } = await model.artifact();
  assert.equal(signature.outputs.map((o) => o.name).sort(), ["7", "minus.x"]);
  const results = await model.run({ x: float32([2], [1, -2]) });
  assert.equal(Object.keys(results).sort(), ["7", "minus.x"]);
  assert.equal(numbers(results["minus.x"] as OnnxTensor), [-1, 2]);
});

test("inside a larger program a demand is an error of ours that names the node", () => {
  const model = loadSmall(reshape);
  const apply = () => model.apply({ x: input("x", "f32", [6]), shape: input("shape", "i32", [2]) });
  assert.throws(
    apply,
    (error: Error) =>
      error instanceof GraphError && /Reshape0, input 1 must be known/.test(error.message),
  );
});

test.run();
