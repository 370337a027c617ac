/**
 * Random networks of every kind of layer, and one training step of each: a list of picks, each of which adds a layer that
 * fits the shape at hand, so that every list is a network and shrinking drops layers.
 */
import {
  concat,
  type Dim,
  dim,
  input,
  isStatic,
  sizeOf,
  sliceAxis,
  type Tensor,
  trace,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import fc from "fast-check";
import type { Program } from "../../compiler/src/program.ts";
import { activations } from "./networks.ts";

export interface Pick {
  readonly layer: number;
  readonly k: readonly number[];
}

export interface Network {
  readonly start: keyof typeof starts;
  /** 0 stands for a batch of unknown size. */
  readonly batch: number;
  /** Bounds extents that picks choose. */
  readonly widest: number;
  readonly picks: readonly Pick[];
  readonly loss: keyof typeof losses;
  readonly optimizer: keyof typeof optimizers;
}

/** Layers with parameters made so far, and which were drawn. */
class Layers extends nn.Module {
  readonly made: nn.Module[] = [];
  readonly widest: number;

  constructor(widest: number) {
    super();
    this.widest = widest;
  }

  add<T extends nn.Module>(layer: T): T {
    this.made.push(layer);
    return layer;
  }

  /** Layers are called one by one, as they are made. */
  override forward(x: Tensor): Tensor {
    return x;
  }

  width(n: number): number {
    return 1 + (n % this.widest);
  }

  linear(x: Tensor, to: number, bias = true): Tensor {
    return this.add(new nn.Linear(last(x), to, { bias })).forward(x);
  }
}

type Build = (x: Tensor, k: readonly number[], layers: Layers) => Tensor | undefined;

const last = (x: Tensor): number => x.shape.at(-1) as number;
const extent = (x: Tensor, axis: number): number => x.shape[axis] as number;

const activate = (x: Tensor, n: number): Tensor =>
  nn.activationOf(activations[n % activations.length]!)(x);

const divisor = (n: number, of: number): number => {
  const all = Array.from({ length: of }, (_, i) => i + 1).filter((d) => of % d === 0);
  return all[n % all.length]!;
};

/** Any shape [B, …, W]. */
const anywhere: Record<string, Build> = {
  linear: (x, k, l) => l.linear(x, l.width(k[0]!), k[1]! % 2 === 0),
  activation: (x, k) => activate(x, k[0]!),
  residual: (x, k, l) => x.add(l.linear(activate(l.linear(x, l.width(k[0]!)), k[1]!), last(x))),
  gate: (x, k, l) => {
    const to = l.width(k[0]!);
    return l.linear(x, to).mul(l.linear(x, to).sigmoid());
  },
  branches: (x, k, l) =>
    concat([l.linear(x, l.width(k[0]!)), activate(l.linear(x, l.width(k[1]!)), k[2]!)], -1),
  layerNorm: (x, k, l) => l.add(new nn.LayerNorm(last(x), { affine: k[0]! % 3 > 0 })).forward(x),
  rmsNorm: (x, _, l) => l.add(new nn.RmsNorm(last(x))).forward(x),
  dropout: (x, k, l) => l.add(new nn.Dropout(0.25, { seed: k[0]! })).forward(x),
  softmax: (x) => x.softmax(-1),
  scale: (x, k) =>
    x.mul(k[0]! % 2 ? 0.5 : x.abs().mean([-1], { keepDims: true }).add(1).reciprocal()),
};

/** [B, F]. */
const flat: Record<string, Build> = {
  batchNorm: (x, _, l) => l.add(new nn.BatchNorm1d(last(x))).forward(x),
  experts: (x, k, l) => {
    const to = l.width(k[0]!);
    const gates = l.linear(x, 2).softmax(-1);
    return [0, 1]
      .map((i) => l.linear(x, to).mul(sliceAxis(gates, 1, i, i + 1)))
      .reduce((a, b) => a.add(b));
  },
  sequence: (x, k) => {
    const parts = divisor(k[0]!, last(x));
    return x.reshape([x.shape[0]!, parts, last(x) / parts]);
  },
};

const recurrent = [nn.RNN, nn.GRU, nn.LSTM] as const;

/** [B, T, W]. */
const sequences: Record<string, Build> = {
  attention: (x, k, l) =>
    l
      .add(new nn.MultiHeadAttention(last(x), divisor(k[0]!, last(x)), { bias: k[1]! % 2 === 0 }))
      .forward(x, { causal: k[2]! % 2 === 0 }),
  block: (x, k, l) => {
    const mixed = x.add(
      l
        .add(new nn.MultiHeadAttention(last(x), divisor(k[0]!, last(x))))
        .forward(l.add(new nn.LayerNorm(last(x))).forward(x), { causal: k[2]! % 2 === 0 }),
    );
    const normed = l.add(new nn.RmsNorm(last(x))).forward(mixed);
    return mixed.add(l.linear(activate(l.linear(normed, 2 * last(x)), k[3]!), last(x)));
  },
  recurrent: (x, k, l) => {
    const options = { bidirectional: k[1]! % 2 === 1, bias: k[2]! % 3 > 0 };
    const layer = new recurrent[k[3]! % 3]!(last(x), l.width(k[0]!), options);
    return l.add(layer).forward(x).y;
  },
  conv: (x, k, l) =>
    l
      .add(new nn.Conv1d(extent(x, 1), l.width(k[0]!), 1 + (k[1]! % Math.min(3, last(x)))))
      .forward(x),
  batchNorm: (x, _, l) => l.add(new nn.BatchNorm1d(extent(x, 1))).forward(x),
  groupNorm: (x, k, l) =>
    l.add(new nn.GroupNorm(divisor(k[0]!, extent(x, 1)), extent(x, 1))).forward(x),
  turn: (x) => x.transpose([0, 2, 1]),
  pool: (x, k) => (k[0]! % 2 ? x.mean([1]) : x.max([1])),
  cumulative: (x, k) => (k[0]! % 2 ? x.cumsum(1) : x.cummax(1)),
  last: (x) => sliceAxis(x, 1, -1).reshape([x.shape[0]!, last(x)]),
  image: (x, k) => {
    const parts = divisor(k[0]!, last(x));
    return x.reshape([x.shape[0]!, extent(x, 1), parts, last(x) / parts]);
  },
};

/** [B, C, H, W]. */
const images: Record<string, Build> = {
  conv: (x, k, l) => {
    const channels = extent(x, 1);
    const groups = k[4]! % 3 ? 1 : divisor(k[4]!, channels);
    const size = 1 + (k[1]! % 3);
    const options = { padding: 1, stride: 1 + (k[2]! % 2), groups, bias: k[3]! % 2 === 0 };
    const to = groups * Math.max(1, Math.floor(l.width(k[0]!) / groups));
    return l.add(new nn.Conv2d(channels, to, size, options)).forward(x);
  },
  dense: (x, k, l) => {
    const conv = l.add(new nn.Conv2d(extent(x, 1), l.width(k[0]!), 3, { padding: 1 }));
    return concat([x, activate(conv.forward(x), k[1]!)], 1);
  },
  skip: (x, k, l) => {
    const c = extent(x, 1);
    const norm = l.add(new nn.BatchNorm2d(c));
    const conv = l.add(new nn.Conv2d(c, c, 3, { padding: 1, bias: false }));
    return activate(norm.forward(conv.forward(x)).add(x), k[0]!);
  },
  squeeze: (x, k, l) => {
    const c = extent(x, 1);
    const inner = l.linear(x.mean([2, 3]), l.width(k[0]!)).relu();
    return x.mul(l.linear(inner, c).sigmoid().reshape([x.shape[0]!, c, 1, 1]));
  },
  batchNorm: (x, _, l) => l.add(new nn.BatchNorm2d(extent(x, 1))).forward(x),
  groupNorm: (x, k, l) =>
    l.add(new nn.GroupNorm(divisor(k[0]!, extent(x, 1)), extent(x, 1))).forward(x),
  pool: (x, k) => {
    const window = Math.min(1 + (k[0]! % 3), extent(x, 2), extent(x, 3));
    const options = { stride: 1 + (k[1]! % 2) };
    return (
      k[2]! % 2 ? new nn.MaxPool2d(window, options) : new nn.AvgPool2d(window, options)
    ).forward(x);
  },
  adaptive: (x, k) =>
    new nn.AdaptiveAvgPool2d(Math.min(1 + (k[0]! % 2), extent(x, 2), extent(x, 3))).forward(x),
  flatten: (x) => new nn.Flatten().forward(x),
  tokens: (x) => x.reshape([x.shape[0]!, extent(x, 1), extent(x, 2) * extent(x, 3)]),
};

const starts = {
  vectors: (batch: Dim, n: number): Tensor => input("x", "f32", [batch, n]),
  tokens: (batch: Dim, n: number): Tensor => input("x", "i32", [batch, n]),
  sequence: (batch: Dim, n: number): Tensor => input("x", "f32", [batch, n, 4]),
  image: (batch: Dim, n: number): Tensor => input("x", "f32", [batch, 1 + (n % 3), 4, 5]),
};

const classes = 3;
const losses = {
  crossEntropy: (y: Tensor, l: Layers, labels: Tensor): Tensor =>
    nn.crossEntropy(l.linear(y, classes), labels),
  smoothed: (y: Tensor, l: Layers, labels: Tensor): Tensor =>
    nn.crossEntropy(l.linear(y, classes), labels, { labelSmoothing: 0.1 }),
  mse: (y: Tensor, l: Layers, labels: Tensor): Tensor =>
    nn.mse(l.linear(y, 1).reshape([y.shape[0]!]), labels.convert("f32")),
  huber: (y: Tensor, l: Layers, labels: Tensor): Tensor =>
    nn.huber(l.linear(y, 1).reshape([y.shape[0]!]), labels.convert("f32")),
  bce: (y: Tensor, l: Layers, labels: Tensor): Tensor =>
    nn.bceWithLogits(l.linear(y, 1).reshape([y.shape[0]!]), labels.greater(1).convert("f32")),
  squares: (y: Tensor): Tensor => y.square().mean(),
};

const [lr, eps] = [0.01, 1e-3];
const optimizers: Record<string, (params: Tensor[]) => optim.Optimizer> = {
  sgd: (p) => new optim.SGD(p, { lr }),
  nesterov: (p) => new optim.SGD(p, { lr, momentum: 0.9, nesterov: true, weightDecay: 0.1 }),
  adam: (p) => new optim.Adam(p, { lr, eps }),
  scheduled: (p) => new optim.Adam(p, { lr: optim.schedule.cosine(0.01, 100), eps, clipNorm: 1 }),
  adamW: (p) => new optim.AdamW(p, { lr, eps, amsgrad: true, clipNorm: 1 }),
  clipped: (p) =>
    new optim.AdamW(p, { lr: optim.schedule.step(0.01, 5), eps, amsgrad: true, clipValue: 0.5 }),
  rmsProp: (p) => new optim.RMSProp(p, { lr, eps, centered: true, momentum: 0.5 }),
  rmsClipped: (p) =>
    new optim.RMSProp(p, { lr, eps, centered: true, momentum: 0.5, clipNorm: 1, weightDecay: 0.1 }),
};

const keysOf = <T extends object>(table: T) => Object.keys(table) as (keyof T)[];

export function networks(most = 6): fc.Arbitrary<Network> {
  const k = fc.array(fc.nat(11), { minLength: 5, maxLength: 5 });
  return fc
    .record({
      start: fc.constantFrom(...keysOf(starts)),
      batch: fc.nat(4),
      widest: fc.constantFrom(1, 2, 4, 8),
      picks: fc.array(fc.record({ layer: fc.nat(63), k }), { maxLength: most, size: "max" }),
      loss: fc.constantFrom(...keysOf(losses)),
      optimizer: fc.constantFrom(...keysOf(optimizers)),
    })
    .map((network) => Object.assign(network, { [fc.toStringMethod]: () => describe(network) }));
}

const tables = [undefined, undefined, flat, sequences, images];
function layersFor(x: Tensor): [string, Build][] {
  const all = { ...anywhere, ...tables[x.rank] };
  return Object.entries(all);
}

const describe = (n: Network): string => JSON.stringify(n);

function forward(x: Tensor, { picks, widest }: Network, l: Layers): Tensor {
  let y = x.dtype === "i32" ? l.add(new nn.Embedding(5, 1 + (widest % 6))).forward(x) : x;
  for (const { layer, k } of picks) {
    const table = layersFor(y);
    const next = table[layer % table.length]![1](y, k, l);
    if (next && isStatic(sizeOf(next.shape.slice(1))) && Number(sizeOf(next.shape.slice(1))) < 400)
      y = next;
  }
  const [batch, ...rest] = y.shape;
  return y.reshape([batch!, sizeOf(rest)]);
}

/** Loss and updates of one step of such a network. */
export function stepOfNetwork(n: Network): Program {
  nn.seed(1);
  const batch = n.batch === 0 ? dim("B") : 1 + n.batch;
  const x = starts[n.start](batch, 1 + (n.picks[0]?.k[0] ?? 2));
  const labels = input("labels", "i32", [batch]);
  const { value, updates } = trace(() => {
    const layers = new Layers(n.widest);
    const y = forward(x, n, layers);
    const loss = losses[n.loss](y, layers, labels);
    const params = layers.parameters();
    if (params.length) optimizers[n.optimizer]!(params).step(loss);
    return loss;
  });
  return { inputs: [x, labels], outputs: [{ name: "loss", value }], updates: [...updates] };
}
