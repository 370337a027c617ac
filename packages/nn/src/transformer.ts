/**
 * Encoders and decoders of attention and feed-forward blocks, with norms before or after; decoders
 * run token by token beside caches.
 */
import { checkOptions, checkTensor, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { type ActivationName, activationOf } from "./activation.ts";
import { Dropout } from "./dropout.ts";
import { Linear } from "./linear.ts";
import { Module } from "./module.ts";
import { type KeyValueCache, MultiHeadAttention } from "./multi-head-attention.ts";
import { LayerNorm } from "./norm.ts";
import { checkCount, checkExtent } from "./parameter.ts";

export interface FeedForwardOptions {
  /** Rate of dropout after the activation, default 0.1. */
  readonly dropout?: number;
  /** "relu" by default. */
  readonly activation?: ActivationName;
  /** Adds biases; true by default. */
  readonly bias?: boolean;
}

const feedForwardOptions: OptionNames<FeedForwardOptions> = { dropout: 1, activation: 1, bias: 1 };

/**
 * (drop(f(x·Uᵀ + b)))·Dᵀ + c at every position.
 *
 * x: f32[..., width] → the same. By default dropout 0.1, relu, biases. Throws ShapeError if the
 * last axis of x is not `width`. Vaswani et al. 2017, section 3.3. No counterpart in PyTorch; a
 * part of `torch.nn.TransformerEncoderLayer`.
 *
 * @param hidden Features between the two products.
 * @example
 *   new nn.PositionWiseFeedForward(64, 256).forward(ones([1, 5, 64])).shape // [1, 5, 64]
 */
export class PositionWiseFeedForward extends Module {
  readonly up: Linear;
  readonly down: Linear;
  readonly drop: Dropout;
  readonly activation: ActivationName;

  constructor(width: number, hidden: number, options: FeedForwardOptions = {}) {
    super([width, hidden, options]);
    const op = "positionWiseFeedForward";
    const {
      dropout = 0.1,
      activation = "relu",
      bias = true,
    } = checkOptions(op, options, feedForwardOptions);
    checkCount(op, "width", width);
    checkCount(op, "hidden", hidden);
    activationOf(activation);
    this.activation = activation;
    this.up = new Linear(width, hidden, { bias });
    this.down = new Linear(hidden, width, { bias });
    this.drop = new Dropout(dropout);
  }

  override forward(x: Tensor): Tensor {
    const inner = activationOf(this.activation)(this.up.forward(x));
    return this.down.forward(this.drop.forward(inner));
  }
}

export interface TransformerOptions extends FeedForwardOptions {
  /** Width inside of the feed-forward block, default 2048. */
  readonly hidden?: number;
  /** Normalises what goes into each block rather than what comes out; false by default. */
  readonly normFirst?: boolean;
  /** Of the norms, default 1e-5. */
  readonly eps?: number;
  /** Heads of keys and values, as many as heads by default. */
  readonly kvHeads?: number;
}

const transformerOptions: OptionNames<TransformerOptions> = {
  ...feedForwardOptions,
  hidden: 1,
  normFirst: 1,
  eps: 1,
  kvHeads: 1,
};

export interface EncoderInputs {
  /** Of attention: bool, true where a query may see a key, or floats added to the scores. */
  readonly mask?: Tensor;
  readonly causal?: boolean;
}

const encoderInputs: OptionNames<EncoderInputs> = { mask: 1, causal: 1 };

/** x and what a block makes of it, with the norm before or after. */
class Residual extends Module {
  readonly norm: LayerNorm;
  readonly drop: Dropout;
  readonly normFirst: boolean;

  constructor(width: number, { eps = 1e-5, dropout = 0.1, normFirst = false }: TransformerOptions) {
    super();
    this.norm = new LayerNorm(width, { eps });
    this.drop = new Dropout(dropout);
    this.normFirst = normFirst;
  }

  override forward(x: Tensor, block: (x: Tensor) => Tensor): Tensor {
    if (this.normFirst) return x.add(this.drop.forward(block(this.norm.forward(x))));
    return this.norm.forward(x.add(this.drop.forward(block(x))));
  }

  override pathOfField(field: string): string {
    return field === "norm" ? "" : field;
  }
}

class TransformerBlock extends Module {
  readonly attention: MultiHeadAttention;
  readonly feedForward: PositionWiseFeedForward;
  readonly norm1: Residual;
  readonly norm2: Residual;

  constructor(op: string, width: number, heads: number, options: TransformerOptions) {
    super([width, heads, options]);
    checkOptions(op, options, transformerOptions);
    const {
      hidden = 2048,
      dropout = 0.1,
      activation = "relu",
      bias = true,
      kvHeads = heads,
    } = options;
    this.attention = new MultiHeadAttention(width, heads, { bias, dropout, kvHeads });
    this.feedForward = new PositionWiseFeedForward(width, hidden, { dropout, activation, bias });
    this.norm1 = new Residual(width, options);
    this.norm2 = new Residual(width, options);
  }

  override forward(x: Tensor, options: EncoderInputs = {}): Tensor {
    checkOptions("transformer", options, encoderInputs);
    checkExtent("transformer", x, -1, this.attention.width, "widths");
    const attended = this.norm1.forward(x, (y) => this.attention.forward(y, options));
    return this.norm2.forward(attended, (y) => this.feedForward.forward(y));
  }
}

/**
 * Self-attention, then a feed-forward block, each added to what it is given and normalised.
 *
 * x: f32[B, T, width] → the same. By default hidden 2048, dropout 0.1, relu, norms after, eps 1e-5.
 * Throws ShapeError on other widths. Vaswani et al. 2017, section 3.1.
 * `torch.nn.TransformerEncoderLayer`.
 *
 * @param width Features of a position.
 * @param heads Heads; they divide the width.
 * @example
 *   const layer = new nn.TransformerEncoderLayer(64, 8, { normFirst: true });
 *   layer.forward(ones([1, 3, 64]), { mask: nn.causalMask(3) }).shape // [1, 3, 64]
 */
export class TransformerEncoderLayer extends TransformerBlock {
  constructor(width: number, heads: number, options: TransformerOptions = {}) {
    super("transformerEncoderLayer", width, heads, options);
  }
}

/**
 * `layers` encoder layers one after the other. x: f32[B, T, width] → the same. Otherwise as
 * `TransformerEncoderLayer`. `torch.nn.TransformerEncoder`.
 *
 * @param width Features of a position.
 * @param heads Heads; they divide the width.
 * @example
 *   const encoder = new nn.TransformerEncoder(2, 64, 8, { dropout: 0 });
 *   encoder.forward(ones([1, 5, 64])).shape // [1, 5, 64]
 */
export class TransformerEncoder extends Module {
  readonly layers: TransformerEncoderLayer[];

  constructor(layers: number, width: number, heads: number, options: TransformerOptions = {}) {
    super([layers, width, heads, options]);
    checkCount("transformerEncoder", "layers", layers);
    checkOptions("transformerEncoder", options, transformerOptions);
    this.layers = Array.from(
      { length: layers },
      () => new TransformerEncoderLayer(width, heads, options),
    );
  }

  override forward(x: Tensor, options: EncoderInputs = {}): Tensor {
    checkTensor("transformerEncoder", x);
    return this.layers.reduce((y, layer) => layer.forward(y, options), x);
  }
}

export interface DecoderInputs {
  /** Of attention to `memory`. */
  readonly memoryMask?: Tensor;
  /** Of self-attention, besides its being causal. */
  readonly mask?: Tensor;
}

const decoderInputs: OptionNames<DecoderInputs> = { memoryMask: 1, mask: 1 };

/**
 * Causal self-attention, attention to what an encoder gave, then a feed-forward block, each added
 * and normalised.
 *
 * x: f32[B, T, width], memory: f32[B, S, width] → f32[B, T, width]. By default as
 * `TransformerEncoderLayer`. `step` runs token by token. `torch.nn.TransformerDecoderLayer`.
 *
 * @param width Features of a position.
 * @param heads Heads; they divide the width.
 * @example
 *   const layer = new nn.TransformerDecoderLayer(64, 8);
 *   layer.forward(ones([1, 5, 64]), ones([1, 7, 64])).shape // [1, 5, 64]
 */
export class TransformerDecoderLayer extends Module {
  readonly attention: MultiHeadAttention;
  readonly crossAttention: MultiHeadAttention;
  readonly feedForward: PositionWiseFeedForward;
  readonly norm1: Residual;
  readonly norm2: Residual;
  readonly norm3: Residual;

  constructor(width: number, heads: number, options: TransformerOptions = {}) {
    super([width, heads, options]);
    checkOptions("transformerDecoderLayer", options, transformerOptions);
    const {
      hidden = 2048,
      dropout = 0.1,
      activation = "relu",
      bias = true,
      kvHeads = heads,
    } = options;
    this.attention = new MultiHeadAttention(width, heads, { bias, dropout, kvHeads });
    this.crossAttention = new MultiHeadAttention(width, heads, { bias, dropout, kvHeads });
    this.feedForward = new PositionWiseFeedForward(width, hidden, { dropout, activation, bias });
    this.norm1 = new Residual(width, options);
    this.norm2 = new Residual(width, options);
    this.norm3 = new Residual(width, options);
  }

  override forward(x: Tensor, memory: Tensor, options: DecoderInputs = {}): Tensor {
    const { mask, memoryMask } = checkOptions("transformerDecoderLayer", options, decoderInputs);
    for (const t of [x, memory]) checkTensor("transformerDecoderLayer", t);
    const seen = { causal: true, ...(mask && { mask }) };
    const y = this.norm1.forward(x, (t) => this.attention.forward(t, seen));
    return this.rest(y, memory, memoryMask);
  }

  /** The same for tokens after those of `past`: y, and the cache with theirs. */
  step(
    x: Tensor,
    memory: Tensor,
    past?: KeyValueCache,
    options: Pick<DecoderInputs, "memoryMask"> = {},
  ): { readonly y: Tensor; readonly cache: KeyValueCache } {
    for (const t of [x, memory]) checkTensor("transformerDecoderLayer", t);
    let cache: KeyValueCache | undefined;
    const y = this.norm1.forward(x, (t) => {
      const next = this.attention.step(t, past);
      cache = next.cache;
      return next.y;
    });
    return { y: this.rest(y, memory, options.memoryMask), cache: cache! };
  }

  private rest(x: Tensor, memory: Tensor, mask: Tensor | undefined): Tensor {
    const seen = { key: memory, ...(mask && { mask }) };
    const y = this.norm2.forward(x, (t) => this.crossAttention.forward(t, seen));
    return this.norm3.forward(y, (t) => this.feedForward.forward(t));
  }
}

/**
 * `layers` decoder layers one after the other. x: f32[B, T, width], memory: f32[B, S, width] →
 * f32[B, T, width]. `torch.nn.TransformerDecoder`.
 *
 * @param width Features of a position.
 * @param heads Heads; they divide the width.
 * @example
 *   const decoder = new nn.TransformerDecoder(2, 64, 8);
 *   decoder.forward(ones([1, 5, 64]), ones([1, 7, 64])).shape // [1, 5, 64]
 */
export class TransformerDecoder extends Module {
  readonly layers: TransformerDecoderLayer[];

  constructor(layers: number, width: number, heads: number, options: TransformerOptions = {}) {
    super([layers, width, heads, options]);
    checkCount("transformerDecoder", "layers", layers);
    checkOptions("transformerDecoder", options, transformerOptions);
    this.layers = Array.from(
      { length: layers },
      () => new TransformerDecoderLayer(width, heads, options),
    );
  }

  override forward(x: Tensor, memory: Tensor, options: DecoderInputs = {}): Tensor {
    for (const t of [x, memory]) checkTensor("transformerDecoder", t);
    return this.layers.reduce((y, layer) => layer.forward(y, memory, options), x);
  }

  /**
   * The same for tokens after those of `past`, one cache a layer: y, and the caches with theirs.
   */
  step(x: Tensor, memory: Tensor, past: readonly KeyValueCache[] = []) {
    const caches: KeyValueCache[] = [];
    const y = this.layers.reduce((t, layer, i) => {
      const next = layer.step(t, memory, past[i]);
      caches.push(next.cache);
      return next.y;
    }, x);
    return { y, caches };
  }
}
