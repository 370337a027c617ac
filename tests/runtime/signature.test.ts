/** Dims are solved from shapes: the laws, on random signatures. */
import type { Extent } from "@kiln-ml/artifact";
import { evaluateExtent, printExtent, ShapeError } from "@kiln-ml/artifact";
import { createCpuDevice } from "@kiln-ml/runtime";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { bindDims } from "../../runtime/src/signature.ts";

const names = ["A", "B", "C"] as const;
const dimValues = fc.record({
  A: fc.integer({ min: 0, max: 5 }),
  B: fc.integer({ min: 1, max: 5 }),
  C: fc.integer({ min: 1, max: 5 }),
});

const extent: fc.Arbitrary<Extent> = fc.letrec<{ extent: Extent }>((tie) => ({
  extent: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(...names),
    fc.integer({ min: 1, max: 4 }),
    fc.tuple(fc.constantFrom("+", "*", "min", "max"), tie("extent"), tie("extent")),
  ),
})).extent;

const device = createCpuDevice();
const dims = names.map((name) => ({ name, min: 0, max: null }));

test("shapes made from values of the dims give those values back", () =>
  fc.assert(
    fc.property(
      dimValues,
      fc.array(fc.array(extent, { maxLength: 3 }), { maxLength: 3 }),
      fc.nat(),
      (values, shapes, spoil) => {
        // Every symbol stands alone once, at the end, so that the others must wait for it.
        const all: Extent[][] = [...shapes, [...names]];
        const inputs = all.map((shape, i) => ({ name: `x${i}`, dtype: "u8" as const, shape }));
        const concrete = all.map((shape) => shape.map((e) => evaluateExtent(e, values)));
        const arrays = concrete.map((shape) => {
          const size = shape.reduce((a, b) => a * b, 1);
          return device.upload(new Uint8Array(size), "u8", shape);
        });
        const signature = { dims, inputs, outputs: [], states: [] };
        assert.equal(bindDims(signature, arrays), { ...values });
        const at = spoil % arrays.length;
        if (concrete[at]!.length === 0) return;
        const shape = concrete[at]!.with(0, concrete[at]![0]! + 1);
        const size = shape.reduce((a, b) => a * b, 1);
        arrays[at] = device.upload(new Uint8Array(size), "u8", shape);
        try {
          const other = bindDims(signature, arrays);
          // Only if the changed extent says the value of a symbol can the shapes still agree.
          for (const [i, e] of all.entries())
            assert.equal(
              arrays[i]!.shape,
              e.map((x) => evaluateExtent(x, other)),
            );
        } catch (error) {
          assert.instance(error, ShapeError);
        }
      },
    ),
  ));

test("an extent that is scale times a dim plus an offset tells the dim", () => {
  const shape: Extent[] = [
    ["+", ["*", 4, "A"], 3],
    ["*", "B", 2],
  ];
  const inputs = [{ name: "x", dtype: "f32" as const, shape }];
  const signature = {
    dims: dims.filter((d) => d.name !== "C"),
    inputs,
    outputs: [],
    states: [],
  };
  const of = (a: number, b: number) => ({ data: new Float32Array(a * b), shape: [a, b] });
  assert.equal(bindDims(signature, [of(11, 6)]), { A: 2, B: 3 });
  assert.throws(
    () => bindDims(signature, [of(12, 6)]),
    "run: input x must have shape [4*A+3,B*2], got [12,6]\n  reshape it, or declare that axis as a symbol and compile again",
  );
});

test("a bare host array gives the one dim that its length decides", () => {
  const inputs = [
    { name: "x", dtype: "f32" as const, shape: ["A", 3] },
    { name: "y", dtype: "f32" as const, shape: ["A", "B"] },
  ];
  const signature = { dims: dims.slice(0, 2), inputs, outputs: [], states: [] };
  const bound = bindDims(signature, [new Float32Array(6), new Float32Array(8)]);
  assert.equal(bound, { A: 2, B: 4 });
});

const operator = fc.constantFrom("+", "*", "/", "%", "min", "max");
const anyExtent: fc.Arbitrary<Extent> = fc.letrec<{ extent: Extent }>((tie) => ({
  extent: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...names),
    fc.integer({ min: 1, max: 9 }),
    fc.tuple(operator, tie("extent"), tie("extent")) as unknown as fc.Arbitrary<Extent>,
  ),
})).extent;

test("a printed extent means what the extent means", () =>
  fc.assert(
    fc.property(anyExtent, dimValues, (e, values) => {
      const text = printExtent(e);
      // Object.is, for A / 0 has no number.
      assert.ok(Object.is(readExtent(text, values), evaluateExtent(e, values)), text);
    }),
  ));

/** Precedence climbing over the printed form. */
function readExtent(text: string, values: Readonly<Record<string, number>>): number {
  const tokens = text.match(/\d+|min|max|[A-Z]|[()+*/%,]/g) ?? [];
  let at = 0;
  const primary = (): number => {
    const token = tokens[at++]!;
    if (token === "(") return closing(sum());
    if (token !== "min" && token !== "max") return values[token] ?? Number(token);
    at++;
    const a = sum();
    at++;
    return closing(Math[token](a, sum()));
  };
  const closing = (x: number) => {
    assert.is(tokens[at++], ")");
    return x;
  };
  const product = (): number => {
    let x = primary();
    while (/^[*/%]$/.test(tokens[at] ?? "")) {
      const op = tokens[at++];
      const y = primary();
      x = op === "*" ? x * y : op === "/" ? Math.floor(x / y) : x - Math.floor(x / y) * y;
    }
    return x;
  };
  const sum = (): number => {
    let x = product();
    while (tokens[at] === "+") {
      at++;
      x += product();
    }
    return x;
  };
  return sum();
}

test.run();
