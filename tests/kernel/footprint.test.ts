/**
 * Footprints against what the interpreter sees a kernel touch: the same elements, none missing and, where only the run
 * knows an index, more of the same parameter.
 */
import { type Condition, evaluateDim } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { footprintOf, printFootprint, type Touched } from "../../compiler/src/kernel/footprint.ts";
import type { Kernel } from "../../compiler/src/kernel/kernel.ts";
import { parseKernel } from "../../compiler/src/kernel/parse.ts";
import { anyKernel, choices, size } from "../printers/any-kernel.ts";
import { interpret } from "../printers/interpret.ts";
import { gatherRows, mapPad } from "../printers/kernels.ts";
import { programs } from "../stages/programs.ts";
import { startedOf } from "../support/kernels-of.ts";
import { runs } from "../support/setup.ts";

type Values = Readonly<Record<string, number>>;

const holds = (guards: readonly Condition[], at: Values): boolean =>
  guards.every((c) => {
    const v = evaluateDim(c.value, at);
    return c.test === "zero" ? v === 0 : v >= 0;
  });

/** The elements that a line of a footprint names. */
function* elementsOf(t: Touched, all: number, at: Values, depth = 0): Iterable<number> {
  const range = t.ranges[depth];
  if (range) {
    const end = evaluateDim(range.end, at);
    for (let i = evaluateDim(range.start, at); i < end; i += range.step)
      yield* elementsOf(t, all, { ...at, [range.name]: i }, depth + 1);
  } else if (t.index === undefined) for (let i = 0; i < all; i++) yield i;
  else if (holds(t.guards, at)) yield evaluateDim(t.index, at);
}

/** Holds the footprint against a run; the two are the same where no index is known at run time only. */
function agrees(kernel: Kernel, arrays: number[][], dims: Values): void {
  const seen = new Set<string>();
  interpret(kernel, arrays, dims, (name, at, how) => {
    if (kernel.params.some((p) => p.name === name && p.access !== "scratch"))
      seen.add(`${how} ${name} ${at}`);
  });
  const lines = footprintOf(kernel);
  const said = new Set<string>();
  for (const t of lines) {
    const param = kernel.params.find((p) => p.name === t.param)!;
    for (const at of elementsOf(t, evaluateDim(param.size, dims), dims))
      said.add(`${t.how} ${t.param} ${at}`);
  }
  const where = printFootprint(kernel);
  for (const one of seen) assert.ok(said.has(one), `${one} is not in\n${where}`);
  const exact = lines.every((t) => t.index !== undefined && t.known);
  if (exact)
    for (const one of said) assert.ok(seen.has(one), `${one} is touched by nobody\n${where}`);
}

const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => (i % 5) - 2);

test("random kernels touch what their footprints say, no more and no less", () => {
  fc.assert(
    fc.property(choices, (c) => agrees(anyKernel(c), [numbers(size), numbers(size)], { N: 3 })),
    { numRuns: runs(200) },
  );
});

for (const target of ["js", "wasm"] as const)
  test(`${target}: kernels of golden programs touch what their footprints say`, () => {
    for (const [name, make] of Object.entries(programs)) {
      if (name === "cumulative" || name === "symbolic-batch") continue;
      for (const { kernel, starts } of startedOf(make(), { target })) {
        if (starts.some((n) => n > 0)) continue;
        agrees(
          kernel,
          kernel.params.map((p) => numbers(evaluateDim(p.size, {}))),
          {},
        );
      }
    }
  });

test("a footprint reads as index maps", () => {
  assert.is(
    printFootprint(mapPad()),
    `read x [5*i+j-1] for i < N, j < 6 if j-1 >= 0
read b [i] for i < N
write out [6*i+j] for i < N, j < 6
`,
  );
  assert.match(printFootprint(gatherRows()), /\[any\]/);
  assert.ok(footprintOf(mapPad()).every((t) => t.affine));
});

test("what a kernel keeps for itself is no part of its footprint", () => {
  const kernel = parseKernel(`kernel k
  read x@: f32[4]
  scratch kept@: f32[4]
  write y@: f32[4]
{
  loop i' < 4 serial {
    store kept@[i'] = x@[i']
    store y@[i'] = kept@[i']
  }
}
`);
  assert.is(printFootprint(kernel), "read x@ [i'] for i' < 4\nwrite y@ [i'] for i' < 4\n");
});

test.run();
