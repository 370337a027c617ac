/**
 * How long compilation takes, warm and the first time, how it grows with the program, and whether one artifact serves every batch size.
 */

import type { TargetName } from "@kiln-ml/artifact";
import { dim, type Tensor } from "@kiln-ml/ir";
import { compileProgram } from "../compiler/src/all.ts";
import { nodesOf, type Program } from "../compiler/src/program.ts";
import { eagerCompiles } from "../packages/kiln/src/devices/engine.ts";
import { defaultTarget, setDefaultTarget } from "../packages/kiln/src/devices/session.ts";
import { compile, tensor } from "../packages/kiln/src/index.ts";
import { compiled, mlpStep } from "./cases.ts";
import { chainWithGradients, concatOfInputs, sumOfInputs } from "./deep-cases.ts";
import { timed, timingOf } from "./measure.ts";
import { bounded, type Row } from "./row.ts";
import { open } from "./session.ts";
import { gptProgram, sizes as sizesOfGpt } from "./xla/gpt.ts";
import { resnetStep } from "./xla/resnet.ts";

const goalMs = 300;

export async function compileRows(selected: (name: string) => boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (const c of compiled.filter(({ name }) => selected(name))) {
    const times: number[] = [];
    let kernels = 0;
    for (let i = 0; i < 8; i++) {
      const program = c.build();
      const compile = () => {
        kernels = compileProgram(program, { target: "js" }).artifact.plan.steps.length;
      };
      times.push(await timed(compile));
    }
    const [first, ...rest] = times;
    const { median, spread } = timingOf(rest);
    const note = `${kernels} kernels, first time in the process ${first!.toFixed(0)} ms`;
    const row = { case: c.name, target: "js", metric: "compile", unit: "ms", spread, note };
    rows.push(bounded({ ...row, value: median }, goalMs));
  }
  if (selected("recompiles")) rows.push(await recompiles());
  rows.push(...stepRows(selected), ...deepRows(selected));
  if (selected("eager")) rows.push(await accumulation(), await eagerLoop());
  return rows;
}

/** One executable of a symbolic batch runs batches of several sizes; it could not compile again if it wanted. */
async function recompiles(): Promise<Row> {
  const batches = [1, 7, 32];
  const program = mlpStep(dim("batch", { max: 4096 }));
  let compilations = 0;
  const session = await open(program, { observe: (stage) => stage === "fuse" && compilations++ });
  for (const batch of batches) await session.runWith({ batch });
  session.dispose();
  const row = { case: "recompiles", target: "js", metric: "recompiles", unit: "" };
  const note = `batches of ${batches.join(", ")} through one artifact`;
  return bounded({ ...row, value: compilations - 1, note }, 0);
}

type Goals = Partial<Record<TargetName, number>>;

/** Training steps that people wait for, and how long they may. */
const steps: readonly (readonly [name: string, build: () => Program, goalMs: Goals])[] = [
  ["ResNet-50 step", () => resnetStep(32, 224), { webgpu: 2000, wasm: 1000 }],
  ["GPT step, 6 layers", () => gptProgram(sizesOfGpt.gpt!, 4), { webgpu: 800, wasm: 800 }],
];
const kernelGoalMs = 6;

function stepRows(selected: (name: string) => boolean): Row[] {
  const rows: Row[] = [];
  for (const [name, build, goals] of steps.filter(([name]) => selected(name)))
    for (const [target, goal] of Object.entries(goals) as [TargetName, number][]) {
      const program = build();
      let lowered = 0;
      const before = process.cpuUsage();
      const { artifact } = compileProgram(program, { target, verify: () => lowered++ });
      const { user, system } = process.cpuUsage(before);
      const value = (user + system) / 1000;
      const { length: modules } = artifact.kernels;
      const row = { case: name, target, metric: "compile", unit: "ms of CPU", spread: 0 };
      const note = `${artifact.plan.steps.length} kernels, ${modules} distinct, ${lowered} lowered`;
      rows.push(bounded({ ...row, value, note }, goal));
      const each = { ...row, metric: "a distinct kernel", value: value / modules };
      rows.push(bounded(each, kernelGoalMs));
    }
  return rows;
}

const deepGoalMs = 10_000;
const sizes = [1000, 10_000, 100_000];

/** What loops without an end in sight build, at growing sizes: the exponent says how time grows with the nodes. */
function deepRows(selected: (name: string) => boolean): Row[] {
  const rows: Row[] = [];
  if (selected("chain"))
    for (const target of ["js", "wasm", "webgpu"] as const) {
      let before: Deep | undefined;
      for (const n of sizes) {
        const now = compiledDeep(chainWithGradients(n / 4), target);
        rows.push(deepRow(`chain of ${n}, with gradients`, target, now, before));
        before = now;
      }
    }
  for (const [name, make, n] of [
    ["sum of inputs", sumOfInputs, 4000],
    ["concat of inputs", concatOfInputs, 2000],
  ] as const)
    if (selected(name)) {
      const before = compiledDeep(make(n / 4), "js");
      rows.push(deepRow(`${name}: ${n}`, "js", compiledDeep(make(n), "js"), before));
    }
  return rows;
}

interface Deep {
  readonly nodes: number;
  readonly kernels: number;
  readonly ms: number;
}

function compiledDeep(program: Program, target: TargetName): Deep {
  const start = performance.now();
  const { artifact } = compileProgram(program, { target });
  const ms = performance.now() - start;
  return { nodes: nodesOf(program).length, kernels: artifact.plan.steps.length, ms };
}

function deepRow(name: string, target: TargetName, now: Deep, before: Deep | undefined): Row {
  const { nodes, kernels, ms } = now;
  const grows = before && Math.log(ms / before.ms) / Math.log(nodes / before.nodes);
  const growth = grows === undefined ? "" : `, grows as n^${grows.toFixed(2)}`;
  const note = `${nodes} nodes, ${kernels} kernels${growth}`;
  const row = { case: name, target, metric: "compile", unit: "ms", value: ms, note };
  return bounded(row, deepGoalMs);
}

/** A total that a script adds to at each of many steps, and reads once. */
async function accumulation(): Promise<Row> {
  const steps = 1000;
  const f = compile((x: Tensor) => x.mul(2).sum(), { target: "js" });
  const x = tensor([1, 2]);
  const before = eagerCompiles();
  const start = performance.now();
  let total: Tensor = tensor(0);
  for (let i = 0; i < steps; i++) total = total.add(await f(x));
  await total.item();
  const value = performance.now() - start;
  const note = `${eagerCompiles() - before} programs compiled`;
  const name = `eager total of ${steps} steps`;
  return bounded({ case: name, target: "js", metric: "run", unit: "ms", value, note }, deepGoalMs);
}

const eagerGoalUs = 20;

/** Small operations, of which a script reads the last: recorded, found again and run. */
async function eagerLoop(): Promise<Row> {
  const [length, rounds] = [100, 20];
  const before = eagerCompiles();
  const target = defaultTarget();
  setDefaultTarget("js");
  let start = 0;
  for (let round = -2; round < rounds; round++) {
    // What is compiled, and what the engine warms up, is not of the loop.
    if (round === 0) start = performance.now();
    let t: Tensor = tensor([round, 1]);
    for (let i = 0; i < length; i++) t = t.add(1);
    await t.data();
  }
  const value = (1000 * (performance.now() - start)) / (length * rounds);
  setDefaultTarget(target);
  const note = `${length} additions a read, ${eagerCompiles() - before} programs compiled`;
  const row = { case: "eager loop of additions", target: "js", metric: "an operation", unit: "µs" };
  return bounded({ ...row, value, note }, eagerGoalUs);
}
