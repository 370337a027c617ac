/** Nodes come back in order; names that are missing or given twice, cycles and recursion are refused. */
import { ArtifactError } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { checkGraph } from "../../packages/onnx/src/proto/check.ts";
import type { FunctionDef, GraphDef, Model, NodeDef } from "../../packages/onnx/src/proto/model.ts";

const value = (name: string) => ({ name, type: undefined });

const node = (op: string, inputs: string[], outputs: string[], ...graphs: GraphDef[]): NodeDef => ({
  op,
  domain: op.startsWith("f") ? "local" : "",
  overload: "",
  name: "",
  inputs,
  outputs,
  attributes: new Map(graphs.map((g, i) => [`g${i}`, { kind: "graph", value: g }])),
});

const graphOf = (inputs: string[], nodes: NodeDef[], outputs: string[]): GraphDef => ({
  name: "g",
  nodes,
  initializers: [],
  inputs: inputs.map(value),
  outputs: outputs.map(value),
  values: [],
});

const modelOf = (graph: GraphDef, functions: FunctionDef[] = []): Model => ({
  irVersion: 8,
  producer: "",
  opsets: new Map([["", 21]]),
  graph,
  functions,
  metadata: new Map(),
});

const functionOf = (name: string, nodes: NodeDef[]): FunctionDef => ({
  name,
  domain: "local",
  overload: "",
  inputs: ["x"],
  outputs: ["y"],
  attributes: [],
  defaults: new Map(),
  nodes,
  opsets: new Map(),
});

const opsOf = (model: Model): string[] => checkGraph(model).graph.nodes.map((n) => n.op);

function refuses(model: Model, message: string): void {
  try {
    checkGraph(model, "m.onnx");
  } catch (error) {
    assert.instance(error, ArtifactError);
    assert.is((error as Error).message, message);
    return;
  }
  assert.unreachable(`checked, though: ${message}`);
}

test("nodes in any order come back after what they need", () => {
  const chain = Array.from({ length: 20 }, (_, i) =>
    node(`Op${i}`, [i ? `v${i - 1}` : "x", ...(i > 3 ? [`v${i - 3}`] : [])], [`v${i}`]),
  );
  fc.assert(
    fc.property(fc.shuffledSubarray(chain, { minLength: chain.length }), (nodes) => {
      assert.equal(
        opsOf(modelOf(graphOf(["x"], nodes, ["v19"]))),
        chain.map((n) => n.op),
      );
    }),
  );
});

test("a chain of a hundred thousand nodes, written backwards, is sorted", () => {
  const nodes = Array.from({ length: 100_000 }, (_, i) => node("Neg", [`v${i}`], [`v${i + 1}`]));
  const { graph } = checkGraph(modelOf(graphOf(["v0"], nodes.toReversed(), ["v100000"])));
  assert.equal(graph.nodes.at(-1)!.outputs, ["v100000"]);
});

test("what a graph inside a node reads from outside comes before the node", () => {
  const inner = graphOf([], [node("Add", ["late", "x"], ["sum"])], ["sum"]);
  const nodes = [node("If", ["x"], ["y"], inner), node("Neg", ["x"], ["late"])];
  assert.equal(opsOf(modelOf(graphOf(["x"], nodes, ["y"]))), ["Neg", "If"]);
  // Nodes of the inner graph are sorted too, and names may hide outer ones.
  const twisted = graphOf([], [node("B", ["x2"], ["x"]), node("A", [], ["x2"])], ["x"]);
  const checked = checkGraph(modelOf(graphOf(["x"], [node("If", ["x"], ["y"], twisted)], ["y"])));
  const attribute = checked.graph.nodes[0]!.attributes.get("g0");
  assert.ok(attribute?.kind === "graph");
  assert.equal(
    attribute.value.nodes.map((n) => n.op),
    ["A", "B"],
  );
});

test("names that nothing gives, or two nodes, are refused", () => {
  refuses(
    modelOf(graphOf(["x"], [node("Add", ["x", "z"], ["y"])], ["y"])),
    'm.onnx: graph "g": Add of "y" needs "z", which nothing gives',
  );
  refuses(modelOf(graphOf(["x"], [], ["y"])), 'm.onnx: graph "g": output "y" is given by no node');
  refuses(
    modelOf(graphOf(["x"], [node("Neg", ["x"], ["y"]), node("Abs", ["x"], ["y"])], ["y"])),
    'm.onnx: graph "g": "y", which Abs of "y" gives, is given twice',
  );
  refuses(
    modelOf(graphOf(["x"], [node("Neg", ["x"], ["x"])], ["x"])),
    'm.onnx: graph "g": "x", which Neg of "x" gives, is given twice',
  );
  refuses(modelOf(graphOf(["x", "x"], [], [])), 'm.onnx: graph "g": input "x" is declared twice');
});

test("an input or output that is left out has no name", () => {
  const nodes = [node("Clip", ["x", "", "x"], ["", "y"])];
  assert.equal(opsOf(modelOf(graphOf(["x"], nodes, ["y"]))), ["Clip"]);
});

test("nodes that need each other are named", () => {
  const nodes = [node("Neg", ["b"], ["a"]), node("Abs", ["a"], ["b"]), node("Exp", ["a"], ["y"])];
  refuses(
    modelOf(graphOf([], nodes, ["y"])),
    'm.onnx: graph "g": nodes need each other: Neg of "a", Abs of "b"',
  );
});

test("functions come in an order of calls; recursion and two of one name are refused", () => {
  const call = (name: string) => node(name, ["x"], ["y"]);
  const [f, g, h] = [
    functionOf("f", [call("fg")]),
    functionOf("fg", [call("fh")]),
    functionOf("fh", [node("Neg", ["x"], ["y"])]),
  ];
  const graph = graphOf(["x"], [call("f")], ["y"]);
  assert.equal(
    checkGraph(modelOf(graph, [f!, g!, h!])).functions.map((x) => x.name),
    ["fh", "fg", "f"],
  );
  refuses(
    modelOf(graph, [f!, g!, functionOf("fh", [call("f")])]),
    'm.onnx: functions call each other: "f", "fg", "fh"',
  );
  refuses(modelOf(graph, [h!, h!]), 'm.onnx: two functions are named "fh"');
});

test("functions that double at each level are refused before they are expanded", () => {
  const doubling = Array.from({ length: 40 }, (_, i) =>
    functionOf(`f${i}`, [node(`f${i + 1}`, ["x"], ["z"]), node(`f${i + 1}`, ["z"], ["y"])]),
  );
  const all = [...doubling, functionOf("f40", [node("Neg", ["x"], ["y"])])];
  refuses(
    modelOf(graphOf(["x"], [node("f0", ["x"], ["y"])], ["y"]), all),
    "m.onnx: its functions expand to 1099511627776 nodes, more than 1000000",
  );
});

test.run();
