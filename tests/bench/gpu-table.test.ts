/** The GPU table counts the goals that a row misses, and no goal names what the table lacks. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { gpuRows } from "../../bench/gpu-cases.ts";
import { type GpuResult, gpuTable } from "../../bench/gpu-table.ts";

const row = (name: string, more: Partial<GpuResult> = {}): GpuResult => ({
  case: name,
  ms: 1,
  kernels: 1,
  gbPerS: 1,
  tflopPerS: 10,
  cpuMicroseconds: 50,
  peers: {},
  ...more,
});

test("a goal is met at its bound, and missed beyond it", () => {
  const results = (ms: number, tflopPerS: number, ofCopy: number) => [
    row("wide", { ms, cpuMicroseconds: 100 * ms, ofCopy, peers: { torch: 0.5, tfjs: 2 } }),
    row("odd", { tflopPerS, goal: { beside: "wide" } }),
  ];
  const goal = { torch: 0.5, copy: 0.9, ms: 1, cpuMicroseconds: 100 };
  const missed = (...[wide, odd]: readonly GpuResult[]) =>
    gpuTable([{ ...wide!, goal }, odd!]).missed;
  assert.is(missed(...results(1, 8.5, 0.9)), 0);
  assert.is(missed(...results(1, 8.4, 0.8)), 2);
  // Of PyTorch, of the web's, milliseconds and the processor's time.
  assert.is(missed(...results(1.1, 8.5, 0.9)), 4);
});

test("a goal missed by little does not print as if it was met", () => {
  const { text } = gpuTable([row("near", { ofCopy: 0.8971, goal: { copy: 0.9 } })]);
  assert.match(text, /of copy 0\.8971 ≥ 0\.90 MISSED/);
});

test("without its peers a row has no goal to miss", () => {
  const { text, missed } = gpuTable([row("alone", { goal: { torch: 1, beside: "none" } })]);
  assert.is(missed, 0);
  assert.not.match(text, /met|MISSED/);
});

test("every goal is of something that its row has", () => {
  const names = gpuRows.map((r) => r.name);
  assert.is(new Set(names).size, names.length);
  for (const { name, goal, peer, memory, flops } of gpuRows) {
    if (goal?.torch) assert.ok(peer, name);
    if (goal?.copy) assert.ok(memory, name);
    if (goal?.beside) assert.ok(flops && names.includes(goal.beside), name);
  }
});

test.run();
