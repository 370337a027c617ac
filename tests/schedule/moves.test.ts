/**
 * Laws of moves: what a move makes of a kernel has no fault and comes to the same bits, or the move says why it was refused.
 */
import { evaluateDim } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Kernel } from "../../compiler/src/kernel/kernel.ts";
import { plainName } from "../../compiler/src/kernel/names.ts";
import { parseKernel } from "../../compiler/src/kernel/parse.ts";
import { bindingOf } from "../../compiler/src/kernel/parts.ts";
import { printKernel } from "../../compiler/src/kernel/print.ts";
import { faultsOf } from "../../compiler/src/kernel/verify.ts";
import { eachStmt } from "../../compiler/src/kernel/walk.ts";
import { roundsAnew, tryRecipe } from "../../compiler/src/schedule/recipe.ts";
import { anyKernel, choices } from "../printers/any-kernel.ts";
import { interpret } from "../printers/interpret.ts";
import { interpretWorkgroups } from "../printers/interpret-workgroups.ts";
import { Races } from "../printers/workgroup-races.ts";
import { programs } from "../stages/programs.ts";
import { randomProgram } from "../support/graphs.ts";
import { sized } from "../support/kernels-of.ts";
import { naiveKernelsOf } from "../support/naive.ts";
import { runs } from "../support/setup.ts";
import { moves } from "./all-moves.ts";

const dims = { N: 3 };

/** What a kernel makes of arrays of small numbers with a part behind the point. */
function results(kernel: Kernel): number[][] {
  const arrays = kernel.params.map((p, k) =>
    Array.from({ length: evaluateDim(p.size, dims) }, (_, i) => {
      const n = ((5 * i + 3 * k) % 17) - 4;
      return p.dtype.startsWith("f") ? Math.fround(n / 7) : Math.abs(n);
    }),
  );
  const races = new Races();
  if (kernel.workgroupSize > 1) interpretWorkgroups(kernel, arrays, dims, races);
  else interpret(kernel, arrays, dims);
  assert.is(races.found, undefined, printKernel(kernel));
  return arrays;
}

/** The recipes of one step that may be tried on a kernel. */
function stepsFor({ body }: Kernel): string[] {
  const loops = new Set<string>();
  const bound = new Set<string>();
  const accs = new Set<string>();
  const lets = new Set<string>();
  eachStmt(body, (s) => {
    if (s.kind === "loop") loops.add(plainName(s.name));
    if (s.kind === "letIndex") bound.add(plainName(bindingOf(s)!.name));
    if (s.kind === "acc") accs.add(s.name);
    if (s.kind === "let") lets.add(s.name);
  });
  const each = [...loops].flatMap((i) => [
    ...["serial", "unrolled", "simd", "parallel", "vector"].map((kind) => `mark ${i} ${kind}`),
    `unroll ${i} 2`,
    `unroll ${i} 3`,
    `split ${i} 2`,
    `split ${i} 4 block c`,
    `expand ${i} 4`,
    `inLanes ${i}`,
    `vectorise ${i}`,
    `keep ${i}`,
    `keep loads ${i}`,
    `keep double loads ${i}`,
    `grid 4 ${i}`,
    `registers ${i}`,
  ]);
  const pairs = [...loops].flatMap((i) =>
    [...loops].flatMap((j) => [
      `flatten row ${i} ${j}`,
      `reorder ${j} ${i}`,
      `inLanes ${i} ${j}`,
      `keep ${i} ${j}`,
      `grid 4 ${i} ${j}`,
      `cooperate ${i} ${j}`,
      `teams ${i} ${j} 2 4`,
      `teams ${i} ${j} 4 4`,
      `teams ${i} ${j} 2 4 apart`,
      `scan ${i} ${j} 4`,
      `scan ${i} ${j} 4 held`,
      `registers ${i} ${j}`,
      ...[...lets].map((v) => `stage ${v} panel ${i} ${i} ${j}`),
    ]),
  );
  const sums = [...accs].flatMap((a) => [...loops].map((i) => `splitSum ${i} ${a}`));
  const inlined = [...bound].map((i) => `inline ${i}`);
  return [
    "merge",
    "inLanes",
    "grid 4",
    "flatten all",
    ...sums,
    "prefetch",
    "blockSums",
    ...each,
    ...pairs,
    ...inlined,
    ...[...accs].map((a) => `promote ${a} f64`),
  ];
}

const taken = new Map<string, number>();

/** Moves after which invocations of a workgroup run the kernel. */
const spreading: ReadonlySet<string> = new Set(["grid", "cooperate", "teams", "scan"]);

/** Whether invocations add or multiply what each has found. */
function addsUp({ body }: Kernel): boolean {
  let adds = false;
  eachStmt(body, (s) => {
    if (s.kind === "combine" || s.kind === "prefix")
      adds ||= s.reducers.some((r) => r === "sum" || r === "prod");
  });
  return adds;
}

/** Takes a step: the kernel that it makes, which is sound and comes to the same, or undefined if it is refused. */
function moved(kernel: Kernel, step: string): Kernel | undefined {
  const made = tryRecipe(kernel.body, step, moves);
  if ("why" in made) {
    assert.ok(made.why.length > 0);
    return undefined;
  }
  const [name] = step.split(" ");
  const gpu = spreading.has(name!);
  if (gpu && faultsOf(kernel, "webgpu").length > 0) return undefined;
  const next: Kernel = { ...kernel, body: made, workgroupSize: gpu ? 4 : 1 };
  const shown = () => `${step}\n${printKernel(kernel)}\n${printKernel(next)}`;
  assert.equal(faultsOf(next, gpu ? "webgpu" : "wasm"), [], shown());
  const now = gpu ? results(next) : undefined;
  if (!roundsAnew.has(name!) || (gpu && !addsUp(next)))
    assert.equal(now ?? results(next), results(kernel), shown());
  if (printKernel(next) !== printKernel(kernel)) taken.set(name!, (taken.get(name!) ?? 0) + 1);
  return gpu ? undefined : next;
}

test("golden programs: every move that is taken keeps every bit, and each is taken", () => {
  for (const make of Object.values(programs))
    for (const { naive } of naiveKernelsOf(make(), { target: "js" }))
      for (const step of stepsFor(naive)) {
        const next = moved(naive, step);
        if (step.startsWith("unroll") && next) moved(next, "writeOut e");
        if (step.startsWith("vectorise") && next)
          for (const then of stepsFor(next)) if (/^(keep|grid)/.test(then)) moved(next, then);
        if (step.startsWith("keep") && next)
          for (const then of stepsFor(next)) if (then.startsWith("teams")) moved(next, then);
        if (!step.startsWith("split") || !next) continue;
        for (const then of stepsFor(next))
          if (/^(inline|expand|splitSum)/.test(then)) moved(next, then);
      }
  moved(parseKernel(longRows), "prefetch");
  moved(parseKernel(longRows), "blockSums");
  assert.equal(
    Object.keys(moves).filter((name) => !taken.has(name)),
    [],
  );
});

/** Rows of half a page and more are fetched ahead, and summed in blocks. */
const longRows = `kernel sums
  read x@: f32[262144]
  write y@: f32[256]
{
  loop i' < 256 parallel {
    acc sum0: f32 = 0 widened
    loop j' < 1024 serial {
      accumulate sum0 by sum x@[1024*i'+j']
    }
    loop j' < 1024 simd {
      accumulate sum0 by sum x@[1024*i'+j']
    }
    store y@[i'] = sum0
  }
}
`;

const joined = `kernel joined
  dim N
  read x@: i32[120*N]
  write y@: i32[120*N]
  write z@: i32[120*N]
  write w@: i32[3*N]
{
  loop i' < 3*N parallel {
    acc sum0: i32 = 0:i32
    acc max1: i32 = -2147483648:i32
    acc sum2: i32 = 0:i32
    loop r' < 40 serial {
      let next = x@[40*i'+r']
      accumulate max1 by max sub(x@[40*i'-r'+39], 7:i32)
      accumulate sum2 by sum next
      store y@[40*i'+r'] = add(sum0, next)
      store z@[40*i'-r'+39] = max1
      accumulate sum0 by sum next
    }
    store w@[i'] = sum2
  }
}
`;

test("a line that is scanned in tiles comes to the same where nothing is rounded", () => {
  for (const length of [40, 32, 16, 7])
    for (const held of ["", " held"]) {
      const from = parseKernel(
        joined.replaceAll("40", `${length}`).replaceAll("39", `${length - 1}`),
      );
      const made = tryRecipe(from.body, `scan i r 4${held}`, moves);
      if ("why" in made) throw new Error(made.why);
      const next: Kernel = { ...from, body: made, workgroupSize: 4 };
      assert.equal(faultsOf(next, "webgpu"), []);
      assert.equal(results(next), results(from), printKernel(next));
    }
});

/** Takes some of the steps that are possible, one after the other. */
function wander(kernel: Kernel, picks: readonly number[]): void {
  let now = kernel;
  for (const pick of picks) {
    const steps = stepsFor(now);
    now = moved(now, steps[pick % steps.length]!) ?? now;
  }
}

const picks = fc.array(fc.nat(1000), { minLength: 1, maxLength: 6 });

test("random programs: moves one after the other keep every bit", () => {
  fc.assert(
    fc.property(randomProgram({ symbolic: true }), picks, (p, list) => {
      for (const { naive } of naiveKernelsOf(sized(p.program), { target: "js" }))
        wander(naive, list);
    }),
    { numRuns: runs(40) },
  );
});

test("random kernels: moves one after the other keep every bit", () => {
  fc.assert(
    fc.property(choices, picks, (c, list) => {
      const kernel = anyKernel(c);
      if (faultsOf(kernel, "wasm").length === 0) wander(kernel, list);
    }),
    { numRuns: runs(150) },
  );
});

test.run();
