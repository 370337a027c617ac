/**
 * A decoder of any row of the table, with the names of weights that Hugging Face's files have. With
 * a cache, a step computes only what is new: keys and values are written where their tokens stand,
 * and read up to the longest text.
 */
import { nn } from "kiln-ml";
import {
  assign,
  checkOptions,
  type Dim,
  geluTanh,
  iota,
  type OptionNames,
  param,
  scatter,
  select,
  type Tensor,
  take,
} from "kiln-ml/ir";
import type { DecoderConfig } from "./architecture.ts";
import { rates, type Turn, turned, turnOf } from "./rotary.ts";

/** Keys and values of one layer: [batch, capacity, kvHeads, headWidth]. */
export interface LayerCache {
  readonly key: Tensor;
  readonly value: Tensor;
}

/** Empty caches for `batch` texts of up to `capacity` tokens. */
export function caches(config: DecoderConfig, batch: number, capacity: number): LayerCache[] {
  const shape = [batch, capacity, config.kvHeads, config.headWidth];
  const size = shape.reduce((a, b) => a * b, 1);
  const empty = (name: string): Tensor =>
    param(new Float32Array(size), { name, shape, trainable: false });
  return Array.from({ length: config.layers }, (_, i) => ({
    key: empty(`cache.${i}.key`),
    value: empty(`cache.${i}.value`),
  }));
}

/** Where a step's tokens stand and what they may see. */
interface Step {
  readonly positions: Tensor;
  readonly turn: Turn;
  /** bool[B, 1, T, S]. */
  readonly mask: Tensor;
  readonly keys: Dim;
}

class Norm extends nn.RmsNorm {
  readonly onePlus: boolean;

  constructor(extent: number, { eps, onePlus }: DecoderConfig) {
    super(extent, { eps });
    this.onePlus = onePlus;
  }

  override forward(x: Tensor): Tensor {
    const y = x.mul(x.square().mean([-1], { keepDims: true }).add(this.eps).rsqrt());
    const gain = this.weight.convert("f32");
    return y.mul(this.onePlus ? gain.add(1) : gain);
  }
}

/** How parameters begin. */
export interface DecoderOptions {
  /** What matrices are kept as; f16 takes half of the memory. What is computed is f32. */
  readonly weights?: "f32" | "f16";
  /** Zeros at first, for weights that are loaded: drawing a thousand million takes a minute. */
  readonly empty?: boolean;
}

const decoderOptions: OptionNames<DecoderOptions> = { weights: 1, empty: 1 };

const zero = (shape: readonly number[]): Float32Array =>
  new Float32Array(shape.reduce((a, b) => a * b, 1));

/** The first values of a matrix where they are not a layer's own. */
const initOf = ({ empty, weights }: DecoderOptions) =>
  empty || weights === "f16" ? { init: zero } : {};

const half = (shape: number[]): Tensor =>
  param(zero(shape), { name: "weight", shape, dtype: "f16" });

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

class Projection extends nn.Linear {
  constructor(from: number, to: number, bias: boolean, options: DecoderOptions) {
    super(from, to, { bias, ...initOf(options) });
    if (options.weights === "f16") Object.assign(this, { weight: half([to, from]) });
  }

  override forward(x: Tensor): Tensor {
    const y = x.matmul(this.weight.convert("f32").transpose([1, 0]));
    return this.bias ? y.add(this.bias.convert("f32")) : y;
  }
}

const capped = (x: Tensor, cap: number | undefined): Tensor =>
  cap === undefined ? x : x.div(cap).tanh().mul(cap);

class Attention extends nn.Module {
  readonly q_proj: Projection;
  readonly k_proj: Projection;
  readonly v_proj: Projection;
  readonly o_proj: Projection;
  readonly q_norm: Norm | undefined;
  readonly k_norm: Norm | undefined;
  readonly config: DecoderConfig;

  constructor(config: DecoderConfig, options: DecoderOptions) {
    super();
    const { width, heads, kvHeads, headWidth, qkvBias, outBias } = config;
    this.q_proj = new Projection(width, heads * headWidth, qkvBias, options);
    this.k_proj = new Projection(width, kvHeads * headWidth, qkvBias, options);
    this.v_proj = new Projection(width, kvHeads * headWidth, qkvBias, options);
    this.o_proj = new Projection(heads * headWidth, width, outBias, options);
    if (config.qkNorm) {
      this.q_norm = new Norm(headWidth, config);
      this.k_norm = new Norm(headWidth, config);
    }
    this.config = config;
  }

  override forward(x: Tensor, step: Step, cache: LayerCache | undefined): Tensor {
    const { heads, kvHeads, headWidth } = this.config;
    const [b, t] = x.shape as [Dim, Dim];
    const split = (y: Tensor, n: number) => y.reshape([b, t, n, headWidth]);
    let q = split(this.q_proj.forward(x), heads);
    let k = split(this.k_proj.forward(x), kvHeads);
    let v = split(this.v_proj.forward(x), kvHeads);
    if (this.q_norm && this.k_norm) [q, k] = [this.q_norm.forward(q), this.k_norm.forward(k)];
    [q, k] = [turned(q, step.turn), turned(k, step.turn)];
    if (cache) [k, v] = [written(cache.key, k, step), written(cache.value, v, step)];
    return this.o_proj.forward(this.#weighted(q, k, v, step));
  }

  /** Heads that share keys are an axis of their own, so that keys are not repeated. */
  #weighted(q: Tensor, k: Tensor, v: Tensor, { mask }: Step): Tensor {
    const { heads, kvHeads, headWidth, scale, attentionCap } = this.config;
    const [b, t] = q.shape as [Dim, Dim];
    const grouped = q
      .reshape([b, t, kvHeads, heads / kvHeads, headWidth])
      .transpose([0, 2, 3, 1, 4]);
    const keys = k.transpose([0, 2, 3, 1]).expandDims(2);
    const values = v.transpose([0, 2, 1, 3]).expandDims(2);
    const scores = capped(grouped.matmul(keys).mul(scale), attentionCap);
    const seen = select(mask.expandDims(1), scores, -3.4e38).softmax(-1);
    return seen
      .matmul(values)
      .transpose([0, 3, 1, 2, 4])
      .reshape([b, t, heads * headWidth]);
  }
}

/**
 * The first `keys` of a cache, with rows of this step where their tokens stand; those beyond its
 * capacity are dropped.
 */
function written(cache: Tensor, rows: Tensor, { positions, keys }: Step): Tensor {
  const text = iota(positions.shape, 0);
  assign(cache, scatter(cache, rows, [text, positions], [0, 1], "set"));
  const [b, , heads, width] = cache.shape as [Dim, Dim, Dim, Dim];
  return cache.slice([0, 0, 0, 0], [b, keys, heads, width]);
}

class Mlp extends nn.Module {
  readonly gate_proj: Projection;
  readonly up_proj: Projection;
  readonly down_proj: Projection;
  readonly isGelu: boolean;

  constructor({ width, hidden, activation }: DecoderConfig, options: DecoderOptions) {
    super();
    this.gate_proj = new Projection(width, hidden, false, options);
    this.up_proj = new Projection(width, hidden, false, options);
    this.down_proj = new Projection(hidden, width, false, options);
    this.isGelu = activation === "gelu";
  }

  override forward(x: Tensor): Tensor {
    const gate = this.gate_proj.forward(x);
    const open = this.isGelu ? geluTanh(gate) : gate.silu();
    return this.down_proj.forward(open.mul(this.up_proj.forward(x)));
  }
}

class Layer extends nn.Module {
  readonly input_layernorm: Norm;
  readonly self_attn: Attention;
  readonly post_attention_layernorm: Norm;
  readonly pre_feedforward_layernorm: Norm | undefined;
  readonly post_feedforward_layernorm: Norm | undefined;
  readonly mlp: Mlp;

  constructor(config: DecoderConfig, options: DecoderOptions) {
    super();
    const norm = () => new Norm(config.width, config);
    this.input_layernorm = norm();
    this.self_attn = new Attention(config, options);
    this.post_attention_layernorm = norm();
    if (config.postNorms) {
      this.pre_feedforward_layernorm = norm();
      this.post_feedforward_layernorm = norm();
    }
    this.mlp = new Mlp(config, options);
  }

  override forward(x: Tensor, step: Step, cache: LayerCache | undefined): Tensor {
    const seen = this.self_attn.forward(this.input_layernorm.forward(x), step, cache);
    const { pre_feedforward_layernorm: before, post_feedforward_layernorm: after } = this;
    if (!before || !after) {
      const y = x.add(seen);
      return y.add(this.mlp.forward(this.post_attention_layernorm.forward(y)));
    }
    const y = x.add(this.post_attention_layernorm.forward(seen));
    return y.add(after.forward(this.mlp.forward(before.forward(y))));
  }
}

class Body extends nn.Module {
  readonly embed_tokens: nn.Embedding | HalfEmbedding;
  readonly layers: readonly Layer[];
  readonly norm: Norm;

  constructor(config: DecoderConfig, options: DecoderOptions) {
    super();
    const { vocabulary, width } = config;
    this.embed_tokens =
      options.weights === "f16"
        ? new HalfEmbedding(vocabulary, width)
        : new nn.Embedding(vocabulary, width, initOf(options));
    this.layers = Array.from({ length: config.layers }, () => new Layer(config, options));
    this.norm = new Norm(config.width, config);
  }

  /** Tokens as vectors: i32[B, T] → f32[B, T, width]. */
  override forward(tokens: Tensor): Tensor {
    return this.embed_tokens.forward(tokens).convert("f32");
  }
}

/** What a step reads. */
export interface StepInputs {
  /** i32[B, T]. */
  readonly tokens: Tensor;
  /** Where they stand: i32[B, T]; beyond the capacity is what stands nowhere. */
  readonly positions: Tensor;
  /** The positions of the keys that may be seen, 0 … S − 1: i32[S]. */
  readonly keys: Tensor;
}

/**
 * A decoder. `forward(tokens)` scores what comes after each token without a cache: i32[B, T] →
 * f32[B, T, vocabulary].
 *
 *     const net = new Decoder(decoderConfig(JSON.parse(text)));
 *     await loadWeights(net, bytes, { convert: true });
 */
export class Decoder extends nn.Module {
  readonly model: Body;
  readonly lm_head: Projection | undefined;
  readonly config: DecoderConfig;

  constructor(config: DecoderConfig, options: DecoderOptions = {}) {
    super([config, options]);
    checkOptions("decoder", options, decoderOptions);
    this.config = config;
    this.model = new Body(config, options);
    if (!config.tied)
      this.lm_head = new Projection(config.width, config.vocabulary, false, options);
  }

  override forward(tokens: Tensor): Tensor {
    const [b, t] = tokens.shape as [Dim, Dim];
    const positions = iota([b, t], 1);
    return this.scores(this.hidden({ tokens, positions, keys: iota([t]) }));
  }

  /** What the last layer makes of tokens: f32[B, T, width], normalised. */
  hidden({ tokens, positions, keys }: StepInputs, cache?: readonly LayerCache[]): Tensor {
    const { width, scaledEmbedding, window, fullEvery } = this.config;
    const [wide, local] = this.#steps(positions, keys);
    let x = this.model.forward(tokens);
    if (scaledEmbedding) x = x.mul(Math.sqrt(width));
    for (const [i, layer] of this.model.layers.entries()) {
      const isLocal = window !== undefined && (i + 1) % fullEvery !== 0;
      x = layer.forward(x, isLocal ? local : wide, cache?.[i]);
    }
    return this.model.norm.forward(x);
  }

  #steps(positions: Tensor, keys: Tensor): [Step, Step] {
    const [query, key] = [positions.expandDims(-1), keys.expandDims(0).expandDims(0)];
    const past = key.lessEqual(query);
    const near = key.greater(query.sub(this.config.window ?? 0));
    const step = (mask: Tensor, isLocal: boolean): Step => ({
      positions,
      turn: turnOf(positions, rates(this.config, isLocal)),
      mask: mask.expandDims(1),
      keys: keys.shape[0]!,
    });
    return [step(past, false), step(past.and(near), true)];
  }

  /** x: f32[…, width] → f32[…, vocabulary]. */
  scores(x: Tensor): Tensor {
    const head = this.lm_head?.weight ?? this.model.embed_tokens.weight;
    return capped(x.matmul(head.convert("f32").transpose([1, 0])), this.config.logitCap);
  }
}
