/**
 * Losses in f64 against their formulas in doubles, and their gradients against differences of those formulas; then the same programs
 * on js and wasm, and their kernels' validity on webgpu.
 */
import { grad, input, makeValue, type Tensor, tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { problemsOf } from "../printers/run-wgsl.ts";
import { agreesOnJs, agreesOnWasm } from "../support/targets.ts";
import { nullDevice } from "../support/webgpu.ts";
import { Session } from "./fixture.ts";

type Numbers = readonly number[];
interface Case {
  readonly inputs: readonly (readonly [shape: Numbers, values: Numbers])[];
  readonly loss: (...x: Tensor[]) => Tensor;
  /** Losses before reduction, in doubles. */
  readonly formula: (...x: Numbers[]) => number[];
  /** What the losses are divided by in the end; their count by default. */
  readonly divisor?: number;
  /** Which inputs are differentiated; all by default. */
  readonly live?: number;
}

const wave = (n: number, k: number): number[] =>
  Array.from({ length: n }, (_, i) => Math.sin(1 + k * i));
const unit = (n: number, k: number): number[] => wave(n, k).map((v) => 0.5 + 0.45 * v);
const sides = (n: number): number[] => Array.from({ length: n }, (_, i) => (i % 3 ? 1 : -1));
const rowsOf = (x: Numbers, d: number): number[][] =>
  Array.from({ length: x.length / d }, (_, i) => x.slice(i * d, (i + 1) * d));
const softplus = (x: number) => Math.log1p(Math.exp(-Math.abs(x))) + Math.max(x, 0);
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const dot = (x: Numbers, y: Numbers) => x.reduce((s, v, i) => s + v * y[i]!, 0);
const total = (x: Numbers) => x.reduce((a, b) => a + b, 0);
const pnorm = (x: Numbers, p: number) => total(x.map((v) => Math.abs(v) ** p)) ** (1 / p);
/** What constants of a case are in: the reference runs in f64, the targets in f32. */
let floats: "f64" | "f32" = "f64";
const t = (values: Numbers, shape = [values.length], dtype?: "i32") =>
  tensor(values, { dtype: dtype ?? floats, shape });

const [a, b, c] = [wave(12, 1.1), wave(12, 0.7), wave(12, 2.3)];
const S = [3, 4];
const pair = (x: Numbers, y: Numbers) =>
  [
    [S, x],
    [S, y],
  ] as const;
const classes = [2, 0, 3];
const bce = (x: number, y: number, positive = 1) =>
  (1 - y) * x + (1 + (positive - 1) * y) * softplus(-x);
const gram = (x: Numbers): number[] =>
  [0, 1].flatMap((n) => {
    const rows = rowsOf(x.slice(n * 6, n * 6 + 6), 3);
    return rows.flatMap((r) => rows.map((s) => dot(r, s) / 6));
  });
const nce = (q: Numbers, k: Numbers, tau: number, cosine: boolean): number[] => {
  const brought = (x: Numbers) =>
    rowsOf(x, 4).map((r) => r.map((v) => v / (cosine ? pnorm(r, 2) : 1)));
  const [Q, K] = [brought(q), brought(k)];
  return Q.map((r, i) => {
    const s = K.map((v) => dot(r, v) / tau);
    return Math.log(total(s.map(Math.exp))) - s[i]!;
  });
};

// biome-ignore format: one loss a row
const cases: Readonly<Record<string, Case>> = {
  "lp 3": { inputs: pair(a, b), loss: (x, y) => nn.lp(x, y, { p: 3 }), formula: (x, y) => x.map((v, i) => Math.abs(v - y[i]!) ** 3) },
  "lp": { inputs: pair(a, b), loss: (x, y) => nn.lp(x, y), formula: (x, y) => x.map((v, i) => (v - y[i]!) ** 2) },
  "gaussianNll full": { inputs: [...pair(a, b), [S, unit(12, 1.7)]], loss: (x, y, v) => nn.gaussianNll(x, y, v, { full: true }), formula: (x, y, v) => x.map((m, i) => 0.5 * (Math.log(v[i]!) + (m - y[i]!) ** 2 / v[i]! + Math.log(2 * Math.PI))) },
  "gaussianNll by rows": { inputs: [...pair(a, b), [[3, 1], [0.5, 0.7, 2]]], loss: (x, y, v) => nn.gaussianNll(x, y, v), formula: (x, y, v) => x.map((m, i) => 0.5 * (Math.log(v[i >> 2]!) + (m - y[i]!) ** 2 / v[i >> 2]!)) },
  "poissonNll": { inputs: pair(a, unit(12, 1.7)), loss: (x, y) => nn.poissonNll(x, y), formula: (x, y) => x.map((v, i) => Math.exp(v) - y[i]! * v) },
  "poissonNll full": { inputs: pair(unit(12, 1.3), wave(12, 2).map((v) => 3 + 2.5 * v)), loss: (x, y) => nn.poissonNll(x, y, { logInput: false, full: true, eps: 0.01 }), formula: (x, y) => x.map((v, i) => v - y[i]! * Math.log(v + 0.01) + (y[i]! > 1 ? y[i]! * Math.log(y[i]!) - y[i]! + 0.5 * Math.log(2 * Math.PI * y[i]!) : 0)) },
  "klDiv": { inputs: pair(a, unit(12, 1.7)), loss: (x, y) => nn.klDiv(x, y), formula: (x, y) => x.map((v, i) => y[i]! * (Math.log(y[i]!) - v)) },
  "klDiv zero": { inputs: pair(a, unit(12, 1.7).map((v, i) => (i % 4 ? v : 0))), loss: (x, y) => nn.klDiv(x, y, { reduction: "batchMean" }), formula: (x, y) => x.map((v, i) => (y[i] ? y[i]! * (Math.log(y[i]!) - v) : 0)), divisor: 3, live: 1 },
  "klDiv logTarget": { inputs: pair(a, b), loss: (x, y) => nn.klDiv(x, y, { logTarget: true, reduction: "sum" }), formula: (x, y) => x.map((v, i) => Math.exp(y[i]!) * (y[i]! - v)), divisor: 1 },
  "hingeEmbedding": { inputs: [[S, a]], loss: (x) => nn.hingeEmbedding(x, t(sides(12), S), { margin: 0.5 }), formula: (x) => x.map((v, i) => (sides(12)[i] === 1 ? v : Math.max(0, 0.5 - v))) },
  "marginRanking": { inputs: pair(a, b), loss: (x, y) => nn.marginRanking(x, y, t(sides(12), S), { margin: 0.3 }), formula: (x, y) => x.map((v, i) => Math.max(0, -sides(12)[i]! * (v - y[i]!) + 0.3)) },
  "softMargin": { inputs: [[S, a]], loss: (x) => nn.softMargin(x, t(sides(12), S)), formula: (x) => x.map((v, i) => Math.log1p(Math.exp(-sides(12)[i]! * v))) },
  "multiMargin": { inputs: [[S, a]], loss: (x) => nn.multiMargin(x, t(classes, [3], "i32"), { margin: 0.7 }), formula: (x) => rowsOf(x, 4).map((r, i) => total(r.map((v, j) => (j === classes[i] ? 0 : Math.max(0, 0.7 - r[classes[i]!]! + v)))) / 4) },
  "multiMargin squared": { inputs: [[S, a]], loss: (x) => nn.multiMargin(x, t(classes, [3], "i32"), { p: 2, weight: t([1, 2, 3, 4]) }), formula: (x) => rowsOf(x, 4).map((r, i) => ((classes[i]! + 1) * total(r.map((v, j) => (j === classes[i] ? 0 : Math.max(0, 1 - r[classes[i]!]! + v) ** 2)))) / 4) },
  "multiLabelSoftMargin": { inputs: [[S, a]], loss: (x) => nn.multiLabelSoftMargin(x, t(unit(12, 3), S), { weight: t([1, 2, 3, 4]) }), formula: (x) => rowsOf(x, 4).map((r, i) => total(r.map((v, j) => (j + 1) * bce(v, unit(12, 3)[i * 4 + j]!))) / 4) },
  "tripletMargin": { inputs: [...pair(a, b), [S, c]], loss: (x, y, z) => nn.tripletMargin(x, y, z), formula: (x, y, z) => rowsOf(x, 4).map((r, i) => { const d = (o: Numbers) => pnorm(r.map((v, j) => v - o[i * 4 + j]! + 1e-6), 2); return Math.max(0, d(y) - d(z) + 1); }) },
  "tripletMargin swap": { inputs: [...pair(a, b), [S, c]], loss: (x, y, z) => nn.tripletMargin(x, y, z, { p: 3, swap: true, margin: 2, eps: 0.01 }), formula: (x, y, z) => { const d = (u: Numbers, v: Numbers, i: number) => pnorm(u.slice(i * 4, i * 4 + 4).map((w, j) => w - v[i * 4 + j]! + 0.01), 3); return [0, 1, 2].map((i) => Math.max(0, d(x, y, i) - Math.min(d(x, z, i), d(y, z, i)) + 2)); } },
  "cosineEmbedding": { inputs: pair(a, b), loss: (x, y) => nn.cosineEmbedding(x, y, t([1, -1, 1]), { margin: -0.9 }), formula: (x, y) => rowsOf(x, 4).map((r, i) => { const o = rowsOf(y, 4)[i]!; const cos = dot(r, o) / pnorm(r, 2) / pnorm(o, 2); return i === 1 ? Math.max(0, cos + 0.9) : 1 - cos; }) },
  "bce smoothed": { inputs: [[S, unit(12, 1.3)]], loss: (p) => nn.bce(p, t(unit(12, 3), S), { labelSmoothing: 0.2, weight: t([1, 2, 3, 4]) }), formula: (p) => p.map((v, i) => { const y = unit(12, 3)[i]! * 0.8 + 0.1; return -((i % 4) + 1) * (y * Math.log(v) + (1 - y) * Math.log(1 - v)); }) },
  "bceWithLogits smoothed": { inputs: [[S, a]], loss: (x) => nn.bceWithLogits(x, t(unit(12, 3), S), { labelSmoothing: 0.2, weight: t([1, 2, 3, 4]), positiveWeight: 3 }), formula: (x) => x.map((v, i) => ((i % 4) + 1) * bce(v, unit(12, 3)[i]! * 0.8 + 0.1, 3)) },
  "focal": { inputs: [[S, a]], loss: (x) => nn.focal(x, t(sides(12).map((s) => (s + 1) / 2), S)), formula: (x) => x.map((v, i) => { const y = (sides(12)[i]! + 1) / 2; const p = y ? sigmoid(v) : 1 - sigmoid(v); return -(y ? 0.25 : 0.75) * (1 - p) ** 2 * Math.log(p); }) },
  "focal gamma": { inputs: [[S, a]], loss: (x) => nn.focal(x, t(unit(12, 3), S), { alpha: -1, gamma: 1.5 }), formula: (x) => x.map((v, i) => { const y = unit(12, 3)[i]!; const p = y * sigmoid(v) + (1 - y) * (1 - sigmoid(v)); return (1 - p) ** 1.5 * bce(v, y); }) },
  "dice": { inputs: [[S, unit(12, 1.3)]], loss: (p) => nn.dice(p, t(unit(12, 3), S)), formula: (p) => rowsOf(p, 4).map((r, i) => { const y = rowsOf(unit(12, 3), 4)[i]!; return 1 - (2 * dot(r, y) + 1) / (total(r) + total(y) + 1); }) },
  "infoNce": { inputs: pair(a, b), loss: (x, y) => nn.infoNce(x, y, { temperature: 0.5 }), formula: (x, y) => nce(x, y, 0.5, true) },
  "infoNce symmetric": { inputs: pair(a, b), loss: (x, y) => nn.infoNce(x, y, { symmetric: true, normalize: false, temperature: 0.7 }), formula: (x, y) => { const other = nce(y, x, 0.7, false); return nce(x, y, 0.7, false).map((v, i) => (v + other[i]!) / 2); } },
  "gramMatrixLoss": { inputs: [[[2, 2, 3], a], [[2, 2, 3], b]], loss: (x, y) => nn.gramMatrixLoss(x, y), formula: (x, y) => gram(x).map((v, i) => (v - gram(y)[i]!) ** 2) },
};

const reduced = (k: Case, values: readonly Numbers[]): number => {
  const losses = k.formula(...values);
  return total(losses) / (k.divisor ?? losses.length);
};

function programOf(k: Case, dtype: "f64" | "f32") {
  floats = dtype;
  const inputs = k.inputs.map(([shape], i) => input(`x${i}`, dtype, shape));
  const y = k.loss(...inputs);
  const values = [y, ...grad(y, inputs.slice(0, k.live ?? inputs.length))];
  const feeds = new Map(
    inputs.map((x, i) => [x, makeValue(dtype, k.inputs[i]![0], k.inputs[i]![1])] as const),
  );
  return { inputs, values, feeds };
}

for (const [name, k] of Object.entries(cases)) {
  test(`${name}: value and gradient are those of the formula`, () => {
    const { values, feeds } = programOf(k, "f64");
    const [y, ...grads] = new Session().run(values, new Map(), feeds);
    const points = k.inputs.map(([, v]) => v);
    const near = (what: string, got: number, want: number, tolerance: number) =>
      assert.ok(Math.abs(got - want) <= tolerance, `${what}: ${got}, want ${want}`);
    near("loss", y!.data[0]!, reduced(k, points), 1e-9);
    const h = 1e-4;
    for (const [n, g] of grads.entries())
      for (const [i, x] of points[n]!.entries()) {
        const at = (d: number) =>
          reduced(
            k,
            points.map((p, m) => (m === n ? p.map((v, j) => (j === i ? x + d : v)) : p)),
          );
        const slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
        near(`d/dx${n}[${i}]`, g.data[i]!, slope, 1e-8);
      }
  });

  test(`${name}: the program agrees on js and wasm, and is valid on webgpu`, async () => {
    const { inputs, values, feeds } = programOf(k, "f32");
    const outputs = values.map((value, i) => ({ name: `y${i}`, value }));
    const program = { inputs, outputs, updates: [] };
    await agreesOnJs(program, feeds);
    await agreesOnWasm(program, feeds);
    const device = await nullDevice();
    for (const kernel of compileProgram(program, { target: "webgpu" }).artifact.kernels)
      assert.equal(await problemsOf(device, kernel), [], kernel.text);
    device.destroy();
  });
}

test.run();
