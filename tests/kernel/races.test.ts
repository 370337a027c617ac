/**
 * Work items of a parallel loop may run in any order and at once: what one writes, no other reads or writes. Seen by
 * running kernels one iteration after the other, and noting who touches what.
 */
import { evaluateDim } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Kernel } from "../../compiler/src/kernel/kernel.ts";
import { parseKernel } from "../../compiler/src/kernel/parse.ts";
import { printKernel } from "../../compiler/src/kernel/print.ts";
import { interpret } from "../printers/interpret.ts";
import { programs } from "../stages/programs.ts";
import { randomProgram } from "../support/graphs.ts";
import { startedOf } from "../support/kernels-of.ts";
import { anyProduct, programOf } from "../support/products.ts";
import { runs } from "../support/setup.ts";

type Values = Readonly<Record<string, number>>;

const numbers = (n: number): number[] => Array.from({ length: n }, (_, i) => (i % 5) - 2);

/** On js one thread runs all work items, which then share what they pack operands into. */
const sharedBy = {
  js: ["read", "write", "readwrite"],
  wasm: ["read", "write", "readwrite", "scratch"],
};

/** The first element that two iterations of one parallel loop touch, of which one writes it. */
function raceIn(kernel: Kernel, dims: Values, target: "js" | "wasm"): string | undefined {
  const params = kernel.params.filter((p) => sharedBy[target].includes(p.access));
  const shared = new Set(params.map((p) => p.name));
  const loops = new Set<string>();
  const [writer, reader] = [new Map<string, number>(), new Map<string, number>()];
  let [item, race]: [number | undefined, string | undefined] = [undefined, undefined];
  const meet = (other: number | undefined, what: string): void => {
    if (other !== undefined && other !== item)
      race ??= `${what}, in work items ${other} and ${item}`;
  };
  interpret(
    kernel,
    kernel.params.map((p) => numbers(evaluateDim(p.size, dims))),
    dims,
    (array, at, how) => {
      if (item === undefined || !shared.has(array)) return;
      const element = `${array}[${at}]`;
      meet(
        writer.get(element),
        `${element} is written and ${how === "reads" ? "read" : "written"}`,
      );
      if (how === "writes") {
        meet(reader.get(element), `${element} is read and written`);
        writer.set(element, item);
      } else if (reader.has(element) && reader.get(element) !== item) reader.set(element, -1);
      else reader.set(element, item);
    },
    (loop, i) => {
      if (loop.loop !== "parallel") return;
      // Of nested ones the outermost says who runs.
      if (item === undefined && i !== undefined) loops.add(loop.name);
      if (!loops.has(loop.name)) return;
      item = i;
      if (i !== undefined) return;
      loops.delete(loop.name);
      writer.clear();
      reader.clear();
    },
  );
  return race;
}

const isFree = (kernel: Kernel, dims: Values, target: "js" | "wasm"): void =>
  assert.is(raceIn(kernel, dims, target), undefined, printKernel(kernel));

for (const target of ["js", "wasm"] as const)
  test(`${target}: work items of golden programs touch nothing that another writes`, () => {
    let parallel = 0;
    for (const make of Object.values(programs))
      for (const { kernel, starts } of startedOf(make(), { target })) {
        if (starts.some((n) => n > 0)) continue;
        parallel++;
        const dims = Object.fromEntries(kernel.dims.map((name) => [name, 5]));
        isFree(kernel, dims, target);
      }
    assert.ok(parallel > 40, `${parallel} kernels`);
  });

test("wasm: work items that pack and multiply touch nothing that another writes", () => {
  fc.assert(
    fc.property(anyProduct, (product) => {
      const { program, dims } = programOf(product);
      for (const { kernel } of startedOf(program, { target: "wasm" })) isFree(kernel, dims, "wasm");
    }),
    { numRuns: runs(20) },
  );
});

test("wasm: work items of random programs touch nothing that another writes", () => {
  fc.assert(
    fc.property(randomProgram({ dtypes: ["f32", "f16", "i32", "u8"] }), ({ program }) => {
      for (const { kernel, starts } of startedOf(program, { target: "wasm" }))
        if (starts.every((n) => n === 0)) isFree(kernel, { N: 5 }, "wasm");
    }),
    { numRuns: runs(60) },
  );
});

const raced = (index: string): string | undefined =>
  raceIn(
    parseKernel(`kernel k
  read x: f32[8]
  write y: f32[8]
{
  loop i < 4 parallel {
    store y[i] = x[i]
    store y[${index}] = x[i]
  }
}
`),
    {},
    "wasm",
  );

test("an element that two work items write is a race, one that the same writes twice is none", () => {
  assert.is(raced("i"), undefined);
  assert.is(raced("i+4"), undefined);
  assert.is(raced("i+1"), "y[1] is written and written, in work items 0 and 1");
  assert.is(raced("7"), "y[7] is written and written, in work items 0 and 1");
});

test.run();
