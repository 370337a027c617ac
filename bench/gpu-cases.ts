/**
 * The rows of the GPU table: programs, how often each is repeated in one measurement, what each peer calls the same work, and what
 * is to be reached. Built anew at each call; measures nothing.
 */
import { convolution, grad, input, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import type { Program } from "../compiler/src/program.ts";
import {
  chain,
  cnn,
  cnnStep,
  layerNormOf,
  matmul,
  mlpStep,
  program,
  softmaxOf,
  transformerBlock,
} from "./cases.ts";

/** What a row is to reach. */
export interface Goal {
  /** Of the time of PyTorch's own kernel. */
  readonly torch?: number;
  readonly copy?: number;
  readonly ms?: number;
  readonly cpuMicroseconds?: number;
  /** The arithmetic rate, as a share of that of the row beside it. */
  readonly beside?: string;
}

export interface GpuRow {
  readonly name: string;
  readonly build: () => Program;
  readonly repeats: number;
  /** What else the program is compiled for, by how the names of the features begin; a device must have them all. */
  readonly features?: readonly string[];
  /** Operations, where those of the kernels are more or fewer than the work has. */
  readonly flops?: number;
  /** True if the copy probe is the limit. */
  readonly memory?: true;
  /** What the baselines print for the same work. */
  readonly peer?: string;
  /** The same work in the peers' own scripts: its kind there and its extents, for rows that no baseline has. */
  readonly work?: readonly [kind: string, ...extents: number[]];
  readonly goal?: Goal;
}

const f32 = (name: string, ...shape: number[]): Tensor => input(name, "f32", shape);

/** tanh(2a + ½)·σ(a) + e^(−a²): one input, one output. */
const chainOfOne = (size: number): Program => {
  const a = f32("a", size);
  return program([a], () => a.mul(2).add(0.5).tanh().mul(a.sigmoid()).add(a.mul(a).neg().exp()));
};

/** Normalised over the last axis, without weights. */
const normalised = (rows: number, columns: number): Program => {
  const x = f32("x", rows, columns);
  return program([x], () => {
    const centred = x.sub(x.mean(-1, { keepDims: true }));
    return centred.mul(centred.mul(centred).mean(-1, { keepDims: true }).add(1e-5).rsqrt());
  });
};

/** A step of plain gradient descent on the mean square, as the peers do it: no biases. */
const mlpSgd = (batch: number, widths: readonly number[]): Program => {
  const net = new nn.Sequential();
  for (let i = 1; i < widths.length; i++) {
    net.add(new nn.Linear(widths[i - 1]!, widths[i]!, { bias: false }));
    if (i + 1 < widths.length) net.add(new nn.ReLU());
  }
  const [x, y] = [f32("x", batch, widths[0]!), f32("y", batch, widths.at(-1)!)];
  return program([x, y], () => {
    const off = net.forward(x).sub(y);
    const loss = off.mul(off).mean();
    new optim.SGD(net.parameters(), { lr: 1e-3 }).step(loss);
    return loss;
  });
};

const conv3x3 = (batch: number, channels: number, size: number): Program => {
  const [x, w] = [f32("x", batch, channels, size, size), f32("w", channels, channels, 3, 3)];
  return program([x, w], () => convolution(x, w, { padding: 1 }));
};

/** softmax(q·kᵀ/√d)·v, [batch, heads, length, width] each. */
const attentionOf = (causal: boolean, ...shape: number[]): Program => {
  const [q, k, v] = [f32("q", ...shape), f32("k", ...shape), f32("v", ...shape)];
  return program([q, k, v], () => nn.attention(q, k, v, { causal }));
};

/** The same and its gradients, of a result whose gradient is given. */
const attentionStep = (causal: boolean, ...shape: number[]): Program => {
  const inputs = ["q", "k", "v", "g"].map((name) => f32(name, ...shape));
  const [q, k, v, g] = inputs as [Tensor, Tensor, Tensor, Tensor];
  const y = nn.attention(q, k, v, { causal });
  return {
    inputs,
    outputs: [y, ...grad(y, [q, k, v], { cotangent: g })].map((value, i) => ({
      name: `y${i}`,
      value,
    })),
    updates: [],
  };
};

const sumColumns = (rows: number, columns: number): Program => {
  const x = f32("x", rows, columns);
  return program([x], () => x.sum([0]));
};
const sumAll = (rows: number, columns: number): Program => {
  const x = f32("x", rows, columns);
  return program([x], () => x.sum());
};
const cumsumOf = (rows: number, columns: number): Program => {
  const x = f32("x", rows, columns);
  return program([x], () => x.cumsum(1));
};

const cnnForward = (batch: number): Program => {
  const net = cnn();
  const x = f32("x", batch, 1, 28, 28);
  return program([x], () => net.forward(x));
};

export const gpuRows: readonly GpuRow[] = [
  ...(
    [
      [1024, 0.7],
      [2048, 0.8],
      [4096, 0.85],
    ] as const
  ).map(([n, torch]) => ({
    name: `matmul ${n}`,
    build: () => matmul(n),
    repeats: n > 2048 ? 10 : 50,
    flops: 2 * n ** 3,
    peer: `matmul ${n}`,
    goal: { torch },
  })),
  ...(
    [
      [1000, 1024],
      [1023, 1024],
      [2049, 2048],
      [4095, 4096],
    ] as const
  ).map(([n, beside]) => ({
    name: `matmul ${n}`,
    build: () => matmul(n),
    repeats: n > 2049 ? 10 : 50,
    flops: 2 * n ** 3,
    work: ["matmul", n] as const,
    goal: { beside: `matmul ${beside}` },
  })),
  {
    name: "chain 2^26",
    build: () => chainOfOne(1 << 26),
    repeats: 30,
    memory: true,
    peer: "chain 67108864",
    goal: { copy: 0.9 },
  },
  {
    name: "chain of three 2^25",
    build: () => chain(1 << 25),
    repeats: 30,
    work: ["chain", 1 << 25],
    memory: true,
  },
  {
    name: "softmax 16384x4096",
    build: () => softmaxOf(16384, 4096),
    repeats: 30,
    memory: true,
    peer: "softmax 16384x4096",
    goal: { copy: 0.9 },
  },
  {
    name: "softmax 16384x4097",
    build: () => softmaxOf(16384, 4097),
    repeats: 30,
    work: ["softmax", 16384, 4097],
    memory: true,
  },
  {
    name: "softmax 1048576x64",
    build: () => softmaxOf(1 << 20, 64),
    repeats: 30,
    work: ["softmax", 1 << 20, 64],
    memory: true,
  },
  {
    name: "normalise 16384x4096",
    build: () => normalised(16384, 4096),
    repeats: 30,
    memory: true,
    peer: "layernorm 16384x4096",
  },
  {
    name: "layerNorm 16384x4096",
    build: () => layerNormOf(16384, 4096),
    repeats: 30,
    work: ["layerNorm", 16384, 4096],
    memory: true,
    goal: { copy: 0.9 },
  },
  {
    name: "sum of all 16384x4096",
    build: () => sumAll(16384, 4096),
    repeats: 30,
    work: ["sum", 16384, 4096],
    memory: true,
  },
  {
    name: "sum of columns 16384x4096",
    build: () => sumColumns(16384, 4096),
    repeats: 30,
    work: ["sumColumns", 16384, 4096],
    memory: true,
  },
  {
    name: "cumsum 16384x4096",
    build: () => cumsumOf(16384, 4096),
    repeats: 30,
    work: ["cumsum", 16384, 4096],
    memory: true,
  },
  {
    name: "mlp step 512 sgd",
    build: () => mlpSgd(512, [784, 1024, 1024, 10]),
    repeats: 50,
    peer: "mlp-step B512 784-1024-1024-10",
    goal: { ms: 0.4, cpuMicroseconds: 100 },
  },
  { name: "mlp step 512 adam", build: () => mlpStep(512), repeats: 50, work: ["mlpStep", 512] },
  {
    name: "conv 3x3 64x64x56x56",
    build: () => conv3x3(64, 64, 56),
    repeats: 20,
    work: ["conv3x3", 64, 64, 56],
    flops: 2 * 64 * 64 * 64 * 9 * 56 * 56,
    peer: "conv3x3 64x64x56x56",
    goal: { torch: 0.75 },
  },
  {
    name: "attention b4 h16 s2048 d64",
    build: () => attentionOf(false, 4, 16, 2048, 64),
    repeats: 5,
    work: ["attention", 0, 4, 16, 2048, 64],
    flops: 4 * 64 * 2048 ** 2 * 64,
    peer: "sdpa f32 b4 h16 s2048 d64",
    goal: { torch: 1 / 1.3 },
  },
  {
    name: "attention causal",
    build: () => attentionOf(true, 4, 16, 2048, 64),
    repeats: 5,
    work: ["attention", 1, 4, 16, 2048, 64],
    flops: 2 * 64 * 2048 ** 2 * 64,
  },
  // Twice the products of the forward pass, and its own.
  {
    name: "attention step b4 h16 s2048 d64",
    build: () => attentionStep(false, 4, 16, 2048, 64),
    repeats: 3,
    work: ["attentionStep", 0, 4, 16, 2048, 64],
    flops: 12 * 64 * 2048 ** 2 * 64,
  },
  {
    name: "attention step causal",
    build: () => attentionStep(true, 4, 16, 2048, 64),
    repeats: 3,
    work: ["attentionStep", 1, 4, 16, 2048, 64],
    flops: 6 * 64 * 2048 ** 2 * 64,
  },
  { name: "cnn forward 64", build: () => cnnForward(64), repeats: 50, work: ["cnn", 64] },
  { name: "cnn step 64 adam", build: () => cnnStep(64), repeats: 50, work: ["cnnStep", 64] },
  {
    name: "block forward 8x512x512",
    build: () => transformerBlock(8, 512, 512),
    repeats: 20,
    work: ["block", 8, 512, 512],
  },
  {
    name: "block step 8x512x512 sgd",
    build: () => transformerBlock(8, 512, 512, "sgd"),
    repeats: 20,
    work: ["blockStep", 8, 512, 512],
  },
];

/** A row whose peers do the same. */
const small = (
  name: string,
  build: () => Program,
  ...work: [kind: string, ...extents: number[]]
): GpuRow => ({ name, build, repeats: 2, work });

/** Rows small enough for a software device, one at least of each kind. */
export const smallRows: readonly GpuRow[] = [
  { ...small("matmul 64", () => matmul(64), "matmul", 64), flops: 2 * 64 ** 3 },
  small("chain of three 2^10", () => chain(1 << 10), "chain", 1 << 10),
  { ...small("softmax 64x256", () => softmaxOf(64, 256), "softmax", 64, 256), memory: true },
  small("layerNorm 64x256", () => layerNormOf(64, 256), "layerNorm", 64, 256),
  small("sum of all 64x256", () => sumAll(64, 256), "sum", 64, 256),
  small("sum of columns 64x256", () => sumColumns(64, 256), "sumColumns", 64, 256),
  small("cumsum 64x256", () => cumsumOf(64, 256), "cumsum", 64, 256),
  { name: "mlp step 8 sgd", build: () => mlpSgd(8, [16, 32, 10]), repeats: 2 },
  small("mlp step 8 adam", () => mlpStep(8), "mlpStep", 8),
  small("conv 3x3 2x4x8x8", () => conv3x3(2, 4, 8), "conv3x3", 2, 4, 8),
  small(
    "attention b1 h2 s32 d16",
    () => attentionOf(false, 1, 2, 32, 16),
    "attention",
    0,
    1,
    2,
    32,
    16,
  ),
  small("attention causal", () => attentionOf(true, 1, 2, 32, 16), "attention", 1, 1, 2, 32, 16),
  small(
    "attention step",
    () => attentionStep(false, 1, 2, 32, 16),
    "attentionStep",
    0,
    1,
    2,
    32,
    16,
  ),
  small(
    "attention step causal",
    () => attentionStep(true, 1, 2, 32, 16),
    "attentionStep",
    1,
    1,
    2,
    32,
    16,
  ),
  small("cnn forward 2", () => cnnForward(2), "cnn", 2),
  small("cnn step 2 adam", () => cnnStep(2), "cnnStep", 2),
  small("block forward 2x16x32", () => transformerBlock(2, 16, 32), "block", 2, 16, 32),
  small("block step 2x16x32", () => transformerBlock(2, 16, 32, "sgd"), "blockStep", 2, 16, 32),
];
