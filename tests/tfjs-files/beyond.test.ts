/** Ops that TensorFlow.js lacks, and settings that it or a row has no use for: used or refused. */
import { GraphError, type KilnError, ShapeError } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Attribute, GraphWriter } from "./graph.ts";
import { byKiln } from "./oracle.ts";

type Build = (graph: GraphWriter) => string;

async function gives(build: Build, dims: number[], values: number[]): Promise<void> {
  const graph = new GraphWriter();
  graph.output(build(graph));
  for (const open of [false, true]) {
    const [y] = await byKiln(graph, open);
    assert.equal([y!.dims, y!.values], [dims, values], open ? "extents open" : "");
  }
}

async function refuses(
  build: Build,
  part: string,
  Class: new (message: string) => KilnError = GraphError,
): Promise<void> {
  const graph = new GraphWriter();
  graph.output(build(graph));
  try {
    await byKiln(graph, false);
  } catch (error) {
    assert.instance(error, Class);
    assert.match((error as Error).message, part);
    return;
  }
  assert.unreachable(part);
}

const ints = (g: GraphWriter, dims: number[], values: number[]) => g.input(dims, values, "int32");
const range = (n: number) => Array.from({ length: n }, (_, i) => i);

test("the extremes of segments, whose empty ones have the bound of the dtype", async () => {
  const of = (op: string, g: GraphWriter) =>
    g.node(op, [
      ints(g, [4], [5, -7, 3, 9]),
      ints(g, [4], [0, 2, 0, 2]),
      g.constant([], [3], "int32"),
    ]);
  await gives((g) => of("UnsortedSegmentMin", g), [3], [3, 2 ** 31 - 1, -7]);
  await gives((g) => of("UnsortedSegmentMax", g), [3], [5, -(2 ** 31), 9]);
});

test("the diagonal of a tensor with twice the same extents", async () => {
  const of = (g: GraphWriter) => g.node("DiagPart", [g.input([2, 3, 2, 3], range(36))]);
  await gives(of, [2, 3], [0, 7, 14, 21, 28, 35]);
  await refuses(
    (g) => g.node("DiagPart", [g.input([2, 3], range(6))]),
    "x is [2,3], not twice the same extents",
  );
});

/** Three boxes, of which the second overlaps the first by three fifths. */
const kept = (g: GraphWriter, op: string, attrs: Record<string, Attribute>, more: number[] = []) =>
  g.node(
    op,
    [
      g.input([3, 4], [0, 0, 1, 1, 0, 0.25, 1, 1.25, 0, 3, 1, 4]),
      g.input([3], [0.9, 0.8, 0.7]),
      g.constant([], [3], "int32"),
      ...more.map((v) => g.constant([], [v])),
    ],
    attrs,
  );

test("the threshold of the first version of NonMaxSuppression is an attribute", async () => {
  const of = (g: GraphWriter, by?: number) =>
    kept(g, "NonMaxSuppression", by === undefined ? {} : { iou_threshold: by });
  await gives((g) => of(g, 0.75), [3], [0, 1, 2]);
  await gives((g) => of(g), [2], [0, 2]);
});

test("what a row would leave unread is refused", async () => {
  const image = (g: GraphWriter) => g.input([1, 4, 4, 2], range(32));
  const pool = { ksize: [1, 1, 2, 2], strides: [1, 1, 2, 2], padding: "VALID" };
  await refuses(
    (g) => kept(g, "NonMaxSuppressionV5", { pad_to_max_output_size: true }, [0.5, 0, 0]),
    "pad_to_max_output_size is true, which is not supported",
  );
  await refuses(
    (g) => g.node("MaxPoolWithArgmax", [image(g)], { ...pool, data_format: "NCHW" }),
    "places are counted with channels last only",
  );
  await refuses(
    (g) => g.node("MaxPool", [image(g)], { ...pool, data_format: "NCHW_VECT_C" }),
    "data_format is NCHW_VECT_C, not NHWC, NDHWC, NCHW, NCDHW",
  );
  const conv = { strides: [1, 1, 1, 1], padding: "VALID" };
  await refuses(
    (g) =>
      g.node("DepthwiseConv2dNative", [image(g), g.constant([1, 1, 4, 1], [1, 2, 3, 4])], conv),
    "depthwise convolution: x has 2 channels, the filter 4",
    ShapeError,
  );
  await refuses(
    (g) =>
      g.node("Conv2D", [image(g), g.constant([1, 1, 2, 1], [1, 2])], {
        ...conv,
        padding: "EXPLICIT",
        explicit_paddings: [0, 0, 0, 0, 0, 0, 0, 1],
      }),
    "explicit_paddings is [0,0,0,0,0,0,0,1], and only 0 along batch and channels",
  );
});

test.run();
