/** Attributes have the forms of their op's row: what builds nodes, what text leaves out, and what `verify` refuses. */
import {
  input,
  isOp,
  makeNode,
  opOf,
  parseGraph,
  printGraph,
  type Tensor,
  verifyGraph,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { nodesOf } from "../../compiler/src/program.ts";
import { attributeForms, checkAttributes } from "../../packages/ir/src/attribute-forms.ts";
import { randomProgram } from "../support/graphs.ts";
import { runs } from "../support/setup.ts";

const x = input("x", "f32", [2, 3]);

test("every node that functions build has the attributes of its op's row, and an op without a row has none", () => {
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), ({ program }) => {
      for (const { op, attrs } of nodesOf(program)) {
        checkAttributes(op, attrs);
        if (!Object.hasOwn(attributeForms, op)) assert.equal(attrs, {}, op);
      }
    }),
    { numRuns: runs(200) },
  );
});

const parsed = (text: string) => parseGraph(text).graph;

const refused = (op: string, operand: Tensor, attrs: Tensor["attrs"]) => () =>
  verifyGraph({
    params: [x],
    results: [makeNode({ op, operands: [operand], attrs, dtype: "f32", shape: operand.shape })],
  });

test("an attribute of another form, or that the op does not have, is refused", () => {
  assert.throws(
    refused("cumsum", x, { axis: 0, exclusive: false, reverse: false, keep: true }),
    "cumsum: there is no attribute keep",
  );
  assert.throws(
    refused("reverse", x, { axes: [0], count: 1 }),
    "reverse: there is no attribute count",
  );
  assert.throws(
    () => checkAttributes("scatter", { axes: [0], mode: "mean" }),
    'scatter: attribute mode is "mean", not of the form mode',
  );
  assert.throws(
    () => checkAttributes("iota", {}),
    "iota: attribute axis is none, not of the form number",
  );
});

test("text may leave out lists that are empty", () => {
  const text = (attrs: string) =>
    `graph f(%x: f32[2,3], %w: f32[3,4]) {\n  %y: f32[2,4] = dotGeneral %x %w ${attrs}\n  return %y\n}`;
  const [short, long] = [
    parsed(text("{lhsContract=[1], rhsContract=[0]}")),
    parsed(text("{lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[0]}")),
  ];
  assert.equal(opOf(short.results[0]!, "dotGeneral").attrs.lhsBatch, []);
  assert.equal(
    Object.fromEntries(Object.entries(short.results[0]!.attrs).sort()),
    Object.fromEntries(Object.entries(long.results[0]!.attrs).sort()),
  );
  assert.ok(printGraph(short).includes("lhsBatch=[]"));
});

test("isOp asks for an op and opOf knows it", () => {
  const y = x.transpose();
  assert.ok(isOp(y, "transpose") && isOp(y, "slice", "transpose"));
  assert.not(isOp(y, "slice") || isOp(undefined, "slice"));
  assert.equal(opOf(y, "transpose").attrs.perm, [1, 0]);
  assert.throws(() => opOf(y, "slice"), /^bug in opOf: transpose is not slice/);
});

test.run();
