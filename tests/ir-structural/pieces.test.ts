/**
 * The index arithmetic of every op with `pieces` against its reference value, which is computed
 * without it.
 */
import {
  type Dim,
  evaluate,
  evaluateDim,
  loopVar,
  opRecord,
  type Reducer,
  reductionExtents,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";
import { Builder, cases, random } from "./cases.ts";

function* tuples(extents: readonly number[]): Generator<number[]> {
  if (extents.length === 0) return yield [];
  for (let i = 0; i < extents[0]!; i++)
    for (const rest of tuples(extents.slice(1))) yield [i, ...rest];
}

type Dims = Readonly<Record<string, number>>;

/** The product of the pieces for a contraction, else the first piece that holds. */
function elementByPieces(
  node: Tensor,
  coords: readonly Dim[],
  operands: readonly Value[],
  at: Dims,
) {
  const { pieces, family } = opRecord(node.op);
  const list = pieces!(node, coords);
  const holds = list.map((p) =>
    p.when.every(({ value, test }) => {
      const v = evaluateDim(value, at);
      return test === "zero" ? v === 0 : v >= 0;
    }),
  );
  const read = (k: number): number => {
    const x = operands[list[k]!.operand]!;
    const index = list[k]!.coords.map((c) => evaluateDim(c, at));
    assert.ok(
      index.every((c, i) => c >= 0 && c < x.shape[i]!),
      `${node.op} reads ${index} of ${x.shape}`,
    );
    return x.data[index.reduce((offset, c, i) => offset * x.shape[i]! + c, 0)]!;
  };
  if (family === "contraction") return holds.includes(false) ? 0 : read(0) * read(1);
  const first = holds.indexOf(true);
  return first < 0 ? undefined : read(first);
}

const combine: Record<Reducer, (xs: number[]) => number> = {
  sum: (xs) => xs.reduce((a, b) => a + b, 0),
  prod: (xs) => xs.reduce((a, b) => a * b, 1),
  max: (xs) => Math.max(...xs),
  min: (xs) => Math.min(...xs),
  any: (xs) => Math.max(...xs),
  all: (xs) => Math.min(...xs),
  argMax: (xs) => xs.indexOf(Math.max(...xs)),
  argMin: (xs) => xs.indexOf(Math.min(...xs)),
};

function evaluateByPieces(node: Tensor, operands: readonly Value[], dims: Dims): number[] {
  const { family, reducer } = opRecord(node.op);
  const inner = family === "movement" ? [] : reductionExtents(node);
  const extents = [...node.shape, ...inner];
  const vars = extents.map((d, i) => loopVar(`i${i}`, d));
  const element = (at: readonly number[]) => {
    const bound = { ...dims, ...Object.fromEntries(at.map((v, i) => [`i${i}`, v])) };
    return elementByPieces(node, vars, operands, bound);
  };
  const concrete = (list: readonly Dim[]) => list.map((d) => evaluateDim(d, dims));
  return [...tuples(concrete(node.shape))].map((at) => {
    if (family === "movement") return element(at)!;
    const terms = [...tuples(concrete(inner))].map((k) => element([...at, ...k]) ?? 0);
    return combine[reducer ?? "sum"](terms);
  });
}

for (const [op, make] of Object.entries(cases).filter(([op]) => opRecord(op).pieces))
  for (const symbolic of [false, true])
    test(`pieces of ${op} give its value${symbolic ? " with symbolic extents" : ""}`, () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => {
          const b = new Builder(random(seed), symbolic);
          const node = make(b);
          // The identity reshape or broadcast is no node.
          fc.pre(node.op === op);
          const bindings = { inputs: b.inputs, dims: b.dims };
          const expected = evaluate([node], bindings)[0]!;
          const got = evaluateByPieces(node, evaluate(node.operands, bindings), b.dims);
          assert.equal(
            expected.shape,
            node.shape.map((d) => evaluateDim(d, b.dims)),
          );
          assert.is(got.length, expected.data.length);
          for (const [i, v] of got.entries())
            assert.ok(Math.abs(v - expected.data[i]!) < 1e-12, `${op}: ${v}, ${expected.data[i]}`);
        }),
        { numRuns: runs(40), includeErrorInReport: true },
      );
    });

test.run();
