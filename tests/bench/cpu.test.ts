/**
 * The CPU table's arithmetic: ratios to peers of as many threads, the mean, agreement of results,
 * and the ONNX bytes.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { againstRows } from "../../bench/cpu/against.ts";
import { difference, type Measured } from "../../bench/cpu/measure.ts";
import { encodeOnnx } from "../../bench/cpu/onnx.ts";
import type { Check } from "../../bench/cpu/protocol.ts";
import {
  absentRows,
  behind,
  meanRatio,
  type Result,
  ratioTo,
  rowsOf,
  summaryRows,
} from "../../bench/cpu/rows.ts";
import { cpuTable } from "../../bench/cpu/table.ts";
import { floats, permuted, workloadNamed } from "../../bench/cpu/workloads.ts";

const one: readonly Check[] = [
  [1, 2],
  [1, 2],
];

const took = (name: string, threads: number, median: number, checks = one): Measured => ({
  name,
  threads,
  timing: { median, spread: 0, rounds: 3 },
  checks,
  runs: 3,
});

const result = (name: string, ...measured: Measured[]): Result => ({
  workload: workloadNamed(name),
  measured,
});

const softmax = result(
  "softmax",
  took("kiln", 1, 4),
  took("kiln", 2, 3),
  took("jax-js", 1, 40),
  took("tfjs wasm", 1, 6),
  took("tfjs cpu", 1, 2.4),
  took("PyTorch", 2, 1.5),
);

test("a ratio is to the fastest peer of its kind and threads; one without threads counts for all", () => {
  const faster = result(
    "softmax",
    took("kiln", 1, 4),
    took("tfjs wasm", 1, 6),
    took("jax-js", 2, 1),
  );
  assert.is(ratioTo(faster, "web", 1), 1.5);
  assert.is(ratioTo(softmax, "web", 2), 2.4 / 3);
  assert.is(ratioTo(softmax, "native", 2), 0.5);
  assert.is(ratioTo(softmax, "native", 1), undefined);
});

test("the mean is geometric, and rows for information count nowhere", () => {
  const fast = (name: string, ratio: number): Result =>
    result(name, took("kiln", 1, 1), took("jax-js", 1, ratio));
  const results = [fast("sum0", 8), fast("sum1", 0.5), fast("chain64", 0.001)];
  assert.ok(Math.abs(meanRatio(results, 1)! - 2) < 1e-12);
  assert.equal(behind(results, 1), ["sum1"]);
});

test("native code is measured against native peers, twice as fast on rows, and wasm is beside it", () => {
  const row = result(
    "softmax",
    took("kiln", 1, 4),
    took("kiln wasm", 1, 9),
    took("ORT native", 1, 12),
    took("PyTorch", 1, 7),
  );
  const [time] = rowsOf(row, "native");
  assert.equal([time!.peer, time!.ratio, time!.goal, time!.met], ["PyTorch", 1.75, "≥ 2×", false]);
  assert.is(time!.note, "kiln wasm 9.00");
  const [mean, late] = summaryRows([row], "native", [1]);
  assert.equal([mean!.value, mean!.goal, late!.value], [1.75, "≥ 1.2", 0]);
  assert.match(cpuTable([row], [1], "native"), "≥ 2× MISSED");
  assert.match(cpuTable([row], [1], "wasm"), "≤ 5 met");
  const [absent] = absentRows([["PyTorch", "no Python here has torch"]]);
  assert.equal(
    [absent!.target, absent!.value, absent!.note],
    ["PyTorch", null, "no Python here has torch"],
  );
});

test("results of a training step are compared after as many steps", () => {
  const mine = took("kiln", 1, 1, [
    [2, 2],
    [1, 1],
  ]);
  const early: Measured = {
    ...took("jax-js", 1, 1, [
      [2, 2],
      [2, 2],
    ]),
    runs: 1,
  };
  assert.is(difference(mine, early, true), 0);
  assert.is(difference(mine, early, false), 0.5);
});

test("a missing time misses the goal, and unequal results are a missed row", () => {
  const wrong = result("sum0", took("kiln", 1, 4), took("jax-js", 1, 5, [[1.1, 2]]));
  const failed = result("sum0", { name: "kiln", threads: 1, error: "out of memory" });
  const missed = (r: Result) =>
    rowsOf(r, "wasm")
      .filter((row) => row.met === false)
      .map((row) => row.metric);
  assert.equal(missed(wrong), ["difference"]);
  assert.equal(missed(failed), ["time, 1 thread"]);
});

test("operands repeat, stay within their scale, and are reordered by axes", () => {
  const operand = { seed: 3, shape: [2, 3], scale: 0.5 };
  const values = floats(operand);
  assert.equal(values, floats(operand));
  assert.ok(values.every((v) => Math.abs(v) <= 0.5));
  const order = permuted(Float32Array.of(0, 1, 2, 3, 4, 5), [2, 3], [1, 0]);
  assert.equal([...order], [0, 3, 1, 4, 2, 5]);
});

test("an ONNX model is fields of the protocol buffer", () => {
  const bytes = encodeOnnx({
    nodes: [{ op: "Neg", inputs: ["x"], outputs: ["y"] }],
    weights: {},
    inputs: { x: [300] },
    output: { name: "y", shape: [300] },
  });
  const hex = Buffer.from(bytes).toString("hex");
  // IR version 9; the graph's node x → y, Neg; the extent 300 as two bytes; operator set 20.
  assert.match(hex, /^08093a/);
  assert.match(hex, "0a0b0a017812017922034e6567");
  assert.match(hex, "08ac02");
  assert.match(hex, /42040a001014$/);
});

test("against an earlier tree, a row may take 3 % longer, and needs a time of both", () => {
  const rows = againstRows("softmax", "wasm", [
    took("a375070", 1, 100),
    took("now", 1, 103),
    took("a375070", 2, 100),
    took("now", 2, 104),
  ]);
  assert.equal(
    rows.map((r) => [r.metric, r.peer, r.peerValue, r.met]),
    [
      ["time, 1 thread", "a375070", 100, true],
      ["time, 2 threads", "a375070", 100, false],
    ],
  );
  const absent = { name: "a375070", threads: 1, error: "no such op" };
  const [row] = againstRows("softmax", "wasm", [absent, took("now", 1, 1)]);
  assert.equal([row!.value, row!.met, row!.note], [null, false, "no such op"]);
});

test.run();
