/**
 * All optimizers by name, each beside its formula in doubles; and a small problem with parameters of every rank in two groups.
 */
import { param, type Tensor, tensor } from "@kiln-ml/ir";
import * as optim from "@kiln-ml/optim";
import * as assert from "uvu/assert";
import * as rules from "./rules.ts";

type Make = (
  params: readonly optim.ParamGroup[],
  more: Partial<optim.OptimizerOptions>,
) => optim.Optimizer;

const base = { lr: 0.05, weightDecay: 0.03 };

// biome-ignore format: one optimizer a row
export const kinds: Readonly<Record<string, readonly [Make, rules.MakeRule]>> = {
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
  "Lion no memory": [(p, o) => new optim.Lion(p, { ...base, betas: [0.5, 0], ...o }), rules.lion({ b1: 0.5, b2: 0 })],
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
export const starts = shapes.map((s, i) =>
  wave(
    s.reduce((a, b) => a * b, 1),
    1.3 + i,
  ),
);
/** dL/dw of L = Σ ½·a·w² + cos(3w), a = 1 + i/4 by place. */
export const slope = (w: readonly number[]): number[] =>
  w.map((x, i) => (1 + i / 4) * x - 3 * Math.sin(3 * x));

export function problem(dtype: "f64" | "f32") {
  const params = shapes.map((shape, i) =>
    param(tensor(starts[i]!, { dtype, shape }), { name: `w${i}` }),
  );
  const loss = () =>
    params
      .map((w, k) => {
        const a = tensor(
          starts[k]!.map((_, i) => 1 + i / 4),
          { dtype, shape: w.shape as number[] },
        );
        return w.square().mul(a).mul(0.5).add(w.mul(3).cos()).sum();
      })
      .reduce((a, b) => a.add(b));
  return { params, loss };
}

export const groupsOf = (params: readonly Tensor[]): optim.ParamGroup[] => [
  { params: params.slice(0, 2) },
  { params: params.slice(2), lr: 0.02, weightDecay: 0.1 },
];
export const settings: readonly rules.Setting[] = shapes.map((shape, i) =>
  i < 2 ? { ...base, shape } : { lr: 0.02, weightDecay: 0.1, shape },
);

export function near(
  name: string,
  got: ArrayLike<number>,
  want: readonly number[],
  tolerance: number,
): void {
  for (const [i, x] of want.entries())
    assert.ok(
      Math.abs(got[i]! - x) <= tolerance * Math.max(1, Math.abs(x)),
      `${name}[${i}] is ${got[i]}, want ${x}`,
    );
}
