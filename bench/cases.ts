/**
 * What is measured: programs by name, built anew at each call. A case says how its inputs are
 * filled where plain noise will not do (labels are classes).
 */
import {
  type Dim,
  dim,
  einsum,
  gelu,
  input,
  param,
  softmax,
  type Tensor,
  trace,
  vmap,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import type { Program } from "../compiler/src/program.ts";

export interface Case {
  readonly name: string;
  readonly build: () => Program;
  /** Values of integer inputs are below this; 10 classes by default. */
  readonly classes?: number;
}

/** A program of a function of inputs: its results, and what it assigned. */
export function program(inputs: readonly Tensor[], define: () => Tensor | Tensor[]): Program {
  const { value, updates } = trace(define);
  const list = Array.isArray(value) ? value : [value];
  const outputs = list.map((t, i) => ({ name: `out${i}`, value: t }));
  return { inputs, outputs, updates: [...updates] };
}

const f32 = (name: string, ...shape: Dim[]): Tensor => input(name, "f32", shape);

export const chain = (size: number): Program => {
  const [a, b, c] = [f32("a", size), f32("b", size), f32("c", size)];
  return program([a, b, c], () =>
    a.mul(b).add(c).tanh().mul(a.sigmoid()).add(b.mul(b).neg().exp()),
  );
};

export const softmaxOf = (rows: number, columns: number): Program => {
  const x = f32("x", rows, columns);
  return program([x], () => softmax(x));
};

export const layerNormOf = (rows: number, columns: number): Program => {
  const x = f32("x", rows, columns);
  const norm = new nn.LayerNorm(columns);
  return program([x], () => norm.forward(x));
};

export const matmul = (n: number): Program => {
  const [a, b] = [f32("a", n, n), f32("b", n, n)];
  return program([a, b], () => a.matmul(b));
};

export const matmulBiasGelu = (m: number, n: number, k: number): Program => {
  const [a, b, bias] = [f32("a", m, k), f32("b", k, n), f32("bias", n)];
  return program([a, b, bias], () => gelu(a.matmul(b).add(bias)));
};

/** softmax(q·kᵀ/√d + mask)·v for q, k, v: [heads, length, width], position i sees 0…i. */
export const attention = (heads: number, length: number, width: number): Program => {
  const shape = [heads, length, width];
  const [q, k, v] = [f32("q", ...shape), f32("k", ...shape), f32("v", ...shape)];
  return program([q, k, v], () => nn.attention(q, k, v, { causal: true }));
};

export type OptimizerName = "sgd" | "adam";

function optimizerFor(name: OptimizerName, net: nn.Module): optim.Optimizer {
  const params = net.parameters();
  return name === "sgd"
    ? new optim.SGD(params, { lr: 0.01 })
    : new optim.Adam(params, { lr: 1e-3 });
}

/** A whole training step: loss of a batch of labelled samples, its gradient, and the update. */
export function step(net: nn.Layer, shape: readonly Dim[], optimizer: OptimizerName): Program {
  const x = f32("x", ...shape);
  const y = input("y", "i32", [shape[0]!]);
  return program([x, y], () => {
    const loss = nn.crossEntropy(net.forward(x), y);
    optimizerFor(optimizer, net).step(loss);
    return loss;
  });
}

/** in → hidden → … → out with ReLU between. */
export function mlp(widths: readonly number[]): nn.Sequential {
  const net = new nn.Sequential();
  for (let i = 1; i < widths.length; i++) {
    net.add(new nn.Linear(widths[i - 1]!, widths[i]!));
    if (i + 1 < widths.length) net.add(new nn.ReLU());
  }
  return net;
}

export const mlpStep = (batch: Dim = 256, optimizer: OptimizerName = "adam"): Program =>
  step(mlp([784, 512, 512, 10]), [batch, 784], optimizer);

/**
 * The same in f16 where that is safe, with Adam and, if `scaled`, a scale of the loss that the step
 * finds for itself.
 */
export function mlpStepInHalves(
  batch: number,
  scaled: boolean,
  widths: readonly number[] = [784, 512, 512, 10],
): Program {
  const net = mlp(widths);
  const [x, y] = [f32("x", batch, widths[0]!), input("y", "i32", [batch])];
  return program([x, y], () => {
    const loss = nn.autocast("f16", () => nn.crossEntropy(net.forward(x), y));
    const optimizer = optimizerFor("adam", net);
    if (scaled) new optim.GradScaler().step(optimizer, loss);
    else optimizer.step(loss);
    return loss;
  });
}

/** The usual first network for MNIST: two 3×3 convolutions, a pool, two dense layers. */
export const cnn = (c1 = 32, c2 = 64, hidden = 128): nn.Sequential =>
  new nn.Sequential(
    new nn.Conv2d(1, c1, 3),
    new nn.ReLU(),
    new nn.Conv2d(c1, c2, 3),
    new nn.ReLU(),
    new nn.MaxPool2d(2),
    new nn.Flatten(),
    new nn.Linear(c2 * 144, hidden),
    new nn.ReLU(),
    new nn.Linear(hidden, 10),
  );

export const cnnStep = (batch: Dim = 64, net = cnn()): Program =>
  step(net, [batch, 1, 28, 28], "adam");

/** Layers of one width, forward, backward and Adam. */
export const deepMlp = (layers: number, width = 64): Program =>
  step(mlp([...new Array<number>(layers).fill(width), 10]), [32, width], "adam");

/** A pre-norm transformer block: attention, then a perceptron, each added to what came in. */
class Block extends nn.Module {
  readonly norm1: nn.LayerNorm;
  readonly norm2: nn.LayerNorm;
  readonly attention: nn.MultiHeadAttention;
  readonly up: nn.Linear;
  readonly down: nn.Linear;
  constructor(width: number, heads: number) {
    super();
    this.norm1 = new nn.LayerNorm(width);
    this.norm2 = new nn.LayerNorm(width);
    this.attention = new nn.MultiHeadAttention(width, heads);
    this.up = new nn.Linear(width, 4 * width);
    this.down = new nn.Linear(4 * width, width);
  }
  override forward(x: Tensor): Tensor {
    const mixed = x.add(this.attention.forward(this.norm1.forward(x)));
    return mixed.add(this.down.forward(gelu(this.up.forward(this.norm2.forward(mixed)))));
  }
}

/** Forward pass of `blocks` transformer blocks over [batch, length, width]. */
export const transformer = (blocks: number, width = 64, length: Dim = 32): Program => {
  const net = new nn.Sequential(Array.from({ length: blocks }, () => new Block(width, 4)));
  const x = f32("x", 2, length, width);
  return program([x], () => net.forward(x));
};

/**
 * One block of 8 heads over [batch, length, width]: forward, or a whole step that pulls its results
 * to 0.
 */
export const transformerBlock = (
  batch: number,
  length: number,
  width: number,
  optimizer?: OptimizerName,
): Program => {
  const net = new Block(width, 8);
  const x = f32("x", batch, length, width);
  return program([x], () => {
    const y = net.forward(x);
    if (!optimizer) return y;
    const loss = y.mul(y).mean();
    optimizerFor(optimizer, net).step(loss);
    return loss;
  });
};

/** LayerNorm and attention of 4 heads, added to what came in. */
class AttentionBlock extends nn.Module {
  readonly norm = new nn.LayerNorm(32);
  readonly attention = new nn.MultiHeadAttention(32, 4);
  override forward(x: Tensor): Tensor {
    return x.add(this.attention.forward(this.norm.forward(x)));
  }
}

/** That block forward, or its training step by gradient descent. */
const attentionBlock = (withStep: boolean): Program => {
  const [x, block] = [f32("x", 2, 16, 32), new AttentionBlock()];
  if (!withStep) return program([x], () => block.forward(x));
  const sgd = new optim.SGD(block.parameters(), { lr: 0.1 });
  return program([x], () => {
    sgd.step(block.forward(x).square().mean());
    return [];
  });
};

const gcn = (): Program => {
  const [x, edges] = [f32("x", 6, 4), input("edges", "i32", [2, 9])];
  const layer = new nn.GCNConv(4, 3);
  return program([x, edges], () => layer.forward(x, edges));
};

const perOptimizer = { SGD: 1, RMSProp: 1, AdaGrad: 1, Adadelta: 1, Lion: 1, Adam: 2, AdamW: 2, Adamax: 2, NAdam: 2, RAdam: 2, Adan: 2, LAMB: 2 } as const; // biome-ignore format: a table

/** One parameter's update; those that count steps move the counter by a kernel of one number. */
const updateBy = (name: keyof typeof perOptimizer) => (): Program => {
  const [w, g] = [param(new Float32Array(64), { shape: [8, 8], name: "w" }), f32("g", 8, 8)];
  // biome-ignore lint/performance/noDynamicNamespaceImportAccess: all of them are counted.
  const opt = new optim[name as "SGD"]([w], { lr: 1e-3 });
  return program([g], () => {
    opt.apply([g]);
    return [];
  });
};

const einsumOf = (): Program => {
  const [a, b] = [f32("a", 4, 8, 16), f32("b", 4, 16, 8)];
  return program([a, b], () => einsum("bij,bjk->bik", a, b));
};

const mappedProduct = (): Program => {
  const [w, xs] = [f32("w", 8, 16), f32("xs", 32, 16)];
  return program([w, xs], () => vmap((x: Tensor) => w.matmul(x))(xs));
};

const batch = (): Dim => dim("batch", { max: 4096 });

/** Cases of the fusion and memory tables. */
export const cases: readonly Case[] = [
  { name: "chain 4M", build: () => chain(1 << 22) },
  { name: "softmax 1024x1024", build: () => softmaxOf(1024, 1024) },
  { name: "layerNorm 1024x1024", build: () => layerNormOf(1024, 1024) },
  { name: "matmul 512", build: () => matmul(512) },
  { name: "mlp step 256", build: () => mlpStep() },
  { name: "cnn step 64", build: () => cnnStep() },
];

/**
 * Cases whose kernels are counted; `most` is the budget. On webgpu long sums of products run in
 * parts, which another kernel adds: that takes a kernel and saves many times its time.
 */
export const budgets: readonly (Case & {
  readonly most: number | undefined;
  readonly mostOnWebgpu?: number;
})[] = [
  { name: "softmax", build: () => softmaxOf(64, 128), most: 1 },
  { name: "layerNorm", build: () => layerNormOf(64, 128), most: 1 },
  { name: "matmul+bias+gelu", build: () => matmulBiasGelu(64, 128, 96), most: 1 },
  { name: "causal attention forward", build: () => attention(4, 64, 32), most: undefined },
  { name: "3-layer mlp step, sgd", build: () => mlpStep(32, "sgd"), most: 10 },
  { name: "3-layer mlp step, adam", build: () => mlpStep(32, "adam"), most: 10 },
  {
    name: "cnn step, adam",
    build: () => cnnStep(8, cnn(8, 16, 32)),
    most: 16,
    mostOnWebgpu: 20,
  },
  {
    name: "GroupNorm",
    build: () => {
      const [x, norm] = [f32("x", 2, 8, 6, 6), new nn.GroupNorm(2, 8)];
      return program([x], () => norm.forward(x));
    },
    most: 1,
  },
  { name: "attention block forward", build: () => attentionBlock(false), most: 8 },
  { name: "attention block step, sgd", build: () => attentionBlock(true), most: 24 },
  { name: "GCN layer", build: gcn, most: 3 },
  ...Object.entries(perOptimizer).map(([name, most]) => ({
    name: `update by ${name}`,
    build: updateBy(name as keyof typeof perOptimizer),
    most,
  })),
  { name: "einsum, as one product", build: einsumOf, most: 1 },
  { name: "vmap of a matvec, as one product", build: mappedProduct, most: 1 },
];

/** Cases whose compilation is timed. */
export const compiled: readonly Case[] = [
  { name: "chain", build: () => chain(1 << 20) },
  { name: "softmax", build: () => softmaxOf(64, 128) },
  { name: "mlp step", build: () => mlpStep() },
  { name: "mlp step, any batch", build: () => mlpStep(batch()) },
  { name: "cnn step", build: () => cnnStep() },
  { name: "cnn step, any batch", build: () => cnnStep(batch()) },
  { name: "50-layer mlp step", build: () => deepMlp(50) },
  { name: "8-block transformer", build: () => transformer(8) },
  {
    name: "8-block transformer, any length",
    build: () => transformer(8, 64, dim("length", { max: 512 })),
  },
];
