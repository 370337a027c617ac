/** Models that never end or come to more than memory holds: loops at a run, loops at import, functions of functions. */
import {
  type AttributeDef,
  type FunctionDef,
  type GraphDef,
  ImportedModel,
  type Model,
  type NodeDef,
  type TypeDef,
} from "@kiln-ml/onnx";
import { assign, compile, param, type Tensor, whileLoop } from "kiln-ml";
import { test } from "uvu";
import * as check from "uvu/assert";
import { OnnxModel } from "../../packages/kiln/src/onnx.ts";
import { float32 } from "./small-model.ts";

const tensor = (
  shape: readonly number[],
  type: "float32" | "int64" | "bool" = "float32",
): TypeDef => ({ kind: "tensor", type, shape });

const node = (
  op: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: Readonly<Record<string, AttributeDef>> = {},
  domain = "",
): NodeDef => {
  const map = new Map(Object.entries(attributes));
  return {
    op,
    domain,
    overload: "",
    name: `${op}_${outputs[0]}`,
    inputs,
    outputs,
    attributes: map,
  };
};

const graph = (
  nodes: readonly NodeDef[],
  inputs: Readonly<Record<string, TypeDef>>,
  outputs: readonly string[],
): GraphDef => ({
  name: "g",
  nodes,
  initializers: [],
  inputs: Object.entries(inputs).map(([name, type]) => ({ name, type })),
  outputs: outputs.map((name) => ({ name, type: undefined })),
  values: [],
});

function load(nodes: readonly NodeDef[], functions: readonly FunctionDef[] = []): OnnxModel {
  const opsets = new Map([
    ["", 21],
    ["own", 1],
  ]);
  const model: Model = {
    irVersion: 10,
    producer: "",
    opsets,
    graph: graph(nodes, { x: tensor([2]) }, ["y"]),
    functions,
    metadata: new Map(),
  };
  return new OnnxModel(new ImportedModel(model), { target: "js" }, {});
}

/** A loop without a limit whose condition stays true. */
function endless(body: readonly NodeDef[], collect: readonly string[] = []): OnnxModel {
  const inputs = { i: tensor([], "int64"), go: tensor([], "bool"), s: tensor([2]) };
  const inner = graph([...body, node("Identity", ["go"], ["on"])], inputs, ["on", "t", ...collect]);
  const outputs = ["y", ...collect.map((name) => `${name}s`)];
  return load([node("Loop", ["", "", "x"], outputs, { body: { kind: "graph", value: inner } })]);
}

const x = float32([2], [1, 2]);

async function rejection(work: () => Promise<unknown>): Promise<Error> {
  try {
    await work();
  } catch (error) {
    return error as Error;
  }
  return check.unreachable("it ended by itself") as never;
}

test("a loop that never ends is ended by a signal and by a bound", async () => {
  const m = endless([node("Cos", ["s"], ["t"])]);
  const signal = AbortSignal.timeout(100);
  check.is((await rejection(() => m.run({ x }, { signal }))).name, "TimeoutError");
  check.match(
    (await rejection(() => m.run({ x }, { maxTrips: 100 }))).message,
    /maxTrips, which is 100/,
  );
});

test("a loop that would be written out for ever is refused by the number of its nodes", async () => {
  const collecting = endless([node("Cos", ["s"], ["t"]), node("Neg", ["s"], ["out"])], ["out"]);
  const message = (await rejection(() => collecting.run({ x }))).message;
  check.match(
    message,
    /the model comes to more than 65600 nodes, trip by trip and call by call\n {2}give its loops a body/,
  );
});

test("functions that call functions twice each are refused, and take no memory", async () => {
  const call = (i: number, input: string, output: string) =>
    node(`f${i}`, [input], [output], {}, "own");
  const functions = Array.from(
    { length: 40 },
    (_, i): FunctionDef => ({
      name: `f${i}`,
      domain: "own",
      overload: "",
      inputs: ["a"],
      outputs: ["c"],
      attributes: [],
      defaults: new Map(),
      nodes:
        i === 39 ? [node("Neg", ["a"], ["c"])] : [call(i + 1, "a", "b"), call(i + 1, "b", "c")],
      opsets: new Map([
        ["", 21],
        ["own", 1],
      ]),
    }),
  );
  const m = load([call(0, "x", "y")], functions);
  check.match((await rejection(() => m.run({ x }))).message, /comes to more than 70656 nodes/);
});

test("a compiled function is ended in the same way, and its parameters are as they were", async () => {
  const w = param([1, 2], { name: "w" });
  const f = compile(
    (on: Tensor) => {
      const [last] = whileLoop(
        [w as Tensor, on],
        (_, y) => y!.greater(0),
        (v, y) => [v!.sin(), y!],
      );
      assign(w, last!);
      return last!;
    },
    { target: "js", inputs: [[]] },
  );
  check.is(
    (await rejection(() => f.run([1], { signal: AbortSignal.timeout(60) }))).name,
    "TimeoutError",
  );
  check.match((await rejection(() => f.run([1], { maxTrips: 9 }))).message, /maxTrips, which is 9/);
  check.equal([...(await w.data())], [1, 2]);
  check.equal([...(await (await f.run([0])).data())], [1, 2]);
});

test.run();
