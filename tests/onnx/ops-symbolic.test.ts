/**
 * Ops over symbolic extents: one program for all extents gives what a program for each of them gives.
 */

import { test } from "uvu";
import * as assert from "uvu/assert";
import type { OnnxTensor } from "../../packages/kiln/src/onnx.ts";
import {
  type Arrays,
  float32,
  int64,
  loadSmall,
  numbers,
  type SmallModel,
  type SmallNode,
  wave,
} from "./small-model.ts";

interface Options extends Omit<SmallModel, "inputs" | "nodes"> {
  /** The declared shape of x. */
  readonly shape: readonly (number | string)[];
  /** Extents of x to run with. */
  readonly extents: readonly (readonly number[])[];
  readonly dims?: Readonly<Record<string, string>>;
}

const last = 9223372036854775807n;

function check(name: string, nodes: readonly SmallNode[], options: Options): void {
  test(name, async () => {
    const { shape, extents, dims, ...rest } = options;
    const symbolic = loadSmall({ ...rest, inputs: { x: shape }, nodes }, dims);
    for (const at of extents) {
      const inputs: Arrays = { x: wave(at) };
      const got = Object.values(await symbolic.run(inputs)) as OnnxTensor[];
      const fixed = loadSmall({ ...rest, inputs: { x: at }, nodes });
      const want = Object.values(await fixed.run(inputs)) as OnnxTensor[];
      assert.is(symbolic.specialised, undefined);
      for (const [i, t] of want.entries()) {
        assert.equal(got[i]!.dims, t.dims);
        const [a, b] = [numbers(got[i]!), numbers(t)];
        for (const [k, v] of b.entries())
          assert.ok(Math.abs(a[k]! - v) <= 1e-5 + 1e-5 * Math.abs(v), `${k}: ${a[k]} and ${v}`);
      }
    }
    assert.is(symbolic.compiles, 1);
  });
}

const image = {
  shape: [1, 2, "h", "w"],
  extents: [
    [1, 2, 8, 12],
    [1, 2, 4, 16],
  ],
};

check(
  "a pyramid of strided convolutions is joined again",
  [
    {
      op: "Conv",
      inputs: ["x", "w1"],
      outputs: ["a"],
      attributes: { strides: [2, 2], pads: [1, 1, 1, 1] },
    },
    {
      op: "Conv",
      inputs: ["a", "w2"],
      outputs: ["b"],
      attributes: { strides: [2, 2], pads: [1, 1, 1, 1] },
    },
    {
      op: "Resize",
      inputs: ["b", "", "scales"],
      outputs: ["c"],
      attributes: {
        mode: "nearest",
        coordinate_transformation_mode: "asymmetric",
        nearest_mode: "floor",
      },
    },
    { op: "Add", inputs: ["a", "c"], outputs: ["d"] },
    { op: "Concat", inputs: ["a", "d"], attributes: { axis: 1 } },
  ],
  {
    ...image,
    dims: { h: "4*h", w: "4*w" },
    initializers: {
      w1: wave([3, 2, 3, 3]),
      w2: wave([3, 3, 3, 3], 2),
      scales: float32([4], [1, 1, 2, 2]),
    },
  },
);

const sizes: readonly SmallNode[] = [
  { op: "Shape", inputs: ["x"], outputs: ["s"] },
  { op: "Slice", inputs: ["s", "two", "end", "zero"], outputs: ["hw"] },
  { op: "Mul", inputs: ["hw", "three"], outputs: ["big"] },
  { op: "Shape", inputs: ["x"], outputs: ["nc"], attributes: { end: 2 } },
  { op: "Concat", inputs: ["nc", "big"], outputs: ["sizes"], attributes: { axis: 0 } },
];
const lists = {
  two: int64([2]),
  three: int64([3]),
  zero: int64([0]),
  end: int64([last]),
};

for (const mode of ["nearest", "linear", "cubic"])
  for (const place of ["half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"])
    check(
      `a ${mode} resize to sizes made of a shape, ${place}`,
      [
        ...sizes,
        {
          op: "Resize",
          inputs: ["x", "", "", "sizes"],
          attributes: { mode, coordinate_transformation_mode: place },
        },
      ],
      { ...image, initializers: lists },
    );

check(
  "a resize to an extent that is no multiple",
  [
    { op: "Shape", inputs: ["x"], outputs: ["s"] },
    { op: "Add", inputs: ["s", "more"], outputs: ["sizes"] },
    { op: "Resize", inputs: ["x", "", "", "sizes"], attributes: { mode: "linear" } },
  ],
  { ...image, initializers: { more: int64([0, 0, 3, 2]) } },
);

for (const mode of ["nearest", "linear"])
  check(
    `a ${mode} resize to an extent that is a number`,
    [{ op: "Resize", inputs: ["x", "", "", "sizes"], attributes: { mode } }],
    { ...image, initializers: { sizes: int64([1, 2, 6, 5]) } },
  );

check(
  "slices from the end, to the end and backwards",
  [
    { op: "Slice", inputs: ["x", "s1", "e1", "a1"], outputs: ["a"] },
    { op: "Slice", inputs: ["x", "s2", "e2", "a1", "back"], outputs: ["b"] },
    { op: "Slice", inputs: ["x", "s3", "e3", "a1", "steps"], outputs: ["c"] },
    { op: "ReduceSum", inputs: ["a"], outputs: ["d"] },
    { op: "Mul", inputs: ["b", "d"], outputs: ["e"] },
  ],
  {
    ...image,
    outputs: ["a", "c", "e"],
    initializers: {
      a1: int64([2, 3]),
      s1: int64([1, -3]),
      e1: int64([last, last]),
      s2: int64([-1, -2]),
      e2: int64([-last, 1]),
      back: int64([-1, -2]),
      s3: int64([0, 1]),
      e3: int64([-1, 1000]),
      steps: int64([2, 3]),
    },
  },
);

for (const mode of ["constant", "reflect", "edge", "wrap"])
  check(
    `padding: ${mode}`,
    [{ op: "Pad", inputs: ["x", "pads", "", "axes"], attributes: { mode } }],
    { ...image, initializers: { pads: int64([1, 2, 2, 0]), axes: int64([-2, -1]) } },
  );

const pool = { kernel_shape: [3, 2], strides: [2, 2] };
check(
  "pools with rules for padding",
  [
    { op: "MaxPool", inputs: ["x"], outputs: ["a", "i"], attributes: { ...pool, ceil_mode: 1 } },
    {
      op: "AveragePool",
      inputs: ["x"],
      outputs: ["b"],
      attributes: { ...pool, auto_pad: "SAME_UPPER" },
    },
    {
      op: "LpPool",
      inputs: ["x"],
      outputs: ["c"],
      attributes: { ...pool, auto_pad: "SAME_LOWER" },
    },
    { op: "GlobalAveragePool", inputs: ["x"], outputs: ["d"] },
  ],
  { ...image, outputs: ["a", "i", "b", "c", "d"], dims: { h: "2*h", w: "2*w" } },
);

check(
  "windows of 3 over extents that may be 1",
  [
    { op: "MaxPool", inputs: ["x"], outputs: ["a"], attributes: { kernel_shape: [3, 3] } },
    { op: "Conv", inputs: ["x", "w"], outputs: ["b"] },
    {
      op: "AveragePool",
      inputs: ["x"],
      outputs: ["c"],
      attributes: { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1], ceil_mode: 1 },
    },
    {
      op: "MaxPool",
      inputs: ["x"],
      outputs: ["d"],
      attributes: { kernel_shape: [3, 3], strides: [2, 2], auto_pad: "SAME_UPPER" },
    },
  ],
  { ...image, outputs: ["a", "b", "c", "d"], initializers: { w: wave([2, 2, 3, 3]) } },
);

check(
  "a transposed convolution",
  [
    {
      op: "ConvTranspose",
      inputs: ["x", "w"],
      attributes: { strides: [2, 3], pads: [1, 0, 1, 1], output_padding: [1, 0] },
    },
  ],
  { ...image, initializers: { w: wave([2, 2, 3, 3]) } },
);

check(
  "extents as values: Range, Expand, Tile, OneHot, EyeLike, Trilu",
  [
    { op: "Shape", inputs: ["x"], outputs: ["s"] },
    { op: "Gather", inputs: ["s", "minus"], outputs: ["n"] },
    { op: "Gather", inputs: ["s", "first"], outputs: ["m"] },
    { op: "Range", inputs: ["zero", "n", "one"], outputs: ["r"] },
    { op: "Unsqueeze", inputs: ["r", "axis"], outputs: ["column"] },
    { op: "OneHot", inputs: ["r", "n", "values"], outputs: ["hot"] },
    { op: "EyeLike", inputs: ["x"], outputs: ["eye"], attributes: { k: 1 } },
    { op: "Trilu", inputs: ["x"], outputs: ["upper"] },
    { op: "Tile", inputs: ["x", "repeats"], outputs: ["tiled"] },
    { op: "Flatten", inputs: ["x"], outputs: ["flat"], attributes: { axis: 0 } },
    { op: "Size", inputs: ["x"], outputs: ["size"] },
  ],
  {
    shape: ["n", 3],
    extents: [
      [4, 3],
      [2, 3],
    ],
    outputs: ["column", "hot", "eye", "upper", "tiled", "flat", "size", "m"],
    initializers: {
      minus: int64(-2),
      first: int64([1]),
      zero: int64(0),
      one: int64(1),
      axis: int64([1]),
      values: float32([2], [-1, 5]),
      repeats: int64([2, 3]),
    },
  },
);

check(
  "reading and writing by place",
  [
    { op: "Gather", inputs: ["x", "i"], outputs: ["a"], attributes: { axis: 1 } },
    { op: "GatherND", inputs: ["x", "nd"], outputs: ["b"] },
    { op: "ScatterND", inputs: ["x", "nd", "u"], outputs: ["c"], attributes: { reduction: "mul" } },
    { op: "Split", inputs: ["x"], outputs: ["d", "e"], attributes: { axis: 0, num_outputs: 2 } },
  ],
  {
    shape: ["n", "m"],
    extents: [
      [4, 5],
      [6, 3],
    ],
    dims: { n: "2*n" },
    outputs: ["a", "b", "c", "d", "e"],
    initializers: {
      i: int64([-1, 0, -2]),
      nd: { ...int64([0, -1, -2, 1]), dims: [2, 2] },
      u: float32([2], [10, 20]),
    },
  },
);

test("what is not equal for all extents is compiled for those at hand", async () => {
  const model: SmallModel = {
    inputs: { x: ["n"] },
    nodes: [
      { op: "Slice", inputs: ["x", "one", "end"], outputs: ["tail"] },
      { op: "Add", inputs: ["x", "tail"] },
    ],
    initializers: { one: int64([1]), end: int64([2 ** 31 - 1]) },
  };
  const loaded = loadSmall(model);
  const y = (await loaded.run({ x: float32([2], [1, 5]) })).y as OnnxTensor;
  assert.equal(numbers(y), [6, 10]);
  assert.match(loaded.specialised ?? "", /Add1: /);
});

test.run();
