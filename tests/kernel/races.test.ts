/**
 * Work items of a parallel loop, and the invocations of a grid, may run in any order and at once:
 * what one writes, no other reads or writes, unless both are of one workgroup and met in between.
 * Seen by running kernels in one order, and noting who touches what.
 */
import { evaluateDim, input, scatter, zeros } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Kernel } from "../../compiler/src/kernel/kernel.ts";
import { parseKernel } from "../../compiler/src/kernel/parse.ts";
import { printKernel } from "../../compiler/src/kernel/print.ts";
import { interpret } from "../printers/interpret.ts";
import { interpretWorkgroups } from "../printers/interpret-workgroups.ts";
import { Races } from "../printers/workgroup-races.ts";
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

/** The same of the invocations of a grid. */
function raceInGrid(kernel: Kernel, dims: Values): string | undefined {
  const races = new Races();
  const arrays = kernel.params.map((p) => numbers(evaluateDim(p.size, dims)));
  interpretWorkgroups(kernel, arrays, dims, races);
  return races.found;
}

const isFree = (kernel: Kernel, dims: Values, target: "js" | "wasm" | "webgpu"): void =>
  assert.is(
    target === "webgpu" ? raceInGrid(kernel, dims) : raceIn(kernel, dims, target),
    undefined,
    printKernel(kernel),
  );

for (const target of ["js", "wasm", "webgpu"] as const)
  test(`${target}: work items of golden programs touch nothing that another writes`, () => {
    let parallel = 0;
    for (const make of Object.values(programs))
      for (const { kernel, starts } of startedOf(make(), { target })) {
        if (starts.some((n) => n > 0)) continue;
        parallel++;
        const dims = Object.fromEntries(kernel.dims.map((name) => [name, 5]));
        isFree(kernel, dims, target);
      }
    assert.ok(parallel > 30, `${parallel} kernels`);
  });

/** Few invocations, as each is interpreted. */
const smallProduct = anyProduct.filter(
  ({ m, k, n, batch }) => m.size * k.size * n.size * (batch?.size ?? 1) <= 1 << 12,
);

test("webgpu: invocations that share tiles touch nothing that another writes meanwhile", () => {
  fc.assert(
    fc.property(smallProduct, (product) => {
      const { program, dims } = programOf(product);
      for (const { kernel } of startedOf(program, { target: "webgpu" }))
        isFree(kernel, dims, "webgpu");
    }),
    { numRuns: runs(8) },
  );
});

test("webgpu: lines that are sorted and scanned by a workgroup are free of races", () => {
  const x = input("x", "f32", [2, 150]);
  const sorted = x.sort(1);
  for (const value of [x.cumsum(1), sorted, x.sum(1), x.sum(0), x.softmax(1)]) {
    const program = { inputs: [x], outputs: [{ name: "y", value }], updates: [] };
    for (const { kernel } of startedOf(program, { target: "webgpu" })) isFree(kernel, {}, "webgpu");
  }
});

test("webgpu: workgroups that list the updates of a scatter are free of races", () => {
  // Several tiles, of which the last is not full; several rows, and columns that stand idle.
  const [at, updates] = [input("at", "i32", [1030]), input("updates", "f32", [1030, 3])];
  const base = input("x", "f32", [70, 3]);
  for (const to of [base, zeros([70, 3])]) {
    const value = scatter(to, updates, [at], [0]).mul(2);
    const inputs = [base, updates, at];
    const program = { inputs, outputs: [{ name: "y", value }], updates: [] };
    const kernels = startedOf(program, { target: "webgpu" });
    assert.ok(kernels.some(({ kernel }) => /array list: shared/.test(printKernel(kernel))));
    for (const { kernel } of kernels) isFree(kernel, {}, "webgpu");
  }
});

test("webgpu: invocations of random programs touch nothing that another writes", () => {
  fc.assert(
    fc.property(randomProgram({ dtypes: ["f32", "f16", "i32", "u8"] }), ({ program }) => {
      for (const { kernel, starts } of startedOf(program, { target: "webgpu" }))
        if (starts.every((n) => n === 0)) isFree(kernel, { N: 5 }, "webgpu");
    }),
    { numRuns: runs(40) },
  );
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

const racedInGrid = (statements: string): string | undefined =>
  raceInGrid(
    parseKernel(`kernel k
  read x: f32[8]
  write y: f32[8]
  workgroup 4
{
  loop g < 2 workgroup {
    invocation lid where lid < 4
    array tile: shared f32[4]
    ${statements}
  }
}
`),
    {},
  );

test("invocations that meet in between do not race, those of different workgroups never meet", () => {
  const store = "store tile[lid] = x[4*g+lid]";
  const turned = "store y[4*g+lid] = tile[-lid+3]";
  assert.is(racedInGrid(`${store}\nbarrier\n${turned}`), undefined);
  assert.is(
    racedInGrid(`${store}\n${turned}`),
    "tile[3] is written and read, by invocations 3 and 0",
  );
  assert.is(
    racedInGrid(`loop s < 2 serial {\n${store}\nbarrier\n${turned}\n}`),
    "tile[0] is read and written, by invocations 3 and 0",
  );
  assert.is(
    racedInGrid(`loop s < 2 serial {\n${store}\nbarrier\n${turned}\nbarrier\n}`),
    undefined,
  );
  assert.is(racedInGrid("store y[4*g+lid] = x[0]"), undefined);
  assert.is(
    racedInGrid("store y[lid] = x[0]"),
    "y[0] is written and written, by invocations 0 and 0 of different workgroups",
  );
  assert.is(
    racedInGrid("loop i < 3 local {\nstore y[4*g] = x[i]\n}"),
    "y[0] is written and written, by invocations 0 and 1",
  );
  assert.is(racedInGrid("loop i < 1 local {\nstore y[4*g] = x[i]\n}"), undefined);
});

test.run();
