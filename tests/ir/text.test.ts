/**
 * The text form: what is printed parses to the same graph, by hand-written cases with everything the language has
 * and by random graphs; and what is out of order is refused with its place.
 */
import {
  assign,
  call,
  dim,
  evaluate,
  type Graph,
  GraphError,
  input,
  makeValue,
  param,
  parseGraph,
  printGraph,
  printTensor,
  tensor,
  trace,
  verifyGraph,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { randomProgram } from "../support/graphs.ts";
import { parseProgram, printProgram } from "../support/reference.ts";
import { runs } from "../support/setup.ts";

function roundTrip(text: string): Graph {
  const { graph, name, updates } = parseGraph(text);
  verifyGraph(graph, updates);
  assert.fixture(printGraph(graph, { name, updates }), text);
  return graph;
}

test("a graph with symbols, parameters and attributes reads as it is printed", () => {
  roundTrip(`dim N in [1, 64]
graph f(%x: f32[N,784], %w: param f32[784,10]) {
  %1: f32[N,10] = dotGeneral %x %w {lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[0]}
  %2: f32[N,10] = exp %1
  %3: f32[N] = reduceSum %2 {axes=[1]}
  return %2, %3
}
`);
});

test("constants keep their sign, their infinity and their NaN", () => {
  roundTrip(`graph f() {
  %1: f32[] = constant {value=-0}
  %2: f32[] = constant {value=inf}
  %3: f32[] = constant {value=-inf}
  %4: f64[] = constant {value=1e-300}
  %5: f32[] = constant {value=nan}
  %6: bool[] = constant {value=1}
  return %1, %2, %3, %4, %5, %6
}
`);
});

test("names that are no identifiers are kept beside the ones in the text", () => {
  roundTrip(`graph f(%a_b: f32[2] {name="a b"}, %a_b.1: param f32[2] {name="a_b", trainable=false}) {
  %1: f32[2] = add %a_b %a_b.1
  return %1
}
`);
});

test("small data is printed with its values", () => {
  const text = printTensor(tensor([[1, -0.5]]).neg());
  assert.fixture(
    text,
    `graph f(%data: data f32[1,2] {values=[1, -0.5]}) {
  %1: f32[1,2] = neg %data
  return %1
}
`,
  );
  assert.equal([...evaluate(roundTrip(text).results)[0]!.data], [-1, 0.5]);
});

test("large data is declared only", () => {
  const text = printTensor(tensor(new Float32Array(1000)).neg());
  assert.ok(text.startsWith("graph f(%data: data f32[1000]) {"));
  const { graph } = parseGraph(text);
  assert.throws(() => evaluate(graph.results), "data: data node holds no host data");
});

test("regions print with their own parameters and captures", () => {
  const w = param([2, 3], { name: "w" });
  const a = input("a", "f32", [2]);
  const x = input("x", "f32", [2]);
  const region: Graph = { params: [a], results: [a.mul(w), a.neg()] };
  const [y, z] = call(region, [x.exp()]);
  const text = printTensor(y!.add(z!));
  const graph = roundTrip(text);
  const inputs = new Map([[graph.params[0]!, makeValue("f32", [2], [0, 0])]]);
  inputs.set(graph.params[1]!, makeValue("f32", [2], [2, 3]));
  assert.equal([...evaluate(graph.results, { inputs })[0]!.data], [1, 2]);
});

test("assignments print before the return", () => {
  const w = param([1, 2], { name: "w" });
  const { value, updates } = trace(() => {
    const y = w.mul(2);
    assign(w, w.add(y));
    return y;
  });
  const text = printGraph({ params: [w], results: [value] }, { updates });
  assert.ok(text.includes("assign %w %"), text);
  roundTrip(text);
});

test("types may be left out where the operands give them", () => {
  const { graph } = parseGraph(`
    # A comment, and lines as they come.
    graph f(%x: f32[N,2]) {
      %y = exp %x {}   # another
      return %y
    }`);
  assert.is(String(graph.results[0]), "Tensor f32[N,2] (exp)");
});

test("extents may be any dim", () => {
  const N = dim("N", { min: 2, max: 9 });
  const x = input("x", "f32", [N, 4]);
  roundTrip(printTensor(x.reshape([-1]).mean(), x.slice([1, 0], [N, 2])));
});

test("random programs survive printing and parsing", () => {
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), ({ program }) => {
      const text = printProgram(program);
      assert.fixture(printProgram(parseProgram(text)), text);
    }),
    { numRuns: runs(60) },
  );
});

test("damaged text parses or is refused with a place, and never breaks the parser", () => {
  const damage = fc.record({
    at: fc.nat(10_000),
    length: fc.nat(12),
    put: fc.string({ maxLength: 3 }),
  });
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), damage, ({ program }, { at, length, put }) => {
      const text = printProgram(program);
      const from = at % text.length;
      const broken = text.slice(0, from) + put + text.slice(from + length);
      try {
        parseGraph(broken);
      } catch (e) {
        assert.instance(e, GraphError, `${e}\n${broken}`);
        assert.match((e as Error).message, /^[^\n]*\(line \d+, column \d+\)($|\n {2})/, broken);
      }
    }),
    { numRuns: runs(200) },
  );
});

const refused: readonly (readonly [text: string, message: string])[] = [
  ["graph f(%x: f32[N] {", `parse: expected an attribute, got the end (line 1, column 21)`],
  ["graf f() {}", `parse: expected "graph", got "graf" (line 1, column 1)`],
  ["graph f(%x: f33[2]) {\n}", `parse: there is no dtype "f33" (line 1, column 13)`],
  [
    "graph f(%x: f32[2]) {\n  %1 = expp %x\n  return %1\n}",
    `parse: there is no op "expp" (line 2, column 8)`,
  ],
  [
    "graph f(%x: f32[2]) {\n  %1: f32[3] = exp %x\n  return %1\n}",
    "parse: verify: exp has type f32[3], its operands give f32[2] (line 2, column 16)",
  ],
  [
    "graph f(%x: f32[2], %y: f32[3]) {\n  %1 = add %x %y\n  return %1\n}",
    "parse: add: shapes differ: [2] and [3] (line 2, column 8)",
  ],
  ["graph f() {\n  return %2\n}", "parse: %2 is not defined (line 2, column 10)"],
  ["graph f(%x: f32[], %x: f32[]) {\n}", "parse: %x is defined twice (line 1, column 20)"],
  ["graph f() { return } extra", `parse: expected the end, got "extra" (line 1, column 22)`],
  ["dim N in [1]\ngraph f() { return }", "parse: expected two bounds, got 1 (line 1, column 9)"],
];

for (const [text, message] of refused)
  test(`text is refused: ${message}`, () => {
    assert.throws(
      () => parseGraph(text),
      (e: Error) => assert.is(e.message, message) === undefined,
    );
  });

test("a graph that reads a foreign input does not verify", () => {
  const x = input("x", "f32", [2]);
  assert.throws(
    () => verifyGraph({ params: [], results: [x.exp()] }),
    "verify: input x is read but is no parameter of the graph",
  );
});

test.run();
