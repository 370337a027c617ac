/**
 * The gradient of every structural op on random shapes and attributes, against differences.
 */
import { avgPool, maxPool, opRecord, replaceNodes, sort, type Tensor, topK } from "@kiln-ml/ir";
import * as fc from "fast-check";
import { test } from "uvu";
import { Builder, cases, gatherCase, random, scatterCase } from "../ir-structural/cases.ts";
import { runs } from "../support/setup.ts";
import { checkGradient } from "./differences.ts";

/** Distinct numbers at least 1/8 apart, so that no order changes within a difference. */
function distinct(b: Builder): void {
  let n = 0;
  const count = [...b.inputs.values()].reduce((sum, v) => sum + v.data.length, 0);
  const pool = b.r.shuffle(Array.from({ length: count }, (_, i) => (i - count / 2 + 0.3) / 8));
  for (const [leaf, value] of b.inputs)
    if (leaf.dtype === "f64")
      b.inputs.set(leaf, { ...value, data: value.data.map(() => pool[n++]!) });
}

/** y of inputs that are brought between −1 and 1. */
const bounded = (b: Builder, y: Tensor): Tensor =>
  replaceNodes(
    [y],
    new Map(
      [...b.inputs.keys()].filter((x) => x.dtype === "f64").map((x) => [x, x.div(32)] as const),
    ),
  )[0]!;

function check(name: string, make: (b: Builder) => Tensor, count = 15, order = 1): void {
  for (const symbolic of [false, true])
    test(`the gradient of ${name} agrees with differences${symbolic ? ", symbolic" : ""}`, () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => {
          const b = new Builder(random(seed), symbolic);
          const y = make(b);
          distinct(b);
          checkGradient(y, b.inputs, b.dims, order);
        }),
        { numRuns: runs(count), includeErrorInReport: true },
      );
    });
}

for (const [op, make] of Object.entries(cases))
  if (opRecord(op).vjp) check(op, make, op === "convolution" ? 25 : 15);

for (const op of ["cummax", "cummin"] as const)
  check(`exclusive ${op}`, (b) =>
    b
      .leaf([2, b.r.int(2, 5)])
      [op](1, { exclusive: true, reverse: b.r.int(0, 1) === 1 })
      .maximum(-9)
      .minimum(9),
  );

check("sort", (b) => {
  const shape = b.shape(1, 3);
  return sort(b.leaf(shape), b.r.int(0, shape.length - 1), { descending: b.r.int(0, 1) === 1 });
});
check("topK", (b) => {
  const x = b.leaf([2, b.r.int(2, 5)], b.dtype, () => b.r.real(), [1]);
  return topK(x, b.r.int(1, 2), 1, { largest: b.r.int(0, 1) === 1 }).values;
});

check("gather", gatherCase);
for (const mode of ["add", "mul", "max", "min", "set"] as const)
  check(`scatter ${mode}`, (b) => {
    const y = scatterCase(b, mode);
    // Products of numbers up to 16 leave no digits for a difference of the smaller ones.
    return mode === "mul" ? bounded(b, y) : y;
  });

const pooled = (b: Builder) => b.leaf([1, b.r.int(1, 2), b.r.int(3, 5), b.r.int(3, 5)]);
const poolOf = (b: Builder) => ({
  size: b.r.int(2, 3),
  stride: b.r.int(1, 2),
  padding: b.r.int(0, 1),
  ceilMode: b.r.int(0, 1) === 1,
});
check("maxPool", (b) => maxPool(pooled(b), poolOf(b)), 10);
check(
  "avgPool",
  (b) => avgPool(pooled(b), { ...poolOf(b), countIncludePad: b.r.int(0, 1) === 1 }),
  10,
);

test.run();
