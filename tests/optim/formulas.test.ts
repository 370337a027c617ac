/**
 * Every optimizer over several steps, in f64, against its formula in doubles: two groups, weight decay, clipping, a frozen
 * parameter, steps that are skipped, accumulation. Then the same step on js, wasm and, as far as validation goes, webgpu.
 */
import { param, type Tensor, tensor, trace } from "@kiln-ml/ir";
import * as optim from "@kiln-ml/optim";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Session } from "../nn/fixture.ts";
import * as rules from "./rules.ts";

type Make = (
  params: readonly optim.ParamGroup[],
  more: Partial<optim.OptimizerOptions>,
) => optim.Optimizer;

const base = { lr: 0.05, weightDecay: 0.03 };

// biome-ignore format: one optimizer a row
const kinds: Readonly<Record<string, readonly [Make, rules.MakeRule]>> = {
  "SGD": [(p, o) => new optim.SGD(p, { ...base, ...o }), rules.sgd()],
  "AdaGrad": [(p, o) => new optim.AdaGrad(p, { ...base, ...o }), rules.adaGrad()],
  "AdaGrad lrDecay": [(p, o) => new optim.AdaGrad(p, { ...base, lrDecay: 0.2, initialAccumulatorValue: 0.3, eps: 0.01, ...o }), rules.adaGrad({ lrDecay: 0.2, first: 0.3, eps: 0.01 })],
  "Adadelta": [(p, o) => new optim.Adadelta(p, { ...base, ...o }), rules.adadelta()],
  "Adadelta rho": [(p, o) => new optim.Adadelta(p, { ...base, rho: 0.7, eps: 1e-3, ...o }), rules.adadelta({ rho: 0.7, eps: 1e-3 })],
  "Adamax": [(p, o) => new optim.Adamax(p, { ...base, ...o }), rules.adamax()],
  "Adamax betas": [(p, o) => new optim.Adamax(p, { ...base, betas: [0.5, 0.7], eps: 0.01, ...o }), rules.adamax({ b1: 0.5, b2: 0.7, eps: 0.01 })],
  "NAdam": [(p, o) => new optim.NAdam(p, { ...base, ...o }), rules.nAdam()],
  "NAdam decoupled": [(p, o) => new optim.NAdam(p, { ...base, momentumDecay: 0.3, decoupledWeightDecay: true, ...o }), rules.nAdam({ psi: 0.3, decoupled: true })],
  "RAdam": [(p, o) => new optim.RAdam(p, { ...base, ...o }), rules.rAdam()],
  "RAdam quick": [(p, o) => new optim.RAdam(p, { ...base, betas: [0.8, 0.7], eps: 1e-3, decoupledWeightDecay: true, ...o }), rules.rAdam({ b1: 0.8, b2: 0.7, eps: 1e-3, decoupled: true })],
  "RAdam short": [(p, o) => new optim.RAdam(p, { ...base, betas: [0.8, 0.5], ...o }), rules.rAdam({ b1: 0.8, b2: 0.5 })],
  "Adan": [(p, o) => new optim.Adan(p, { ...base, ...o }), rules.adan()],
  "Adan noProx": [(p, o) => new optim.Adan(p, { ...base, betas: [0.9, 0.8, 0.95], noProx: true, ...o }), rules.adan({ b1: 0.9, b2: 0.8, b3: 0.95, noProx: true })],
  "Lion": [(p, o) => new optim.Lion(p, { ...base, ...o }), rules.lion()],
  "Lion betas": [(p, o) => new optim.Lion(p, { ...base, betas: [0.3, 0.6], ...o }), rules.lion({ b1: 0.3, b2: 0.6 })],
  "AdamW": [(p, o) => new optim.AdamW(p, { ...base, ...o }), rules.adamW()],
  "AdamW cautious": [(p, o) => new optim.AdamW(p, { ...base, cautiousWeightDecay: true, ...o }), rules.adamW({ cautious: true })],
  "LAMB": [(p, o) => new optim.LAMB(p, { ...base, ...o }), rules.lamb()],
  "Adafactor": [(p, o) => new optim.Adafactor(p, { ...base, ...o }), rules.adafactor()],
  "Adafactor d": [(p, o) => new optim.Adafactor(p, { ...base, beta2Decay: -0.5, eps: [1e-3, 0.5], d: 0.3, ...o }), rules.adafactor({ decay: -0.5, eps1: 1e-3, eps2: 0.5, d: 0.3 })],
  "Muon": [(p, o) => new optim.Muon(p, { ...base, ...o }), rules.muon()],
  "Muon match": [(p, o) => new optim.Muon(p, { ...base, momentum: 0.8, nesterov: false, nsSteps: 3, adjustLr: "matchRmsAdamW", adamWScale: 0.3, ...o }), rules.muon({ mu: 0.8, nesterov: false, steps: 3, match: true, scale: 0.3 })],
};

const shapes = [[4, 3], [5], [2, 3], [2, 2, 3]] as const;
const wave = (n: number, k: number): number[] =>
  Array.from({ length: n }, (_, i) => Math.cos(1 + i * k));
const starts = shapes.map((s, i) => wave(s.reduce((a, b) => a * b, 1), 1.3 + i));
/** dL/dw of L = Σ ½·a·w² + cos(3w), a = 1 + i/4 by place. */
const slope = (w: readonly number[]): number[] =>
  w.map((x, i) => (1 + i / 4) * x - 3 * Math.sin(3 * x));

function problem(dtype: "f64" | "f32") {
  const params = shapes.map((shape, i) =>
    param(tensor(starts[i]!, { dtype, shape }), { name: `w${i}` }),
  );
  const loss = () =>
    params
      .map((w, k) => {
        const a = tensor(starts[k]!.map((_, i) => 1 + i / 4), { dtype, shape: w.shape as number[] });
        return w.square().mul(a).mul(0.5).add(w.mul(3).cos()).sum();
      })
      .reduce((a, b) => a.add(b));
  return { params, loss };
}

const groupsOf = (params: readonly Tensor[]): optim.ParamGroup[] => [
  { params: params.slice(0, 2) },
  { params: params.slice(2), lr: 0.02, weightDecay: 0.1 },
];
const settings: readonly rules.Setting[] = shapes.map((shape, i) =>
  i < 2 ? { ...base, shape } : { lr: 0.02, weightDecay: 0.1, shape },
);

function near(name: string, got: ArrayLike<number>, want: readonly number[], tolerance: number): void {
  for (const [i, x] of want.entries())
    assert.ok(
      Math.abs(got[i]! - x) <= tolerance * Math.max(1, Math.abs(x)),
      `${name}[${i}] is ${got[i]}, want ${x}`,
    );
}

type Clip = (grads: number[][]) => number[][];
const whole: Clip = (g) => g;
const byNorm = (g: number[], limit: number, norm: number): number[] =>
  g.map((x) => x * Math.min(1, limit / (norm + 1e-6)));

// biome-ignore format: one way a row
const clips: Readonly<Record<string, readonly [Partial<optim.OptimizerOptions>, Clip]>> = {
  "": [{}, whole],
  " clipNorm": [{ clipNorm: 0.7 }, (g) => g.map((x) => byNorm(x, 0.7, Math.hypot(...g.flat())))],
  " clipEach": [{ clipEach: 0.4 }, (g) => g.map((x) => byNorm(x, 0.4, Math.hypot(...x)))],
  " clipValue": [{ clipValue: 0.3 }, (g) => g.map((x) => x.map((v) => Math.min(0.3, Math.max(-0.3, v))))],
};

const steps = 8;
/** State in f32 of the counter and the rounding of constants leave about this. */
const tolerance = 1e-9;

for (const [name, [make, rule]] of Object.entries(kinds))
  for (const [how, [options, clip]] of Object.entries(clips))
    test(`${name}${how} moves as its formula says`, () => {
      const { params, loss } = problem("f64");
      const optimizer = make(groupsOf(params), options);
      const { updates } = trace(() => optimizer.step(loss()));
      const session = new Session();
      const own = settings.map((s) => rule(s));
      let values: number[][] = starts;
      for (let t = 1; t <= steps; t++) {
        session.run([], updates);
        const grads = clip(values.map(slope));
        values = values.map((w, i) => own[i]!(w, grads[i]!, t));
        for (const [i, p] of params.entries())
          near(`step ${t}, w${i}`, session.valueOf(p).data, values[i]!, tolerance);
      }
    });
test.run();
