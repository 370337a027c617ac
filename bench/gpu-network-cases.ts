/**
 * The rows of the networks' table: whole networks, trained a step or run forward, in f32 and in
 * halves. What each computes is written again for the peers in `gpu-peers/networks.py`. Built anew
 * at each call; measures nothing.
 */
import { gelu, input, iota, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import * as vision from "@kiln-ml/vision";
import type { Program } from "../compiler/src/program.ts";
import { program } from "./cases.ts";

export interface NetworkRow {
  readonly name: string;
  readonly build: () => Program;
  /** The peers' own kind of the same network, and its extents. */
  readonly work: readonly [kind: string, ...extents: number[]];
  readonly half?: true;
  /** Integer inputs are below this. */
  readonly classes: number;
  /** Of the better of torch eager and torch compile. */
  readonly goal: number;
  /** The row that this one is to be `ofFull` times as fast as. */
  readonly full?: string;
}

/** How many times as fast a network in halves is as the same in f32. */
export const ofFull = 1.6;
const goals = { train: 0.95, infer: 1.1, half: 0.6 };

interface Sizes {
  readonly width: number;
  readonly heads: number;
  readonly layers: number;
  readonly tokens: number;
  readonly vocabulary: number;
}

/** softmax(q·kᵀ)·v in heads; queries, keys and values are one projection. */
class Attention extends nn.Module {
  readonly qkv: nn.Linear;
  readonly out: nn.Linear;
  readonly heads: number;
  readonly causal: boolean;

  constructor(width: number, heads: number, causal: boolean) {
    super();
    this.qkv = new nn.Linear(width, 3 * width);
    this.out = new nn.Linear(width, width);
    this.heads = heads;
    this.causal = causal;
  }

  override forward(x: Tensor): Tensor {
    const [batch, length, width] = x.shape as [number, number, number];
    const split = [batch, length, 3, this.heads, width / this.heads];
    const parts = this.qkv.forward(x).reshape(split).transpose([2, 0, 3, 1, 4]).split(3);
    const [q, k, v] = parts.map((part) => part.squeeze(0)) as [Tensor, Tensor, Tensor];
    const joined = nn.attention(q, k, v, { causal: this.causal }).transpose([0, 2, 1, 3]);
    return this.out.forward(joined.reshape([batch, length, width]));
  }
}

/** Attention, then a perceptron, each added to what came in; the norm stands before, or after. */
class Block extends nn.Module {
  readonly norm1: nn.LayerNorm;
  readonly norm2: nn.LayerNorm;
  readonly attention: Attention;
  readonly up: nn.Linear;
  readonly down: nn.Linear;
  readonly before: boolean;

  constructor(width: number, heads: number, before: boolean) {
    super();
    this.norm1 = new nn.LayerNorm(width);
    this.norm2 = new nn.LayerNorm(width);
    this.attention = new Attention(width, heads, before);
    this.up = new nn.Linear(width, 4 * width);
    this.down = new nn.Linear(4 * width, width);
    this.before = before;
  }

  override forward(x: Tensor): Tensor {
    const perceptron = (t: Tensor) => this.down.forward(gelu(this.up.forward(t)));
    if (!this.before) {
      const y = this.norm1.forward(x.add(this.attention.forward(x)));
      return this.norm2.forward(y.add(perceptron(y)));
    }
    const y = x.add(this.attention.forward(this.norm1.forward(x)));
    return y.add(perceptron(this.norm2.forward(y)));
  }
}

/** Tokens to states: a table of tokens, one of places, blocks. */
class Trunk extends nn.Module {
  readonly tokens: nn.Embedding;
  readonly places: nn.Embedding;
  readonly blocks: nn.Sequential;
  readonly norm: nn.LayerNorm;
  readonly causal: boolean;

  constructor({ width, heads, layers, tokens, vocabulary }: Sizes, causal: boolean) {
    super();
    const init = nn.init.normal(0, 0.02);
    this.tokens = new nn.Embedding(vocabulary, width, { init });
    this.places = new nn.Embedding(tokens, width, { init });
    this.blocks = new nn.Sequential(
      Array.from({ length: layers }, () => new Block(width, heads, causal)),
    );
    this.norm = new nn.LayerNorm(width);
    this.causal = causal;
  }

  override forward(x: Tensor): Tensor {
    const at = this.places.forward(iota([x.shape[1]!]));
    const first = this.tokens.forward(x).add(at);
    if (this.causal) return this.norm.forward(this.blocks.forward(first));
    return this.blocks.forward(this.norm.forward(first));
  }
}

/** The mean cross-entropy of what follows each token. */
function nextToken(states: Tensor, head: nn.Linear, y: Tensor): Tensor {
  const [batch, length] = y.shape as [number, number];
  const scores = head.forward(states).reshape([batch * length, -1]);
  return nn.crossEntropy(scores, y.reshape([batch * length]));
}

const scope = (half: boolean, define: () => Tensor): Tensor =>
  half ? nn.autocast("f16", define) : define();

/** A loss and the step of an optimizer, of the parameters of `nets`. */
function training(
  inputs: readonly Tensor[],
  nets: readonly nn.Module[],
  half: boolean,
  lossOf: () => Tensor,
  rule = (params: Tensor[]): optim.Optimizer => new optim.AdamW(params, { lr: 3e-4 }),
): Program {
  return program(inputs, () => {
    const loss = scope(half, lossOf);
    rule(nets.flatMap((net) => net.parameters())).step(loss);
    return loss;
  });
}

const tokensOf = (name: string, batch: number, length: number): Tensor =>
  input(name, "i32", [batch, length]);

/** A step of AdamW of a language model. */
export function gpt(sizes: Sizes, batch: number, half: boolean): Program {
  nn.seed(1);
  const [x, y] = [tokensOf("x", batch, sizes.tokens), tokensOf("y", batch, sizes.tokens)];
  const [trunk, head] = [new Trunk(sizes, true), new nn.Linear(sizes.width, sizes.vocabulary)];
  return training([x, y], [trunk, head], half, () => nextToken(trunk.forward(x), head, y));
}

function bert(sizes: Sizes, batch: number, half: boolean): Program {
  nn.seed(1);
  const x = tokensOf("x", batch, sizes.tokens);
  const trunk = new Trunk(sizes, false);
  trunk.eval();
  return program([x], () => scope(half, () => trunk.forward(x)));
}

/** A table, two layers of LSTM over all tokens, and the scores of what follows. */
function lstm(sizes: Omit<Sizes, "heads">, batch: number): Program {
  nn.seed(1);
  const { width, layers, tokens, vocabulary } = sizes;
  const [x, y] = [tokensOf("x", batch, tokens), tokensOf("y", batch, tokens)];
  const table = new nn.Embedding(vocabulary, width);
  const cells = new nn.LSTM(width, width, { layers });
  const head = new nn.Linear(width, vocabulary);
  return training([x, y], [table, cells, head], false, () => {
    return nextToken(cells.forward(table.forward(x)).y, head, y);
  });
}

const imagesOf = (batch: number, size: number): Tensor => input("x", "f32", [batch, 3, size, size]);
const labelsOf = (batch: number): Tensor => input("y", "i32", [batch]);

const momentum = (params: Tensor[]): optim.Optimizer =>
  new optim.SGD(params, { lr: 0.01, momentum: 0.9, weightDecay: 1e-4 });

function classify(
  make: () => nn.Module & { forward(x: Tensor): Tensor },
  [batch, size]: readonly [number, number],
  half: boolean,
  rule?: (params: Tensor[]) => optim.Optimizer,
): Program {
  nn.seed(1);
  const [net, x, y] = [make(), imagesOf(batch, size), labelsOf(batch)];
  return training([x, y], [net], half, () => nn.crossEntropy(net.forward(x), y), rule);
}

function infer(
  make: () => nn.Module & { forward(x: Tensor): Tensor },
  [batch, size]: readonly [number, number],
  half: boolean,
): Program {
  nn.seed(1);
  const [net, x] = [make(), imagesOf(batch, size)];
  net.eval();
  return program([x], () => scope(half, () => net.forward(x)));
}

/** One score a pixel, against a mask of zeros and ones. */
function unet(batch: number, size: number, width: number): Program {
  nn.seed(1);
  const net = vision.unet({ width });
  const [x, y] = [imagesOf(batch, size), input("y", "f32", [batch, 1, size, size])];
  return training([x, y], [net], false, () =>
    nn.bceWithLogits(net.forward(x), y.greater(0).convert("f32")),
  );
}

const sizesOf = (
  width: number,
  heads: number,
  layers: number,
  tokens: number,
  vocabulary: number,
) => ({ width, heads, layers, tokens, vocabulary }) satisfies Sizes;

/** A network of tokens in f32 and in halves. */
function inBoth(
  name: string,
  kind: string,
  sizes: Sizes,
  batch: number,
  build: (half: boolean) => Program,
  goal: number,
): NetworkRow[] {
  const { width, heads, layers, tokens, vocabulary } = sizes;
  const work = [kind, batch, width, heads, layers, tokens, vocabulary] as const;
  const row = { work, classes: vocabulary };
  return [
    { ...row, name, build: () => build(false), goal },
    {
      ...row,
      name: `${name} f16`,
      build: () => build(true),
      goal: goals.half,
      half: true,
      full: name,
    },
  ];
}

/** Extents of one table of networks. */
interface Scale {
  readonly gpts: readonly (readonly [name: string, sizes: Sizes, batch: number])[];
  readonly bert: readonly [sizes: Sizes, batch: number];
  readonly lstm: readonly [sizes: Omit<Sizes, "heads">, batch: number];
  readonly images: readonly [batch: number, size: number];
  readonly unet: readonly [batch: number, size: number, width: number];
}

function rowsOf({
  gpts,
  bert: [bertSizes, bertBatch],
  lstm: [lstmSizes, lstmBatch],
  images,
  unet: mask,
}: Scale): NetworkRow[] {
  const classes = 1000;
  const resnet = () => vision.resnet50();
  const vit = () => vision.vitB16({ imageSize: images[1] });
  const { width, layers, tokens, vocabulary } = lstmSizes;
  return [
    ...gpts.flatMap(([name, sizes, batch]) =>
      inBoth(`${name} train`, "gpt", sizes, batch, (half) => gpt(sizes, batch, half), goals.train),
    ),
    ...inBoth(
      "BERT-base infer",
      "bert",
      bertSizes,
      bertBatch,
      (half) => bert(bertSizes, bertBatch, half),
      goals.infer,
    ),
    {
      name: "ResNet-50 train",
      build: () => classify(resnet, images, false, momentum),
      work: ["resnet", ...images],
      classes,
      goal: goals.train,
    },
    {
      name: "ResNet-50 infer",
      build: () => infer(resnet, images, false),
      work: ["resnetInfer", ...images],
      classes,
      goal: goals.infer,
    },
    {
      name: "ViT-B/16 train",
      build: () => classify(vit, images, false),
      work: ["vit", ...images],
      classes,
      goal: goals.train,
    },
    {
      name: "ViT-B/16 train f16",
      build: () => classify(vit, images, true),
      work: ["vit", ...images],
      classes,
      goal: goals.half,
      half: true,
      full: "ViT-B/16 train",
    },
    {
      name: "U-Net train",
      build: () => unet(...mask),
      work: ["unet", ...mask],
      classes,
      goal: goals.train,
    },
    {
      name: "LSTM train",
      build: () => lstm(lstmSizes, lstmBatch),
      work: ["lstm", lstmBatch, width, layers, tokens, vocabulary],
      classes: vocabulary,
      goal: goals.train,
    },
  ];
}

export const networkRows: readonly NetworkRow[] = rowsOf({
  gpts: [
    ["GPT 55M", sizesOf(768, 12, 6, 512, 8192), 8],
    ["GPT 124M", sizesOf(768, 12, 12, 1024, 50257), 4],
  ],
  bert: [sizesOf(768, 12, 12, 128, 30522), 32],
  lstm: [{ width: 512, layers: 2, tokens: 64, vocabulary: 8192 }, 32],
  images: [32, 224],
  unet: [4, 256, 64],
});

/** Networks small enough for a software device. */
export const smallNetworks: readonly NetworkRow[] = rowsOf({
  gpts: [["GPT", sizesOf(64, 2, 1, 32, 64), 2]],
  bert: [sizesOf(32, 2, 1, 16, 64), 2],
  lstm: [{ width: 16, layers: 2, tokens: 4, vocabulary: 32 }, 2],
  images: [1, 32],
  unet: [4, 16, 4],
}).filter((row) => !/ResNet|ViT/.test(row.name));
