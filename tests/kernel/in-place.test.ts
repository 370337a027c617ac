/**
 * The law of updates in place: where a kernel may overwrite a parameter that it reads, it gives the
 * same in one memory as in two.
 */
import type { BufferRef } from "@kiln-ml/artifact";
import { evaluateDim } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Kernel } from "../../compiler/src/kernel/kernel.ts";
import { parseKernel } from "../../compiler/src/kernel/parse.ts";
import { printKernel } from "../../compiler/src/kernel/print.ts";
import { mayOverwrite } from "../../compiler/src/plan/in-place.ts";
import { unifyKernels } from "../../compiler/src/plan/unify.ts";
import { interpret } from "../printers/interpret.ts";
import { programs } from "../stages/programs.ts";
import { startedOf } from "../support/kernels-of.ts";
import { runs } from "../support/setup.ts";

type Pair = readonly [reads: number, writes: number];

/** Parameters that could lie in one place: of one dtype and size, one read and one written. */
function pairsOf({ params }: Kernel, dims: Readonly<Record<string, number>>): Pair[] {
  const size = (i: number): number => evaluateDim(params[i]!.size, dims);
  const all = params.flatMap((_, r) => params.map((_, w): Pair => [r, w]));
  return all.filter(
    ([r, w]) =>
      params[r]!.access === "read" &&
      params[w]!.access === "write" &&
      params[r]!.dtype === params[w]!.dtype &&
      size(r) === size(w),
  );
}

/** What the kernel leaves in its parameters, with some of them in one place. */
function left(kernel: Kernel, dims: Readonly<Record<string, number>>, pair?: Pair): number[][] {
  const arrays = kernel.params.map((p, k) =>
    Array.from({ length: evaluateDim(p.size, dims) }, (_, i) => ((3 * i + k) % 7) - 2),
  );
  const places = kernel.params.map((_, i): BufferRef => {
    return { in: "slot", index: pair && i === pair[1] ? pair[0] : i };
  });
  const [{ kernel: unified, args }] = unifyKernels([kernel], [places]) as [
    ReturnType<typeof unifyKernels>[number],
  ];
  interpret(
    unified,
    args.map(({ index }) => arrays[index]!),
    dims,
  );
  return kernel.params.map((_, i) => arrays[(places[i] as { index: number }).index]!);
}

/** Holds the law for a kernel's parameters that are stored once; how many pairs may lie in one place. */
function holds(kernel: Kernel, dims: Readonly<Record<string, number>>, once = /./): number {
  const name = (i: number): string => kernel.params[i]!.name;
  const may = pairsOf(kernel, dims).filter(
    ([r, w]) => once.test(name(w)) && mayOverwrite(kernel, name(r), name(w)),
  );
  for (const pair of may) {
    const written = (all: number[][]) => all.filter((_, i) => kernel.params[i]!.access !== "read");
    assert.equal(
      written(left(kernel, dims, pair)),
      written(left(kernel, dims)),
      printKernel(kernel),
    );
  }
  return may.length;
}

const kernel = (...body: string[]): Kernel =>
  parseKernel(`kernel k
  read x@: f32[16]
  write y@: f32[16]
  write z@: f32[16]
{
${body.map((line) => `  ${line}\n`).join("")}}
`);

/** A read of x, by itself or as a let before a store, around the inner loop or in it, before the store of y or after. */
const reading = fc.record({
  outer: fc.boolean(),
  after: fc.boolean(),
  kept: fc.boolean(),
  at: fc.constantFrom("4*i'+j'", "4*j'+i'", "15-4*i'-j'", "4*i'", "i'", "5"),
});

/** A kernel that stores each element of y once, and reads x here and there. */
const anyUpdate = fc
  .tuple(reading, fc.array(reading, { maxLength: 3 }))
  .map(([own, others]): Kernel => {
    const lines = (outer: boolean, after: boolean): string[] =>
      others.flatMap((o, n) => {
        if (o.outer !== outer || o.after !== after) return [];
        const value = `x@[${outer ? o.at.replace(/[+-]j'|4\*j'\+/, "") : o.at}]`;
        const to = `z@[4*i'+${outer ? 0 : "j'"}]`;
        return o.kept
          ? [`let a${n} = ${value}`, `store ${to} = a${n}`]
          : [`store ${to} = ${value}`];
      });
    return kernel(
      "loop i' < 4 serial {",
      ...lines(true, false),
      "loop j' < 4 serial {",
      ...lines(false, false),
      `store y@[4*i'+j'] = x@[${own.at}]`,
      ...lines(false, true),
      "}",
      ...lines(true, true),
      "}",
    );
  });

test("random kernels give the same in place, wherever they may overwrite what they read", () => {
  let found = 0;
  fc.assert(
    fc.property(anyUpdate, (k) => {
      found += holds(k, {}, /y/);
    }),
    { numRuns: runs(300) },
  );
  assert.ok(found > 0);
});

test("js: kernels of golden programs give the same in place", () => {
  let found = 0;
  for (const [name, make] of Object.entries(programs)) {
    if (name === "symbolic-batch") continue;
    for (const { kernel, starts } of startedOf(make(), { target: "js" }))
      if (starts.every((n) => n === 0)) found += holds(kernel, {});
  }
  assert.ok(found > 10, String(found));
});

const may = (k: Kernel): boolean => mayOverwrite(k, "x@", "y@");

test("an element that is read after its store, elsewhere, or again by the next iteration forbids it", () => {
  const loop = (...body: string[]) => kernel("loop i' < 16 serial {", ...body, "}");
  assert.ok(may(loop("store y@[i'] = x@[i']")));
  // Values of stores that stand together are taken first.
  assert.ok(may(loop("store y@[i'] = 0", "store z@[i'] = x@[i']")));
  assert.not(may(loop("store y@[i'] = 0", "let a = x@[i']", "store z@[i'] = a")));
  assert.not(may(loop("store y@[i'] = x@[15-i']")));
  assert.not(may(loop("let a = x@[0]", "loop j' < 16 serial {", "store y@[j'] = a", "}")));
});

test.run();
