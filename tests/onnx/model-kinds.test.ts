/**
 * Ways in which the graphs of a model hang together: defaults, names that pass through, subgraphs, functions, symbols.
 */
import {
  type AttributeDef,
  checkGraph,
  type FunctionDef,
  type GraphDef,
  ImportedModel,
  type Model,
  type NodeDef,
  readModel,
  type TensorDef,
  type TypeDef,
  writeModel,
} from "@kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { OnnxModel, type OnnxTensor } from "../../packages/kiln/src/onnx.ts";
import { float32, int64, numbers } from "./small-model.ts";

type Shape = readonly (number | string | undefined)[] | undefined;

const tensorType = (shape: Shape, type: "float32" | "int64" | "bool" = "float32"): TypeDef => ({
  kind: "tensor",
  type,
  ...(shape ? { shape } : {}),
});

const node = (
  op: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, AttributeDef>> = {},
  domain = "",
): NodeDef => ({
  op,
  domain,
  overload: "",
  name: `${op}_${outputs[0]}`,
  inputs,
  outputs,
  attributes: new Map(Object.entries(attributes)),
});

interface GraphOptions {
  readonly inputs?: Readonly<Record<string, TypeDef | undefined>>;
  readonly initializers?: Readonly<Record<string, TensorDef>>;
  readonly outputs?: Readonly<Record<string, TypeDef | undefined>>;
}

const graph = (nodes: readonly NodeDef[], options: GraphOptions): GraphDef => ({
  name: "g",
  nodes,
  initializers: Object.entries(options.initializers ?? {}).map(([name, t]) => ({ ...t, name })),
  inputs: Object.entries(options.inputs ?? {}).map(([name, type]) => ({ name, type })),
  outputs: Object.entries(options.outputs ?? { y: undefined }).map(([name, type]) => ({
    name,
    type,
  })),
  values: [],
});

const model = (g: GraphDef, functions: readonly FunctionDef[] = [], opset = 21): Model => ({
  irVersion: 10,
  producer: "",
  opsets: new Map([
    ["", opset],
    ["own", 1],
  ]),
  graph: g,
  functions,
  metadata: new Map(),
});

/** Through the file and back. */
const load = (m: Model, target: "js" | "wasm" = "js"): OnnxModel =>
  new OnnxModel(new ImportedModel(checkGraph(readModel(writeModel(m)))), { target }, {});

async function run(m: Model, inputs: Readonly<Record<string, TensorDef>>) {
  const results = await load(m).run(inputs);
  return Object.fromEntries(
    Object.entries(results).map(([name, t]) => [
      name,
      { dims: [...(t as OnnxTensor).dims], values: numbers(t as OnnxTensor) },
    ]),
  );
}

const is = (dims: readonly number[], values: readonly number[]) => ({ dims, values });
const g = (value: GraphDef): AttributeDef => ({ kind: "graph", value });
const float = (value: number): AttributeDef => ({ kind: "float", value });
const bool = (value: boolean): TensorDef => ({
  name: "",
  type: "bool",
  dims: [],
  data: Uint8Array.of(Number(value)),
});
const x = float32([2], [1, 2]);

test("an initializer that is an input too is a default", async () => {
  const m = model(
    graph([node("Add", ["x", "w"], ["y"])], {
      inputs: { x: tensorType([2]), w: tensorType([2]) },
      initializers: { w: float32([2], [10, 20]) },
    }),
  );
  assert.equal((await run(m, { x })).y, is([2], [11, 22]));
  assert.equal((await run(m, { x, w: float32([2], [0, 1]) })).y, is([2], [1, 3]));
});

test("an input that nothing reads may have no shape, and need not be given twice", async () => {
  const m = model(
    graph([node("Neg", ["x"], ["y"])], {
      inputs: { x: tensorType(["N"]), idle: tensorType(undefined) },
    }),
  );
  assert.equal((await run(m, { x, idle: float32([], [1]) })).y, is([2], [-1, -2]));
});

test("outputs may be inputs, initializers and each other's names, without any node", async () => {
  const m = model(
    graph([], {
      inputs: { x: tensorType(["N"]) },
      initializers: { w: int64([3, 4]) },
      outputs: { x: undefined, w: undefined },
    }),
  );
  const results = await run(m, { x });
  assert.equal(results.x, is([2], [1, 2]));
  assert.equal(results.w, is([2], [3, 4]));
});

test("a graph without inputs gives constants", async () => {
  const m = model(
    graph([node("Constant", [], ["y"], { value_floats: { kind: "floats", value: [1, 2.5] } })], {}),
  );
  assert.equal((await run(m, {})).y, is([2], [1, 2.5]));
});

test("a subgraph sees names around it, and its own hide them", async () => {
  const inner = graph([node("Mul", ["x", "w"], ["t"]), node("Add", ["t", "x"], ["r"])], {
    initializers: { w: float32([1], [3]) },
    outputs: { r: undefined },
  });
  const other = graph([node("Identity", ["w"], ["r2"])], { outputs: { r2: undefined } });
  const outer = graph(
    [node("If", ["c"], ["y"], { then_branch: g(inner), else_branch: g(other) })],
    {
      inputs: { x: tensorType([2]), c: tensorType([], "bool") },
      initializers: { w: float32([2], [7, 8]) },
    },
  );
  assert.equal((await run(model(outer), { x, c: bool(true) })).y, is([2], [4, 8]));
  assert.equal((await run(model(outer), { x, c: bool(false) })).y, is([2], [7, 8]));
});

test("branches may give what comes from outside, and different shapes", async () => {
  const yes = graph([], { outputs: { x: undefined } });
  const no = graph([node("Concat", ["x", "x"], ["r"], { axis: { kind: "int", value: 0 } })], {
    outputs: { r: undefined },
  });
  const outer = graph(
    [
      node("If", ["c"], ["t"], { then_branch: g(yes), else_branch: g(no) }),
      node("Neg", ["t"], ["y"]),
    ],
    { inputs: { x: tensorType(["N"]), c: tensorType([1], "bool") } },
  );
  const c = (v: boolean) => ({ ...bool(v), dims: [1] });
  assert.equal((await run(model(outer), { x, c: c(true) })).y, is([2], [-1, -2]));
  assert.equal((await run(model(outer), { x, c: c(false) })).y, is([4], [-1, -2, -1, -2]));
});

/** s ← s + s; the condition is s < 20; the sums are collected. */
const doubling = (collect: boolean, inner: TypeDef | undefined = tensorType([2])) =>
  graph(
    [
      node("Add", ["s", "s"], ["s2"]),
      node("ReduceMax", ["s2"], ["m"], { keepdims: { kind: "int", value: 0 } }),
      node("Less", ["m", "limit"], ["on"]),
      ...(collect ? [node("Identity", ["s2"], ["out"])] : []),
    ],
    {
      inputs: { i: tensorType([], "int64"), go: tensorType([], "bool"), s: inner },
      outputs: { on: undefined, s2: undefined, ...(collect ? { out: undefined } : {}) },
    },
  );

const loopOf = (inputs: readonly string[], collect: boolean, more: GraphOptions["inputs"] = {}) =>
  model(
    graph([node("Loop", inputs, collect ? ["y", "ys"] : ["y"], { body: g(doubling(collect)) })], {
      inputs: { x: tensorType([2]), ...more },
      initializers: { limit: float32([], [20]) },
      outputs: { y: undefined, ...(collect ? { ys: undefined } : {}) },
    }),
  );

test("a loop without a limit and a condition ends when its body says so", async () => {
  assert.equal((await run(loopOf(["", "", "x"], false), { x })).y, is([2], [16, 32]));
  const both = await run(loopOf(["", "", "x"], true), { x });
  assert.equal(both.y, is([2], [16, 32]));
  assert.equal(both.ys, is([4, 2], [2, 4, 4, 8, 8, 16, 16, 32]));
});

test("a loop of no trips gives its start, and collects nothing of a known shape", async () => {
  const m = loopOf(["n", "", "x"], true, { n: tensorType([], "int64") });
  const none = await run(m, { x, n: int64(0) });
  assert.equal(none.y, is([2], [1, 2]));
  assert.equal(none.ys, is([0, 2], []));
  assert.equal((await run(m, { x, n: int64(2) })).ys, is([2, 2], [2, 4, 4, 8]));
  const stopped = loopOf(["", "c", "x"], true, { c: tensorType([], "bool") });
  assert.equal((await run(stopped, { x, c: bool(false) })).ys, is([0, 2], []));
});

test("a scan has several states, and may have no steps", async () => {
  const body = graph(
    [
      node("Add", ["a", "e"], ["a2"]),
      node("Mul", ["b", "e"], ["b2"]),
      node("Sub", ["a2", "b2"], ["out"]),
    ],
    {
      inputs: { a: tensorType([2]), b: tensorType([2]), e: tensorType([2]) },
      outputs: { a2: undefined, b2: undefined, out: undefined },
    },
  );
  const ints = (value: readonly number[]): AttributeDef => ({ kind: "ints", value });
  const attributes = {
    body: g(body),
    num_scan_inputs: { kind: "int", value: 1 } as const,
    scan_input_axes: ints([-1]),
    scan_output_axes: ints([-1]),
    scan_input_directions: ints([1]),
  };
  const m = model(
    graph([node("Scan", ["x", "x", "es"], ["a", "b", "ys"], attributes)], {
      inputs: { x: tensorType([2]), es: tensorType([2, "T"]) },
      outputs: { a: undefined, b: undefined, ys: undefined },
    }),
  );
  const results = await run(m, { x, es: float32([2, 3], [1, 2, 3, 4, 5, 6]) });
  assert.equal(results.a, is([2], [7, 17]));
  assert.equal(results.b, is([2], [6, 240]));
  assert.equal(results.ys, is([2, 3], [1, 0, 1, -4, -47, -223]));
  const empty = await run(m, { x, es: float32([2, 0], []) });
  assert.equal(empty.a, is([2], [1, 2]));
  assert.equal(empty.ys, is([2, 0], []));
});

const own = (
  name: string,
  inputs: readonly string[],
  outputs: readonly string[],
  nodes: readonly NodeDef[],
  attributes: readonly string[] = [],
  defaults: Readonly<Record<string, AttributeDef>> = {},
): FunctionDef => ({
  name,
  domain: "own",
  overload: "",
  inputs,
  outputs,
  attributes,
  defaults: new Map(Object.entries(defaults)),
  nodes,
  opsets: new Map([
    ["", 21],
    ["own", 1],
  ]),
});

const ref = (value: string): AttributeDef => ({ kind: "reference", value });

test("functions take attributes, defaults and other functions", async () => {
  const leaky = own(
    "leaky",
    ["a"],
    ["b"],
    [node("LeakyRelu", ["a"], ["b"], { alpha: ref("slope") })],
    [],
    { slope: float(0.5) },
  );
  const twice = own(
    "twice",
    ["a"],
    ["c"],
    [
      node("leaky", ["a"], ["b"], { slope: ref("s") }, "own"),
      node("leaky", ["b"], ["c"], {}, "own"),
    ],
    ["s"],
  );
  const m = (attributes: Readonly<Record<string, AttributeDef>>) =>
    model(
      graph([node("twice", ["x"], ["y"], attributes, "own")], { inputs: { x: tensorType(["N"]) } }),
      [twice, leaky],
    );
  const values = float32([2], [-4, 3]);
  assert.equal((await run(m({ s: float(0.25) }), { x: values })).y, is([2], [-0.5, 3]));
  assert.equal((await run(m({}), { x: values })).y, is([2], [-1, 3]));
});

test("an input of a function that its caller leaves out is left out inside", async () => {
  const limit = own(
    "limit",
    ["a", "low", "high"],
    ["b"],
    [node("Clip", ["a", "low", "high"], ["b"])],
  );
  const m = (inputs: readonly string[]) =>
    model(
      graph([node("limit", inputs, ["y"], {}, "own")], {
        inputs: { x: tensorType([2]) },
        initializers: { w: float32([], [1.5]) },
      }),
      [limit],
    );
  assert.equal((await run(m(["x", "", "w"]), { x })).y, is([2], [1, 1.5]));
  assert.equal((await run(m(["x", "w"]), { x })).y, is([2], [1.5, 2]));
  assert.equal((await run(m(["x"]), { x })).y, is([2], [1, 2]));
});

test("attributes of a function's caller reach the subgraphs in it", async () => {
  const inside = (alpha: AttributeDef) =>
    graph([node("LeakyRelu", ["a"], ["r"], { alpha })], { outputs: { r: undefined } });
  const f = own(
    "choose",
    ["a", "c"],
    ["b"],
    [
      node("If", ["c"], ["b"], {
        then_branch: g(inside(ref("slope"))),
        else_branch: g(inside(float(1))),
      }),
    ],
    ["slope"],
  );
  const m = model(
    graph([node("choose", ["x", "c"], ["y"], { slope: float(0.5) }, "own")], {
      inputs: { x: tensorType([2]), c: tensorType([], "bool") },
    }),
    [f],
  );
  const values = float32([2], [-4, 3]);
  assert.equal((await run(m, { x: values, c: bool(true) })).y, is([2], [-2, 3]));
  assert.equal((await run(m, { x: values, c: bool(false) })).y, is([2], [-4, 3]));
});

test("symbols may be any text, and are different where the texts are", async () => {
  const m = model(
    graph([node("MatMul", ["x", "w"], ["y"])], {
      inputs: { x: tensorType(["批", "a-b"]), w: tensorType(["a-b", "a_b"]) },
    }),
  );
  const loaded = load(m);
  const results = await loaded.run({
    x: float32([1, 2], [1, 2]),
    w: float32([2, 3], [1, 2, 3, 4, 5, 6]),
  });
  assert.equal(numbers(results.y as OnnxTensor), [9, 12, 15]);
  assert.is(loaded.specialised, undefined);
});

test("an extent without a name is another one than a symbol of the name it is given", async () => {
  const m = model(
    graph([node("Transpose", ["x"], ["y"])], {
      inputs: { x: tensorType([undefined, "x_0", "x_1", undefined]) },
    }),
  );
  const values = Array.from({ length: 24 }, (_, i) => i);
  const results = await run(m, { x: float32([1, 2, 3, 4], values) });
  assert.equal(results.y!.dims, [4, 3, 2, 1]);
});

test("a standard op without an opset of its domain is of the newest that there is", async () => {
  const m = model(graph([node("Neg", ["x"], ["y"])], { inputs: { x: tensorType([2]) } }));
  assert.equal((await run({ ...m, opsets: new Map() }, { x })).y, is([2], [-1, -2]));
});

test.run();
