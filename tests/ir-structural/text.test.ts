/**
 * Structural ops in text form: what is printed parses back to the same text and verifies, gradients included.
 */
import {
  call,
  grad,
  input,
  maxPool,
  parseGraph,
  printTensor,
  scatter,
  sum,
  type Tensor,
  verifyGraph,
} from "@kiln-ml/ir";
import * as fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";
import { Builder, cases, gatherCase, random, scatterCase, sortCase } from "./cases.ts";

function roundTrip(...roots: Tensor[]): void {
  const text = printTensor(...roots);
  const { graph } = parseGraph(text);
  verifyGraph(graph);
  assert.is(printTensor(...graph.results), text);
}

const all = {
  ...cases,
  gather: gatherCase,
  argSort: sortCase,
  scatter: (b: Builder) => scatterCase(b, "set"),
};

for (const [op, make] of Object.entries(all))
  test(`${op} prints, parses and verifies`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), fc.boolean(), (seed, symbolic) => {
        roundTrip(make(new Builder(random(seed), symbolic)));
      }),
      { numRuns: runs(15), includeErrorInReport: true },
    );
  });

test("gradients and calls print, parse and verify", () => {
  const x = input("x", "f32", ["N", 2, 6]);
  roundTrip(...grad(sum(maxPool(x, { size: 2, padding: 1 })), [x]));
  const u = input("u", "f32", [3]);
  const i = input("i", "i32", [3]);
  const v = input("v", "f32", [9]);
  roundTrip(...grad(sum(scatter(v, u, [i], [0], "max")), [v, u]));
  const p = input("p", "f32", [3]);
  roundTrip(...call({ params: [p], results: [p.exp(), p.neg()] }, [u]));
});

test.run();
