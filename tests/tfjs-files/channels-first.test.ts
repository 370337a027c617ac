/**
 * An op with channels first gives what TensorFlow.js gives with channels last, the axes put back.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type Case, convolutions } from "./cases.ts";
import { type Attribute, GraphWriter } from "./graph.ts";
import { agree, byKiln, byTfjs } from "./oracle.ts";

const ops: ReadonlySet<string> = new Set(
  `Conv2D DepthwiseConv2dNative Conv3D _FusedConv2D FusedDepthwiseConv2dNative
  MaxPool AvgPool MaxPool3D AvgPool3D FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3`.split(
    /\s+/,
  ),
);

const chosen = convolutions.filter(({ op }) => ops.has(op));
const rankOf = ({ op }: Case): number => (op.includes("3D") ? 5 : 4);
const toFirst = (rank: number): number[] => [0, rank - 1, ...range(rank - 2).map((i) => i + 1)];
const toLast = (rank: number): number[] => [0, ...range(rank - 2).map((i) => i + 2), 1];
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Lists with an entry, or two, for each axis are put in the other order. */
function turned(value: Attribute, rank: number): Attribute {
  if (!Array.isArray(value) || typeof value[0] !== "number") return value;
  const each = value.length / rank;
  return toFirst(rank).flatMap((i) => value.slice(i * each, (i + 1) * each));
}

function nodeOf(graph: GraphWriter, c: Case, first: boolean): string {
  const inputs = c.inputs.map((make) => make(graph));
  const rank = rankOf(c);
  if (!first) return graph.node(c.op, inputs, c.attrs);
  const moved = (x: string, order: number[]) =>
    graph.node("Transpose", [x, graph.constant([rank], order, "int32")]);
  const attrs = Object.fromEntries(
    Object.entries(c.attrs).map(([name, value]) => [name, turned(value, rank)]),
  );
  const operands = [moved(inputs[0]!, toFirst(rank)), ...inputs.slice(1)];
  const format = rank === 5 ? "NCDHW" : "NCHW";
  return moved(graph.node(c.op, operands, { ...attrs, data_format: format }), toLast(rank));
}

function graphOf(first: boolean): GraphWriter {
  const graph = new GraphWriter();
  for (const c of chosen) graph.output(nodeOf(graph, c, first));
  return graph;
}

test("convolutions, pools and normalisation", async () => {
  assert.ok(chosen.length > 15);
  const wanted = await byTfjs(graphOf(false));
  const got = await byKiln(graphOf(true), false);
  for (const [i, c] of chosen.entries()) agree(got[i]!, wanted[i]!, JSON.stringify(c));
});

test("a pool whose sizes are inputs", async () => {
  const graph = new GraphWriter();
  const x = graph.input(
    [1, 1, 4, 6],
    range(24).map((i) => (i * 7) % 24),
  );
  const sizes = (list: number[]) => graph.constant([4], list, "int32");
  graph.output(
    graph.node("MaxPoolV2", [x, sizes([1, 1, 2, 3]), sizes([1, 1, 2, 3])], {
      padding: "VALID",
      data_format: "NCHW",
    }),
  );
  const [y] = await byKiln(graph, false);
  assert.equal(y, { type: "float32", dims: [1, 1, 2, 2], values: [18, 22, 20, 23] });
});

test.run();
