/** What the exporter and the reader of its text refuse, verbatim. */
import { constant, dim, input, makeNode, type Tensor, windows } from "@kiln-ml/ir";
import { exportStableHlo, parseStableHlo } from "@kiln-ml/stablehlo";
import { test } from "uvu";
import * as assert from "uvu/assert";

const program = (inputs: readonly Tensor[], value: Tensor) => ({
  inputs,
  outputs: [{ name: "y", value }],
  updates: [],
});

/** The message, verbatim. */
const refused = (define: () => unknown, name: string, message: string): void =>
  assert.throws(define, (e: Error) => {
    assert.is(e.message, message);
    return e.name === name;
  });

test("symbols without numbers are told all at once", () => {
  const [x, y] = [input("x", "f32", ["N", 3]), input("y", "f32", ["M"])];
  const p = { inputs: [x, y], outputs: [{ name: "s", value: x.sum() }], updates: [] };
  refused(
    () => exportStableHlo(p),
    "ShapeError",
    "stablehlo: an engine compiles fixed extents, and these are symbols: N (x f32[N,3]), M (y f32[M])\n  give each a number: { dims: { N: 64, M: 64 } }",
  );
});

test("dims that do not fit the program are refused", () => {
  const x = input("x", "f32", [dim("N"), 3]);
  const p = program([x], windows(x.sum(1), { size: 4 }));
  refused(
    () => exportStableHlo(p, { dims: { N: 8, K: 2 } }),
    "ShapeError",
    "stablehlo: dims has K, which no shape of the program names\n  its symbols are N",
  );
  refused(
    () => exportStableHlo(p, { dims: { N: 0.5 } }),
    "ShapeError",
    "stablehlo: dims.N is 0.5, not an integer of 1 or more\n  give the extent that the engine is to compile for",
  );
  refused(
    () => exportStableHlo(p, { dims: { N: 3 } }),
    "ShapeError",
    "windows: window 4 with dilation 1 does not fit axis 0 of [N], with { N: 3 }\n  give other dims",
  );
  const fixed = input("x", "f32", [2]);
  refused(
    () => exportStableHlo(program([fixed], fixed.add(1)), { dims: { N: 3 } }),
    "ShapeError",
    "stablehlo: dims has N, which no shape of the program names\n  leave it out: the program has no symbols",
  );
});

test("ops without a row are told all at once, in regions too", () => {
  const x = input("x", "f32", [2]);
  const own = (op: string, t: Tensor) =>
    makeNode({ op, operands: [t], attrs: {}, dtype: t.dtype, shape: t.shape });
  refused(
    () => exportStableHlo(program([x], own("fft", own("erfinv", x)))),
    "GraphError",
    "stablehlo: no row for erfinv, fft\n  write them with the primitives of docs/ops.md",
  );
});

test("an input that the program does not list is refused", () => {
  const [x, z] = [input("x", "f32", [2]), input("z", "f32", [2])];
  refused(
    () => exportStableHlo(program([x], x.add(z))),
    "GraphError",
    "stablehlo: input z is read and is none of the program's inputs\n  add it to inputs",
  );
});

test("a misspelt option is refused", () => {
  refused(
    () => exportStableHlo(program([], constant(1)), { dim: { N: 1 } } as never),
    "GraphError",
    "stablehlo: there is no option dim\n  did you mean dims?",
  );
});

test("text that the exporter did not write is refused with its line", () => {
  const { text } = exportStableHlo(program([], constant(1)));
  refused(
    () => parseStableHlo(text.replace('"stablehlo.constant"()', "stablehlo.constant")),
    "ArtifactError",
    "stablehlo: expected an op at line 3: %0 = stablehlo.constant {value = dense<1.0> : tensor<f32>} :\n  only text that exportStableHlo wrote is read",
  );
});

test.run();
