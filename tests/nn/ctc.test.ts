/**
 * CTC against the sum over all alignments, written out: repeats, empty targets, lengths by sample, targets that do not fit.
 */
import { grad, input, makeValue, type Tensor, tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { agreesOnJs } from "../support/targets.ts";
import { nullDevice } from "../support/webgpu.ts";
import { Session } from "./fixture.ts";

const [T, C] = [5, 4];
/** Target and steps of each sample; targets are padded to S with a class that must not matter. */
const samples: readonly (readonly [target: readonly number[], steps: number])[] = [
  [[1, 2], 5],
  [[1, 1], 4],
  [[3, 3, 3], 5],
  [[], 3],
  [[2], 1],
  [[1, 2, 3], 2],
  [[2, 2], 2],
  [[1, 2, 1], 3],
];
const [N, S] = [samples.length, 3];

/** What an alignment says: repeats merged, then blanks dropped. */
const said = (path: readonly number[], blank: number): string =>
  path.filter((c, i) => c !== blank && c !== path[i - 1]).join();

/** The likelihood over all C^steps alignments, by sample. */
function byAlignments(scores: readonly number[], blank: number): number[] {
  return samples.map(([target, steps], n) => {
    const p = Array.from({ length: steps }, (_, t) => {
      const row = scores.slice((t * N + n) * C, (t * N + n + 1) * C).map(Math.exp);
      const sum = row.reduce((x, y) => x + y, 0);
      return row.map((v) => v / sum);
    });
    let likelihood = 0;
    for (let code = 0; code < C ** steps; code++) {
      const path = Array.from({ length: steps }, (_, t) => Math.floor(code / C ** t) % C);
      if (said(path, blank) === target.join())
        likelihood += path.reduce((x, c, t) => x * p[t]![c]!, 1);
    }
    return -Math.log(likelihood);
  });
}

const scores = Array.from({ length: T * N * C }, (_, i) => 1.5 * Math.sin(1 + 1.7 * i));
const lengthsOf = (values: readonly number[]) => tensor(values, { dtype: "i32" });
/** With blank 3 the labels 0, 1, 2 stand for 1, 2, 3 of blank 0. */
const labels = () =>
  tensor(
    samples.flatMap(([t]) => [...t, 1, 1, 1].slice(0, S)),
    { dtype: "i32", shape: [N, S] },
  );

function lossOf(x: Tensor, options: nn.CtcOptions = {}): Tensor {
  return nn.ctc(x.logSoftmax(-1), labels(), {
    inputLengths: lengthsOf(samples.map(([, steps]) => steps)),
    targetLengths: lengthsOf(samples.map(([t]) => t.length)),
    ...options,
  });
}

const run = (y: readonly Tensor[], x: Tensor, at = scores): number[][] =>
  new Session()
    .run(y, new Map(), new Map([[x, makeValue("f64", [T, N, C], at)]]))
    .map((v) => [...v.data]);
const near = (got: readonly number[], want: readonly number[], tolerance: number): void => {
  assert.is(got.length, want.length);
  for (const [i, w] of want.entries())
    assert.ok(got[i] === w || Math.abs(got[i]! - w) <= tolerance, `${i}: ${got[i]}, want ${w}`);
};

test("each loss is the sum over all alignments, infinite where none fits", () => {
  const x = input("x", "f64", [T, N, C]);
  const want = byAlignments(scores, 0);
  assert.equal(want.map(Number.isFinite), [true, true, true, true, true, false, false, true]);
  near(run([lossOf(x, { reduction: "none" })], x)[0]!, want, 1e-10);
});

test("gradients are differences of the sum over alignments, and 0 where none fits", () => {
  const x = input("x", "f64", [T, N, C]);
  const y = lossOf(x, { reduction: "none", zeroInfinity: true });
  const [losses, g] = run([y, ...grad(y.sum(), [x])], x);
  const finite = (v: readonly number[]) => v.map((l) => (Number.isFinite(l) ? l : 0));
  near(losses!, finite(byAlignments(scores, 0)), 1e-10);
  const h = 1e-3;
  const at = (i: number, d: number): number => {
    const moved = scores.map((v, j) => (i === j ? v + d : v));
    return finite(byAlignments(moved, 0)).reduce((a, b) => a + b, 0);
  };
  for (let i = 0; i < scores.length; i += 3) {
    const slope = (8 * (at(i, h) - at(i, -h)) - (at(i, 2 * h) - at(i, -2 * h))) / (12 * h);
    assert.ok(Math.abs(g![i]! - slope) < 1e-8, `${i}: ${g![i]}, want ${slope}`);
  }
});

test("the mean divides by the lengths of targets, the sum does not", () => {
  const x = input("x", "f64", [T, N, C]);
  const each = byAlignments(scores, 0).map((l) => (Number.isFinite(l) ? l : 0));
  const mean = each.reduce((sum, l, n) => sum + l / Math.max(1, samples[n]![0].length), 0) / N;
  const [got, sum] = run(
    [lossOf(x, { zeroInfinity: true }), lossOf(x, { zeroInfinity: true, reduction: "sum" })],
    x,
  );
  near(got!, [mean], 1e-10);
  near(sum!, [each.reduce((a, b) => a + b, 0)], 1e-10);
});

test("the blank may be another class, and without lengths all counts", () => {
  const x = input("x", "f64", [2, 1, 2]);
  const target = tensor([0], { dtype: "i32", shape: [1, 1] });
  const y = nn.ctc(x.logSoftmax(-1), target, { blank: 1 });
  const feeds = new Map([[x, makeValue("f64", [2, 1, 2], [0.3, -0.2, 0.9, 0.1])]]);
  const p = [0.5, 0.8].map((d) => 1 / (1 + Math.exp(-d)));
  near(
    [new Session().run([y], new Map(), feeds)[0]!.data[0]!],
    [-Math.log(1 - (1 - p[0]!) * (1 - p[1]!))],
    1e-12,
  );
});

test("targets without any labels are all blanks", () => {
  const x = input("x", "f64", [2, 1, 2]);
  const y = nn.ctc(x.logSoftmax(-1), tensor([], { dtype: "i32", shape: [1, 0] }));
  const feeds = new Map([[x, makeValue("f64", [2, 1, 2], [0, 0, 0, 0])]]);
  near([new Session().run([y], new Map(), feeds)[0]!.data[0]!], [2 * Math.log(2)], 1e-12);
});

test("the program agrees on js, and is valid on webgpu", async () => {
  const x = input("x", "f32", [T, N, C]);
  const y = lossOf(x, { zeroInfinity: true });
  const outputs = [y, ...grad(y, [x])].map((value, i) => ({ name: `y${i}`, value }));
  const program = { inputs: [x], outputs, updates: [] };
  await agreesOnJs(program, new Map([[x, makeValue("f32", [T, N, C], scores)]]));
  const device = await nullDevice();
  for (const k of compileProgram(program, { target: "webgpu" }).artifact.kernels)
    assert.equal(await problemsOf(device, k), [], k.text);
  device.destroy();
});

test.run();
