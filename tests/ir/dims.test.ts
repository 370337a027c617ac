/**
 * The dim algebra against plain integer arithmetic: whatever the simplifier does, the value stays.
 */
import {
  addDim,
  type Dim,
  dim,
  evaluateDim,
  floorDiv,
  isNonNegative,
  loopVar,
  maxDim,
  maxOfDim,
  minDim,
  minOfDim,
  modDim,
  mulDim,
  parseDim,
  printDim,
  sameDim,
  subDim,
  substitute,
} from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

type Env = Record<string, number>;
interface Both {
  readonly dim: Dim;
  readonly value: (env: Env) => number;
}

const [N, M] = [dim("N", { max: 20 }), dim("M", { max: 20 })];
const i = loopVar("i", N);
const k = loopVar("k", 12);
const symbols = new Map<string, Dim>(Object.entries({ N, M, i, k }));
const leaf = fc.oneof(
  fc.integer({ min: -6, max: 12 }).map((n): Both => ({ dim: n, value: () => n })),
  fc.constantFrom(...symbols).map(([name, d]): Both => ({ dim: d, value: (env) => env[name]! })),
);

const binaryOps: Record<string, [(a: Dim, b: Dim) => Dim, (a: number, b: number) => number]> = {
  add: [addDim, (a, b) => a + b],
  sub: [subDim, (a, b) => a - b],
  mul: [mulDim, (a, b) => a * b],
  min: [minDim, Math.min],
  max: [maxDim, Math.max],
};

const expressions = fc.letrec<{ any: Both }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc
      .tuple(fc.constantFrom(...Object.keys(binaryOps)), tie("any"), tie("any"))
      .map(([op, a, b]) => {
        const [symbolic, plain] = binaryOps[op]!;
        return {
          dim: symbolic(a.dim, b.dim),
          value: (env: Env) => plain(a.value(env), b.value(env)),
        };
      }),
    fc
      .tuple(fc.boolean(), tie("any"), fc.constantFrom<Dim>(1, 2, 3, 4, 6, 8, 12, N, mulDim(2, N)))
      .map(([div, a, c]) => ({
        dim: (div ? floorDiv : modDim)(a.dim, c),
        value: (env: Env) => {
          const [x, y] = [a.value(env), evaluateDim(c, env)];
          return div ? Math.floor(x / y) : x - y * Math.floor(x / y);
        },
      })),
  ),
})).any;

const environments = fc
  .record({ N: fc.integer({ min: 1, max: 20 }), M: fc.integer({ min: 1, max: 20 }) })
  .chain(({ N, M }) =>
    fc.record({
      N: fc.constant(N),
      M: fc.constant(M),
      i: fc.integer({ min: 0, max: N - 1 }),
      k: fc.integer({ min: 0, max: 11 }),
    }),
  );

const positive = fc.constantFrom<Dim>(1, 2, 3, 5, 8, N, M, addDim(N, 1), mulDim(2, M));
const show = (d: Dim, env: Env): string => `${printDim(d)} at ${JSON.stringify(env)}`;

test("a simplified dim has the value of the expression it came from", () => {
  fc.assert(
    fc.property(expressions, environments, (e, env) => {
      assert.is(evaluateDim(e.dim, env) + 0, e.value(env) + 0, show(e.dim, env));
    }),
    { numRuns: runs(400) },
  );
});

test("bounds hold the value", () => {
  fc.assert(
    fc.property(expressions, environments, (e, env) => {
      const v = evaluateDim(e.dim, env);
      assert.ok(minOfDim(e.dim) <= v && v <= maxOfDim(e.dim), show(e.dim, env));
      if (isNonNegative(e.dim)) assert.ok(v >= 0, show(e.dim, env));
    }),
    { numRuns: runs(300) },
  );
});

test("quotient and remainder recombine to the dividend", () => {
  fc.assert(
    fc.property(expressions, positive, environments, (e, c, env) => {
      const back = addDim(mulDim(floorDiv(e.dim, c), c), modDim(e.dim, c));
      assert.is(evaluateDim(back, env) + 0, e.value(env) + 0, show(back, env));
      const r = evaluateDim(modDim(e.dim, c), env);
      assert.ok(r >= 0 && r < evaluateDim(c, env), show(e.dim, env));
    }),
    { numRuns: runs(200) },
  );
});

test("printed dims parse to the same dim", () => {
  fc.assert(
    fc.property(expressions, (e) => {
      const back = parseDim(printDim(e.dim), symbols);
      assert.ok(sameDim(back, e.dim), `${printDim(e.dim)} became ${printDim(back)}`);
    }),
    { numRuns: runs(300) },
  );
});

test("substitution and evaluation commute", () => {
  fc.assert(
    fc.property(expressions, environments, (e, env) => {
      const d = substitute(e.dim, new Map([["N", env.N]]));
      assert.is(evaluateDim(d, env) + 0, e.value(env) + 0, show(d, env));
    }),
    { numRuns: runs(200) },
  );
});

test("row-major coordinates recombine to the index they were taken from", () => {
  const index = loopVar("x", mulDim(N, 12));
  const [row, column] = [floorDiv(index, 12), modDim(index, 12)];
  assert.ok(sameDim(addDim(mulDim(row, 12), column), index));
});

test("coordinates of coordinates recombine to the index they were taken from", () => {
  const me = loopVar("me", 128);
  const lane = loopVar("lane", 4);
  const place = addDim(mulDim(modDim(me, 16), 4), lane);
  for (const inner of [4, 8, 16, 32]) {
    const [row, column] = [floorDiv(place, inner), modDim(place, inner)];
    assert.ok(sameDim(addDim(mulDim(row, inner), column), place), `${inner}`);
    const [half, rest] = [floorDiv(column, 2), modDim(column, 2)];
    const back = addDim(mulDim(addDim(mulDim(row, inner / 2), half), 2), rest);
    assert.ok(sameDim(back, place), `${inner} halved: ${printDim(back)}`);
  }
});

test("loop variables over numbers are made once, whatever a process has compiled before", () => {
  for (let n = 0; n < 10_000; n++) {
    const made = loopVar(`v${n}`, n);
    assert.is(loopVar(`v${n}`, n), made);
    assert.is(maxOfDim(made), Math.max(0, n - 1));
  }
});

test.run();
