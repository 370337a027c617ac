/**
 * Samples of If, Loop and Scan: with states that grow, values from around, trips and conditions
 * that only a run tells.
 */
import type { AttributeDef, ElementType, GraphDef, TypeDef } from "@kiln-ml/onnx";
import { Chain, chain } from "./chains.ts";
import { type Draw, int64, tensorOf } from "./draw.ts";
import type { Sampler } from "./elementwise.ts";

const tensorType = (type: ElementType, shape?: readonly number[]): TypeDef => ({
  kind: "tensor",
  type,
  ...(shape ? { shape } : {}),
});

/** A subgraph as an attribute; `build` gives the names of its outputs. */
function graphOf(
  d: Draw,
  prefix: string,
  inputs: Readonly<Record<string, TypeDef>>,
  build: (c: Chain) => readonly string[],
): AttributeDef {
  const c = new Chain(d, prefix);
  const outputs = build(c);
  const value: GraphDef = {
    name: prefix,
    nodes: c.nodes,
    initializers: c.constants,
    inputs: Object.entries(inputs).map(([name, type]) => ({ name, type })),
    outputs: outputs.map((name) => ({ name, type: undefined })),
    values: [],
  };
  return { kind: "graph", value };
}

const trip = { i: tensorType("int64", []), go: tensorType("bool", []) };
const f32 = (d: Draw, dims: readonly number[]) => d.tensor("float32", dims);
/** Of no trip the runtime gives a shape of its own. */
const rows = (d: Draw): number[] => [d.int(1, 6), d.int(1, 3)];

/** Row i of x, [C]. */
const rowOf = (c: Chain, x: string, i: string): string => c.op("Gather", [x, i], { axis: 0 });

/** The sum of all rows, and the sums on the way. */
const running = chain((d, c) => {
  const body = graphOf(d, "b", { ...trip, s: tensorType("float32") }, (b) => {
    const s = b.op("Add", ["s", rowOf(b, "x0", "i")]);
    return [b.op("Identity", ["go"]), s, b.op("Mul", [s, s])];
  });
  const count = d.chance(0.5) ? c.extent("x0", 0, true) : "x2";
  const go = d.chance(0.5) ? "" : c.value(tensorOf("bool", [], [1]));
  c.op("Loop", [count, go, "x1"], { body }, ["y0", "y1"]);
  const dims = rows(d);
  return { inputs: [f32(d, dims), f32(d, [dims[1]!]), int64(d.int(1, dims[0]!))], outputs: 2 };
});

/** Ends when the sum is great enough. */
const ended = chain((d, c) => {
  const collects = d.chance(0.5);
  const body = graphOf(d, "b", { ...trip, s: tensorType("float32", []) }, (b) => {
    const row = b.op("ReduceSum", [b.op("Abs", [rowOf(b, "x0", "i")])], { keepdims: 0 });
    const s = b.op("Add", ["s", row]);
    const on = b.op("Less", [s, b.value(tensorOf("float32", [], [d.int(1, 9)]))]);
    return collects ? [on, s, b.op("Identity", [s])] : [on, s];
  });
  c.op("Loop", [c.extent("x0", 0, true), "", "x1"], { body }, collects ? ["y0", "y1"] : ["y0"]);
  return { inputs: [f32(d, rows(d)), f32(d, [])], outputs: collects ? 2 : 1 };
});

/** The state is longer after each trip. */
const growing = chain((d, c) => {
  const body = graphOf(d, "b", { ...trip, s: tensorType("float32") }, (b) => {
    const row = b.op("Unsqueeze", [rowOf(b, "x0", "i"), b.list([0])]);
    return [b.op("Identity", ["go"]), b.op("Concat", ["s", row], { axis: 0 })];
  });
  c.op("Loop", [c.extent("x0", 0, true), "", "x1"], { body }, ["y0"]);
  const dims = rows(d);
  return { inputs: [f32(d, dims), f32(d, [d.int(0, 2), dims[1]!])] };
});

/** In each trip one of two branches, by the data. */
const branching = chain((d, c) => {
  const body = graphOf(d, "b", { ...trip, s: tensorType("float32") }, (b) => {
    const row = rowOf(b, "x0", "i");
    const flag = b.op("Greater", [
      b.op("ReduceSum", [row], { keepdims: 0 }),
      b.value(tensorOf("float32", [], [0])),
    ]);
    const branch = (op: string, name: string) =>
      graphOf(d, name, {}, (e) => [e.op(op, ["s", row])]);
    return [
      b.op("Identity", ["go"]),
      b.op("If", [flag], { then_branch: branch("Add", "p"), else_branch: branch("Mul", "q") }),
    ];
  });
  c.op("Loop", [c.extent("x0", 0, true), "", "x1"], { body }, ["y0"]);
  const dims = rows(d);
  return { inputs: [f32(d, dims), f32(d, [dims[1]!])] };
});

const nested = chain((d, c) => {
  const body = graphOf(d, "b", { ...trip, s: tensorType("float32") }, (b) => {
    const row = rowOf(b, "x0", "i");
    const inner = graphOf(
      d,
      "e",
      { j: tensorType("int64", []), on: tensorType("bool", []), t: tensorType("float32") },
      (e) => [
        e.op("Identity", ["on"]),
        e.op("Add", ["t", e.op("Gather", [row, "j"], { axis: 0 })]),
      ],
    );
    const s = b.op("Loop", [b.extent("x0", 1, true), "", "s"], { body: inner });
    return [b.op("Identity", ["go"]), s, b.op("Neg", [s])];
  });
  c.op("Loop", [c.extent("x0", 0, true), "", "x1"], { body }, ["y0", "y1"]);
  return { inputs: [f32(d, rows(d)), f32(d, [d.int(1, 2)])], outputs: 2 };
});

/** The shapes of the branches differ. */
const either = chain((d, c) => {
  const branch = (name: string, build: (e: Chain) => string) =>
    graphOf(d, name, {}, (e) => [build(e)]);
  const one = branch("p", (e) => e.op("Squeeze", ["x0", e.list([0])]));
  const other = branch("q", (e) => e.op(d.pick(["Identity", "Neg"]), ["x0"]));
  const flag = d.chance(0.5)
    ? c.op("Equal", [c.extent("x0", 0, true), c.value(int64(1))])
    : c.op("Greater", ["x1", c.value(tensorOf("float32", [], [0]))]);
  c.op("Relu", [c.op("If", [flag], { then_branch: one, else_branch: other })], {}, ["y0"]);
  const byShape = c.nodes.some((n) => n.op === "Equal");
  return { inputs: [f32(d, [byShape ? d.int(1, 2) : 1, d.int(1, 3)]), f32(d, [])] };
});

const scanned = chain((d, c) => {
  const [t, w] = [d.int(1, 6), d.int(1, 3)];
  const body = graphOf(
    d,
    "b",
    {
      s: tensorType("float32", [w]),
      n: tensorType("float32", []),
      e: tensorType("float32", [w]),
      f: tensorType("float32", [w]),
    },
    (b) => {
      const s = b.op("Add", ["s", b.op("Mul", ["e", "x0"])]);
      const n = b.op("Add", ["n", b.value(tensorOf("float32", [], [1]))]);
      return [s, n, b.op("Mul", [b.op("Sub", [s, "f"]), n]), b.op("Sqrt", [n])];
    },
  );
  const axis = d.int(0, 1);
  const attributes = {
    body,
    num_scan_inputs: 2,
    scan_input_axes: d.maybe([axis - d.pick([0, 2]), 0], axis ? 1 : 0.5),
    scan_input_directions: d.maybe([d.int(0, 1), d.int(0, 1)]),
    scan_output_axes: d.maybe([d.pick([0, 1, -1]), 0]),
    scan_output_directions: d.maybe([d.int(0, 1), d.int(0, 1)]),
  };
  c.op("Scan", ["x1", "x2", "x3", "x4"], attributes, ["y0", "y1", "y2", "y3"]);
  return {
    inputs: [f32(d, [w]), f32(d, [w]), f32(d, []), f32(d, axis ? [w, t] : [t, w]), f32(d, [t, w])],
    outputs: 4,
  };
});

/** Rows gathered in a sequence. */
const sequenced = chain((d, c) => {
  const empty = c.op("SequenceEmpty", []);
  const body = graphOf(
    d,
    "b",
    { ...trip, q: { kind: "sequence", of: tensorType("float32") } },
    (b) => [b.op("Identity", ["go"]), b.op("SequenceInsert", ["q", rowOf(b, "x0", "i")])],
  );
  const all = c.op("Loop", [c.extent("x0", 0, true), "", empty], { body });
  c.op("ConcatFromSequence", [all], { axis: 0, new_axis: d.int(0, 1) }, ["y0"]);
  return { inputs: [f32(d, [d.int(1, 5), d.int(1, 3)])] };
});

export const control: Readonly<Record<string, Sampler>> = {
  "control.running": running,
  "control.ended": ended,
  "control.growing": growing,
  "control.branching": branching,
  "control.nested": nested,
  "control.either": either,
  "control.scanned": scanned,
  "control.sequenced": sequenced,
};
