/**
 * The rows of the GPU table in halves: products with matrix units and without, what memory limits, and steps of training. They run where the
 * device has what they name, and have no peers in a browser.
 */
import { input, type Tensor } from "@kiln-ml/ir";
import type { Program } from "../compiler/src/program.ts";
import { mlpStepInHalves, program } from "./cases.ts";
import type { GpuRow } from "./gpu-cases.ts";

const half = ["shader-f16"];
const units = [...half, "chromium-experimental-subgroup-matrix", "subgroup-matrix-f16-f32"];

const f16 = (name: string, ...shape: number[]): Tensor => input(name, "f16", shape);

const matmul = (n: number): Program => {
  const [a, b] = [f16("a", n, n), f16("b", n, n)];
  return program([a, b], () => a.matmul(b));
};

/** x·Wᵀ, as a linear layer has it. */
const linear = (n: number): Program => {
  const [x, w] = [f16("x", n, n), f16("w", n, n)];
  return program([x, w], () => x.matmul(w.transpose()));
};

const product = (n: number, name: string, build: () => Program, features: string[]): GpuRow => ({
  name,
  build,
  repeats: n > 2048 ? 5 : 20,
  flops: 2 * n ** 3,
  features,
});

/** tanh(2a + ½)·σ(a) + e^(−a²). */
const chain = (size: number): Program => {
  const a = f16("a", size);
  return program([a], () => a.mul(2).add(0.5).tanh().mul(a.sigmoid()).add(a.mul(a).neg().exp()));
};

const softmax = (rows: number, columns: number): Program => {
  const x = f16("x", rows, columns);
  return program([x], () => x.softmax(-1));
};

/** Normalised over the last axis, without weights. */
const normalised = (rows: number, columns: number): Program => {
  const x = f16("x", rows, columns);
  return program([x], () => {
    const centred = x.sub(x.mean(-1, { keepDims: true }));
    return centred.mul(centred.mul(centred).mean(-1, { keepDims: true }).add(1e-5).rsqrt());
  });
};

const memory = { repeats: 10, memory: true, features: half } as const;

export const halfRows: readonly GpuRow[] = [
  ...[1024, 2048, 4096].map((n) => ({
    ...product(n, `matmul ${n} f16, units`, () => matmul(n), units),
    peer: `matmul f16 ${n}`,
  })),
  product(4096, "linear 4096 f16, units", () => linear(4096), units),
  product(4096, "matmul 4096 f16", () => matmul(4096), half),
  { name: "chain 2^26 f16", build: () => chain(1 << 26), ...memory },
  { name: "softmax 16384x4096 f16", build: () => softmax(16384, 4096), ...memory },
  { name: "normalise 16384x4096 f16", build: () => normalised(16384, 4096), ...memory },
  ...[false, true].map((scaled) => ({
    name: `mlp step 512 in halves${scaled ? ", scaled" : ""}`,
    build: () => mlpStepInHalves(512, scaled),
    repeats: 20,
    features: units,
  })),
];

/** Rows small enough for a software device. */
export const smallHalves: readonly GpuRow[] = [
  { name: "softmax 64x256 f16", build: () => softmax(64, 256), ...memory, repeats: 2 },
  { ...product(64, "matmul 64 f16, units", () => matmul(64), units), repeats: 2 },
];
