/**
 * What free extents have to be for a graph to be one program is learnt from the graph, so that models compile once whose files do not say
 * it; and every call is looked at, since it is a guess.
 */
import { addDim, type Dim, dim, floorDiv, mulDim } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Equations, solvable } from "../../packages/kiln/src/onnx/equations.ts";
import type { OnnxTensor } from "../../packages/kiln/src/onnx.ts";
import { float32, loadSmall, numbers, type SmallModel, wave } from "./small-model.ts";

/** A cache and what is new, with a mask over both, whose length the file calls another name. */
const cached: SmallModel = {
  inputs: { past: ["p", 2], x: ["s", 2], mask: ["total", 1] },
  nodes: [
    { op: "Concat", inputs: ["past", "x"], outputs: ["all"], attributes: { axis: 0 } },
    { op: "Mul", inputs: ["all", "mask"] },
  ],
};

const feedsOf = (p: number, s: number, total = p + s) => ({
  past: wave([p, 2], 1),
  x: wave([s, 2], 2),
  mask: float32(
    [total, 1],
    Array.from({ length: total }, (_, i) => i + 1),
  ),
});

const wanted = ({ past, x, mask }: ReturnType<typeof feedsOf>): number[] =>
  [...(past.data as Float32Array), ...(x.data as Float32Array)].map((v, i) =>
    Math.fround(v * Number(mask.data[mask.dims[0] === 1 ? 0 : i >> 1])),
  );

test("a length that is the sum of two compiles once", async () => {
  const model = loadSmall(cached);
  for (const [p, s] of [
    [3, 2],
    [5, 1],
    [1, 7],
  ] as const) {
    const feeds = feedsOf(p, s);
    assert.equal(numbers((await model.run(feeds)).y as OnnxTensor), wanted(feeds));
  }
  assert.is(model.compiles, 1);
  assert.is(model.specialised, undefined);
});

test("prepare learns it before the first run", async () => {
  const model = loadSmall(cached);
  await model.prepare();
  await model.run(feedsOf(3, 2));
  assert.is(model.compiles, 1);
});

test("an extent of 0 is a program of its own, for all other extents", async () => {
  const model = loadSmall(cached);
  for (const [p, s] of [
    [0, 4],
    [0, 6],
    [4, 1],
    [5, 1],
  ] as const) {
    const feeds = feedsOf(p, s);
    assert.equal(numbers((await model.run(feeds)).y as OnnxTensor), wanted(feeds));
  }
  assert.is(model.compiles, 2);
});

test("a call that is not as was learnt is compiled for its numbers", async () => {
  const model = loadSmall(cached);
  await model.run(feedsOf(3, 2));
  // One weight for all, which stretches.
  const feeds = feedsOf(3, 2, 1);
  assert.equal(numbers((await model.run(feeds)).y as OnnxTensor), wanted(feeds));
  assert.is(model.compiles, 2);
  try {
    await model.run(feedsOf(3, 2, 4));
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /shapes do not broadcast: \[5,2\] and \[4,1\]/);
  }
  await model.run(feedsOf(2, 2));
  assert.is(model.compiles, 2);
});

const halved: SmallModel = {
  inputs: { x: [1, 1, "h", 4] },
  nodes: [
    {
      op: "MaxPool",
      inputs: ["x"],
      outputs: ["a"],
      attributes: { kernel_shape: [2, 1], strides: [2, 1] },
    },
    { op: "Resize", inputs: ["a", "", "scales"], outputs: ["b"], attributes: { mode: "nearest" } },
    { op: "Add", inputs: ["x", "b"] },
  ],
  initializers: { scales: float32([4], [1, 1, 2, 1]) },
};

test("a height that is halved and doubled is a multiple of 2", async () => {
  const model = loadSmall(halved);
  for (const h of [4, 10, 6]) {
    const y = (await model.run({ x: wave([1, 1, h, 4]) })).y as OnnxTensor;
    assert.equal(y.dims, [1, 1, h, 4]);
  }
  assert.is(model.compiles, 1);
  try {
    await model.run({ x: wave([1, 1, 5, 4]) });
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /shapes do not broadcast: \[1,1,5,4\] and \[1,1,4,4\]/);
  }
});

const [p, s, total, h] = ["p", "s", "total", "h"].map((name) => dim(name)) as [Dim, Dim, Dim, Dim];

test("equations take a symbol alone for the other side, and the least multiple that fits", () => {
  const sum = new Equations();
  assert.ok(sum.learn(addDim(p, s), total));
  assert.is(String(sum.apply(mulDim(2, total))), String(mulDim(2, addDim(p, s))));
  const halves = new Equations();
  const quarter = floorDiv(addDim(floorDiv(addDim(h, 1), 2), 1), 2);
  assert.ok(halves.learn(mulDim(4, quarter), h));
  assert.is(String(halves.apply(h)), String(mulDim(4, h)));
  assert.not(new Equations().learn(h, addDim(h, 1)));
  assert.not(new Equations().learn(3, 4));
});

test("symbols are solved one after the other, for integers of 1 at least", () => {
  const sum = addDim(p, s);
  assert.ok(
    solvable([
      [sum, 5],
      [p, 3],
      [mulDim(2, s), 4],
    ]),
  );
  assert.not(
    solvable([
      [sum, 5],
      [p, 3],
      [s, 3],
    ]),
  );
  assert.not(solvable([[mulDim(32, h), 100]]));
  assert.not(solvable([[sum, 5]]));
  assert.not(solvable([[p, 0]]));
  assert.not(solvable([[4, 5]]));
});

test.run();
