/**
 * What models of this package are made of: matrices in floats or halves, tables of vectors, norms,
 * and attention by heads that share keys.
 */
import { nn } from "kiln-ml";
import {
  type BlockFormat,
  type Dim,
  gelu,
  geluTanh,
  type OptionNames,
  param,
  type Quantized,
  type QuantizedOptions,
  type QuantizedProductOptions,
  quantizedOf,
  relu,
  select,
  type Tensor,
  take,
} from "kiln-ml/ir";
import type { ActivationName } from "./architecture.ts";

/** How parameters begin. */
export interface DecoderOptions {
  /** What matrices are kept as; f16 takes half of the memory. What is computed is f32. */
  readonly weights?: "f32" | "f16";
  /** Zeros at first, for weights that are loaded: drawing a thousand million takes a minute. */
  readonly empty?: boolean;
}

export const decoderOptions: OptionNames<DecoderOptions> = { weights: 1, empty: 1 };

const zero = (shape: readonly number[]): Float32Array =>
  new Float32Array(shape.reduce((a, b) => a * b, 1));

/** The first values of a matrix where they are not a layer's own. */
export const initOf = ({ empty, weights }: DecoderOptions) =>
  empty || weights === "f16" ? { init: zero } : {};

const half = (shape: number[]): Tensor =>
  param(zero(shape), { name: "weight", shape, dtype: "f16" });

/** A part whose fields have other names in public files than here. */
export abstract class Named extends nn.Module {
  readonly names: Readonly<Record<string, string>>;

  /** `args` are what the constructor of a whole model was given: `nn.toConfig` writes them. */
  constructor(names: Readonly<Record<string, string>>, args?: readonly unknown[]) {
    super(args);
    this.names = names;
  }

  override pathOfField(field: string): string {
    return Object.hasOwn(this.names, field) ? this.names[field]! : field;
  }
}

/** Rows of halves by number. */
class HalfEmbedding extends nn.Module {
  readonly weight: Tensor;

  constructor(count: number, width: number) {
    super();
    this.weight = half([count, width]);
  }

  override forward(tokens: Tensor): Tensor {
    return take(this.weight, tokens, 0);
  }
}

/** What a table of few bits is made with. */
export type TableFormat = QuantizedOptions & QuantizedProductOptions;

/** Rows of few bits by number: words of a row lie side by side, and are taken apart once read. */
export class QuantizedTable extends nn.Module {
  readonly words: Tensor;
  readonly scales: Tensor;
  readonly offsets: Tensor | undefined;
  readonly width: number;
  readonly format: Required<BlockFormat>;
  readonly activations: "f32" | "i8";

  constructor(count: number, width: number, format: TableFormat) {
    super();
    const { bits, block = 32, zeroPoint = false, activations = "f32" } = format;
    const blocks = Math.ceil(width / block);
    const floats = (name: string): Tensor =>
      param(zero([count, blocks]), { name, shape: [count, blocks], trainable: false });
    const shape = [count, (blocks * block * bits) / 32];
    const data = new Uint32Array(shape[0]! * shape[1]!);
    this.words = param(data, { name: "words", shape, dtype: "u32", trainable: false });
    this.scales = floats("scales");
    if (zeroPoint) this.offsets = floats("offsets");
    this.width = width;
    this.format = { bits, block };
    this.activations = activations;
  }

  /** All of it as a value of a graph. */
  value(): Quantized {
    return quantizedOf(this, this.format, this.width);
  }

  override forward(tokens: Tensor): Tensor {
    const { words, scales, offsets, format, width } = this;
    const rows = (t: Tensor): Tensor => take(t, tokens, 0);
    const read = { words: rows(words), scales: rows(scales), offsets: offsets && rows(offsets) };
    return quantizedOf(read, format, width).dequantize();
  }

  /** x: f32[…, width] → f32[…, count], as a head that is tied to it. */
  product(x: Tensor): Tensor {
    return this.value().product(x, { activations: this.activations });
  }
}

export type FloatTable = nn.Embedding | HalfEmbedding;
export type Table = FloatTable | QuantizedTable;

export const table = (count: number, width: number, options: DecoderOptions): FloatTable =>
  options.weights === "f16"
    ? new HalfEmbedding(count, width)
    : new nn.Embedding(count, width, initOf(options));

export interface ProjectionOptions extends DecoderOptions {
  /** The matrix is [inputs, outputs]. */
  readonly transposed?: boolean;
}

export class Projection extends nn.Linear {
  readonly transposed: boolean;

  constructor(from: number, to: number, bias: boolean, options: ProjectionOptions) {
    const { transposed = false, weights } = options;
    super(transposed ? to : from, transposed ? from : to, { bias: false, ...initOf(options) });
    this.transposed = transposed;
    if (weights === "f16")
      Object.assign(this, { weight: half([...this.weight.shape] as number[]) });
    if (bias) Object.assign(this, { bias: param(zero([to]), { name: "bias", shape: [to] }) });
  }

  override forward(x: Tensor): Tensor {
    const y = this.quantized ? this.quantized.forward(x) : x.matmul(this.#turned());
    return this.bias ? y.add(this.bias.convert("f32")) : y;
  }

  override matrix(): Tensor {
    return this.transposed ? this.weight.transpose([1, 0]) : this.weight;
  }

  #turned(): Tensor {
    const weight = this.weight.convert("f32");
    return this.transposed ? weight : weight.transpose([1, 0]);
  }
}

interface NormConfig {
  readonly eps: number;
  readonly layerNorm: boolean;
  readonly onePlus: boolean;
}

class RmsNorm extends nn.RmsNorm {
  readonly onePlus: boolean;

  constructor(extent: number, { eps, onePlus }: NormConfig) {
    super(extent, { eps });
    this.onePlus = onePlus;
  }

  override forward(x: Tensor): Tensor {
    const y = x.mul(x.square().mean([-1], { keepDims: true }).add(this.eps).rsqrt());
    const gain = this.weight.convert("f32");
    return y.mul(this.onePlus ? gain.add(1) : gain);
  }
}

export type Norm = nn.LayerNorm | RmsNorm;

export const normOf = (extent: number, config: NormConfig): Norm =>
  config.layerNorm ? new nn.LayerNorm(extent, { eps: config.eps }) : new RmsNorm(extent, config);

const bends: Readonly<Record<ActivationName, (x: Tensor) => Tensor>> = {
  silu: (x) => x.silu(),
  gelu,
  geluTanh,
  relu,
  quickGelu: (x) => x.mul(x.mul(1.702).sigmoid()),
};

export const bent = (x: Tensor, activation: ActivationName): Tensor => bends[activation](x);

export const capped = (x: Tensor, cap: number | undefined): Tensor =>
  cap === undefined ? x : x.div(cap).tanh().mul(cap);

/** Who sees what: scores are multiplied by `scale`, capped, and left out where `mask` says so. */
export interface Seeing {
  readonly scale: number;
  readonly cap?: number | undefined;
  /** bool[B or 1, 1, T or 1, S]; all see all without one. */
  readonly mask?: Tensor | undefined;
}

/**
 * softmax(q·kᵀ · scale)·v by head. q: f32[B, T, heads, d]; k, v: f32[B, S, kvHeads, d] →
 * f32[B, T, heads · d]. Heads that share keys are an axis of their own, so that keys are not
 * repeated.
 */
export function attended(q: Tensor, k: Tensor, v: Tensor, { scale, cap, mask }: Seeing): Tensor {
  const [b, t, heads, width] = q.shape as [Dim, Dim, number, number];
  const kvHeads = k.shape[2] as number;
  const grouped = q.reshape([b, t, kvHeads, heads / kvHeads, width]).transpose([0, 2, 3, 1, 4]);
  const keys = k.transpose([0, 2, 3, 1]).expandDims(2);
  const values = v.transpose([0, 2, 1, 3]).expandDims(2);
  const scores = capped(grouped.matmul(keys).mul(scale), cap);
  const seen = (mask ? select(mask.expandDims(1), scores, -3.4e38) : scores).softmax(-1);
  return seen
    .matmul(values)
    .transpose([0, 3, 1, 2, 4])
    .reshape([b, t, heads * width]);
}

/** x: f32[B, T, n · d] → f32[B, T, n, d]. */
export const byHead = (x: Tensor, heads: number): Tensor => {
  const [b, t, width] = x.shape as [Dim, Dim, number];
  return x.reshape([b, t, heads, width / heads]);
};

/** Parts of the last axis, of given extents. */
export function parts(x: Tensor, extents: readonly number[]): Tensor[] {
  const before = x.shape.slice(0, -1);
  let at = 0;
  return extents.map((extent) => {
    const from = [...before.map(() => 0), at];
    at += extent;
    return x.slice(from, [...before, at] as never);
  });
}
