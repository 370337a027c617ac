/**
 * Branches and loops. A region becomes a graph inside the node, which sees the outer names: captured values need no
 * inputs. Its own builder writes it, so that nothing of it is used outside.
 */
import { type Dim, type Graph, scanParts, type Tensor } from "@kiln-ml/ir";
import type { GraphDef, ValueDef } from "../../proto/model.ts";
import type { Builder } from "../builder.ts";
import type { Row } from "../row.ts";
import { valueDef } from "../value.ts";

/** Writes the results of a region, whose parameters are given by name, and returns their names. */
export type WriteRegion = (b: Builder, region: Graph, given: readonly string[]) => string[];

interface Output {
  readonly name: string;
  readonly type: ValueDef["type"];
}

/** A graph gives each output once, by a node of its own. */
function graphOf(
  b: Builder,
  name: string,
  inputs: readonly ValueDef[],
  outputs: readonly Output[],
): GraphDef {
  const own = outputs.map(({ name, type }) => {
    const copy = b.fresh(name);
    b.nodes.push({
      op: "Identity",
      domain: "",
      overload: "",
      name: copy,
      inputs: [name],
      outputs: [copy],
      attributes: new Map(),
    });
    return { name: copy, type };
  });
  return { name, nodes: b.nodes, initializers: [], inputs, outputs: own, values: [] };
}

const typed = (names: readonly string[], tensors: readonly Tensor[]): Output[] =>
  names.map((name, i) => ({ name, type: valueDef("", tensors[i]!).type }));

const scalarType = (type: "int64" | "bool"): ValueDef["type"] => ({
  kind: "tensor",
  type,
  shape: [],
});

const cond =
  (write: WriteRegion): Row =>
  (c) => {
    const [flag, ...captures] = c.operandNames as [string, ...string[]];
    const branch = (region: Graph, name: string): GraphDef => {
      const b = c.b.inner();
      return graphOf(b, name, [], typed(write(b, region, captures), region.results));
    };
    const [yes, no] = c.node.regions as [Graph, Graph];
    const attributes = { then_branch: branch(yes, "then"), else_branch: branch(no, "else") };
    return c.b.several("If", [flag], attributes, yes.results.length);
  };

const whileLoop =
  (write: WriteRegion): Row =>
  (c) => {
    const [test, body] = c.node.regions as [Graph, Graph];
    const n = Number(c.node.attrs.carries);
    const [init, captures] = [c.operandNames.slice(0, n), c.operandNames.slice(n)];
    const most = c.node.attrs.maxTrips as number | undefined;
    const trips = most === undefined ? "" : c.b.int(most);
    const [first] = write(c.b, test, [...init, ...captures]);
    const b = c.b.inner();
    const { inputs, carried } = loopInputs(b, body.params.slice(0, n));
    const next = write(b, body, [...carried, ...captures]);
    const [again] = write(b, test, [...next, ...captures]);
    const outputs = [{ name: again!, type: scalarType("bool") }, ...typed(next, body.results)];
    const graph = graphOf(b, "body", inputs, outputs);
    return c.b.several("Loop", [trips, first!, ...init], { body: graph }, n);
  };

const scan =
  (write: WriteRegion): Row =>
  (c) => {
    const region = c.node.regions[0]!;
    const { init, xs, captures } = scanParts(c.node.attrs, c.operandNames);
    const length = c.node.attrs.length as Dim;
    const backwards = c.node.attrs.reverse === true;
    const b = c.b.inner();
    const { inputs, step, condition, carried } = loopInputs(
      b,
      region.params.slice(1, 1 + init.length),
    );
    const last = b.op("Sub", [c.b.dimScalar(length), b.int(1)]);
    const at = backwards ? b.op("Sub", [last, step]) : step;
    const elements = xs.map((x) => b.op("Gather", [x, at], { axis: 0 }));
    const results = write(b, region, [b.castInts(at), ...carried, ...elements, ...captures]);
    const always = { name: condition, type: scalarType("bool") };
    const graph = graphOf(b, "body", inputs, [always, ...typed(results, region.results)]);
    const trips = c.b.dimScalar(length);
    const loop = c.b.several("Loop", [trips, "", ...init], { body: graph }, results.length);
    // What is stacked comes in the order of the steps.
    return loop.map((name, i) =>
      backwards && i >= init.length ? c.b.slice(name, [0], [-1], [-(2 ** 31)], [-1]) : name,
    );
  };

function loopInputs(b: Builder, carry: readonly Tensor[]) {
  const [step, condition] = [b.fresh("step"), b.fresh("condition")];
  const carried = carry.map(() => b.fresh("carry"));
  const inputs: ValueDef[] = [
    { name: step, type: scalarType("int64") },
    { name: condition, type: scalarType("bool") },
    ...carried.map((name, i) => valueDef(name, carry[i]!)),
  ];
  return { step, condition, carried, inputs };
}

/** Rows of the ops with regions, which `write` writes. */
export const controlRows = (write: WriteRegion): Readonly<Record<string, Row>> => ({
  cond: cond(write),
  whileLoop: whileLoop(write),
  scan: scan(write),
});
