/** What is proved of integers is tried on numbers: wherever the facts hold, an expression that is proved to be at least 0 is. */
import {
  addDim,
  anyInteger,
  type Dim,
  evaluateDim,
  floorDiv,
  maxDim,
  minDim,
  modDim,
  mulDim,
  printDim,
  subDim,
  symbolsIn,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { isProved } from "../../compiler/src/kernel/proof.ts";
import { runs } from "../support/setup.ts";

const some = ["a", "b", "c"].map((name) => fc.constant(name));

/** Three integers of which one may have no greatest value, and expressions of them as kernels have: sums, products, quotients. */
const setting = fc
  .tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 4 }), fc.boolean())
  .map(([min, more, open]) => {
    const a = anyInteger("a", min, open ? Infinity : min + more);
    return { a, b: anyInteger("b", 0, 3), c: anyInteger("c", -2, 2) };
  });

type Make = (by: Readonly<Record<string, Dim>>) => Dim;
const { dims } = fc.letrec<{ dims: Make; leaf: Make }>((tie) => ({
  leaf: fc.oneof(
    fc.integer({ min: -6, max: 6 }).map(
      (n): Make =>
        () =>
          n,
    ),
    fc.oneof(...some).map(
      (name): Make =>
        (by) =>
          by[name]!,
    ),
  ),
  dims: fc.oneof(
    { maxDepth: 3, depthIdentifier: "dims" },
    tie("leaf"),
    fc.tuple(tie("dims"), tie("dims"), fc.constantFrom(addDim, subDim, mulDim, minDim, maxDim)).map(
      ([x, y, of]): Make =>
        (by) =>
          of(x(by), y(by)),
    ),
    fc.tuple(tie("dims"), fc.integer({ min: 1, max: 5 }), fc.constantFrom(floorDiv, modDim)).map(
      ([x, by, of]): Make =>
        (values) =>
          of(x(values), by),
    ),
  ),
}));

/** Every choice of values of the symbols, up to 9 where there is no end. */
function* choices(names: Readonly<Record<string, Dim>>): Generator<Record<string, number>> {
  const [a, b, c] = Object.values(names).map((d) => [...symbolsIn(d).values()][0]!);
  for (let x = a!.min; x <= Math.min(a!.max, 9); x++)
    for (let y = b!.min; y <= b!.max; y++)
      for (let z = c!.min; z <= c!.max; z++) yield { a: x, b: y, c: z };
}

test("what is proved of random expressions, given random facts, holds for all their values", () => {
  let proved = 0;
  fc.assert(
    fc.property(setting, dims, fc.array(dims, { maxLength: 3 }), (names, make, makeFacts) => {
      const [d, facts] = [make(names), makeFacts.map((f) => f(names))];
      if (!isProved(d, facts)) return;
      proved++;
      for (const values of choices(names)) {
        if (facts.some((f) => evaluateDim(f, values) < 0)) continue;
        const value = evaluateDim(d, values);
        const given = facts.map(printDim).join(", ");
        assert.ok(value >= 0, `${printDim(d)} is ${value} at ${JSON.stringify(values)}: ${given}`);
      }
    }),
    { numRuns: runs(2000) },
  );
  assert.ok(proved > runs(100), `${proved} proved`);
});

const [N, i, j, k] = [
  anyInteger("N", 1),
  anyInteger("i", 0),
  anyInteger("j", 0, 3),
  anyInteger("k", 0, 2),
];
const less = (a: Dim, b: Dim): Dim => subDim(subDim(b, a), 1);
const rows = mulDim(4, N);

// Each of these, and what makes it false.
const cases: readonly (readonly [string, Dim, readonly Dim[], Dim])[] = [
  [
    "blocks of four",
    less(addDim(mulDim(4, i), j), rows),
    [less(i, N)],
    less(addDim(mulDim(4, i), j), subDim(rows, 1)),
  ],
  [
    "a factor of a known range",
    less(addDim(mulDim(N, k), i), mulDim(3, N)),
    [less(i, N)],
    less(addDim(mulDim(N, k), i), mulDim(2, N)),
  ],
  [
    "a block and its rest",
    less(addDim(mulDim(64, i), j), N),
    [less(j, minDim(64, subDim(N, mulDim(64, i))))],
    less(addDim(mulDim(64, i), addDim(j, 1)), N),
  ],
  [
    "a quotient of what is counted",
    less(floorDiv(i, 9), N),
    [less(i, mulDim(9, N))],
    less(addDim(floorDiv(i, 9), 1), N),
  ],
  [
    "groups of eight of a block",
    less(addDim(mulDim(8, i), j), floorDiv(addDim(N, 7), 8)),
    [less(j, floorDiv(addDim(minDim(64, subDim(N, mulDim(64, i))), 7), 8))],
    less(addDim(mulDim(8, i), addDim(j, 1)), floorDiv(addDim(N, 7), 8)),
  ],
];
for (const [name, holds, facts, fails] of cases)
  test(`${name}: proved, and not with one more`, () => {
    assert.ok(isProved(holds, facts), printDim(holds));
    assert.not(isProved(fails, facts), printDim(fails));
  });

test.run();
