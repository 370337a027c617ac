/**
 * A decoder of any row of the table, with the names of weights that Hugging Face's files have. With
 * a cache, a step computes only what is new: keys and values are written where their tokens stand,
 * and read up to the longest text.
 */
import { assign, checkOptions, type Dim, iota, quantized, type Tensor } from "kiln-ml/ir";
import {
  type CacheOptions,
  caches,
  heldBy,
  type LayerCache,
  type Ring,
  slotsOf,
  written,
} from "./cache.ts";
import type { DecoderConfig } from "./config.ts";
import {
  attended,
  bent,
  byHead,
  capped,
  type DecoderOptions,
  decoderOptions,
  Named,
  type Norm,
  normOf,
  Projection,
  parts,
  QuantizedTable,
  type Table,
  type TableFormat,
  table,
} from "./layers.ts";
import { rates, type Turn, turned, turnOf } from "./rotary.ts";
import type { StepInputs, TextNet } from "./text-net.ts";

/** Where a step's tokens stand and what they may see. */
interface Step {
  /** Rows of the cache that its tokens are written to: i32[B, T]. */
  readonly places: Tensor;
  readonly turn: Turn;
  /** bool[B, 1, T, S]. */
  readonly mask: Tensor;
  readonly keys: Dim;
}

/** Queries, keys and values: of a matrix each, or of one. */
class Attention extends Named {
  readonly q_proj: Projection | undefined;
  readonly k_proj: Projection | undefined;
  readonly v_proj: Projection | undefined;
  readonly qkv_proj: Projection | undefined;
  readonly o_proj: Projection;
  readonly q_norm: Norm | undefined;
  readonly k_norm: Norm | undefined;
  readonly config: DecoderConfig;

  constructor(config: DecoderConfig, options: DecoderOptions) {
    super(config.names);
    const { width, heads, kvHeads, headWidth, qkvBias, outBias, fused, transposed } = config;
    const from = (to: number) =>
      new Projection(width, to * headWidth, qkvBias, { ...options, transposed });
    if (fused) this.qkv_proj = from(heads + 2 * kvHeads);
    else [this.q_proj, this.k_proj, this.v_proj] = [from(heads), from(kvHeads), from(kvHeads)];
    this.o_proj = new Projection(heads * headWidth, width, outBias, { ...options, transposed });
    if (config.qkNorm) {
      this.q_norm = normOf(headWidth, config);
      this.k_norm = normOf(headWidth, config);
    }
    this.config = config;
  }

  override forward(x: Tensor, step: Step, turns: boolean, cache: LayerCache | undefined): Tensor {
    const { heads, kvHeads, scale, attentionCap } = this.config;
    const all = this.#projected(x);
    let q = byHead(all[0], heads);
    let [k, v] = [byHead(all[1], kvHeads), byHead(all[2], kvHeads)];
    if (this.q_norm && this.k_norm) [q, k] = [this.q_norm.forward(q), this.k_norm.forward(k)];
    if (turns) [q, k] = [turned(q, step.turn), turned(k, step.turn)];
    if (cache)
      [k, v] = [
        written(cache.key, k, step.places, step.keys),
        written(cache.value, v, step.places, step.keys),
      ];
    return this.o_proj.forward(attended(q, k, v, { scale, cap: attentionCap, mask: step.mask }));
  }

  #projected(x: Tensor): [Tensor, Tensor, Tensor] {
    const { heads, kvHeads, headWidth } = this.config;
    const { q_proj: q, k_proj: k, v_proj: v, qkv_proj: all } = this;
    if (q && k && v) return [q.forward(x), k.forward(x), v.forward(x)];
    const extents = [heads, kvHeads, kvHeads].map((n) => n * headWidth);
    return parts(all!.forward(x), extents) as [Tensor, Tensor, Tensor];
  }
}

/** down(bend(gate) · up), or fc2(bend(fc1)) where there is no gate. */
class Mlp extends Named {
  readonly gate_proj: Projection | undefined;
  readonly up_proj: Projection | undefined;
  readonly gate_up_proj: Projection | undefined;
  readonly down_proj: Projection | undefined;
  readonly fc1: Projection | undefined;
  readonly fc2: Projection | undefined;
  readonly config: DecoderConfig;

  constructor(config: DecoderConfig, options: DecoderOptions) {
    super(config.names);
    const { width, hidden, fused, gated, mlpBias, transposed } = config;
    const matrix = (from: number, to: number) =>
      new Projection(from, to, mlpBias, { ...options, transposed });
    if (!gated) [this.fc1, this.fc2] = [matrix(width, hidden), matrix(hidden, width)];
    else if (fused) this.gate_up_proj = matrix(width, 2 * hidden);
    else [this.gate_proj, this.up_proj] = [matrix(width, hidden), matrix(width, hidden)];
    if (gated) this.down_proj = matrix(hidden, width);
    this.config = config;
  }

  override forward(x: Tensor): Tensor {
    const { activation, hidden } = this.config;
    if (this.fc1 && this.fc2) return this.fc2.forward(bent(this.fc1.forward(x), activation));
    const [gate, up] = this.gate_up_proj
      ? parts(this.gate_up_proj.forward(x), [hidden, hidden])
      : [this.gate_proj!.forward(x), this.up_proj!.forward(x)];
    return this.down_proj!.forward(bent(gate!, activation).mul(up!));
  }
}

class Layer extends Named {
  readonly input_layernorm: Norm;
  readonly self_attn: Attention;
  readonly post_attention_layernorm: Norm | undefined;
  readonly pre_feedforward_layernorm: Norm | undefined;
  readonly post_feedforward_layernorm: Norm | undefined;
  readonly mlp: Mlp;

  constructor(config: DecoderConfig, options: DecoderOptions) {
    super(config.names);
    const norm = () => normOf(config.width, config);
    this.input_layernorm = norm();
    this.self_attn = new Attention(config, options);
    if (!config.parallel) this.post_attention_layernorm = norm();
    if (config.postNorms) {
      this.pre_feedforward_layernorm = norm();
      this.post_feedforward_layernorm = norm();
    }
    this.mlp = new Mlp(config, options);
  }

  override forward(x: Tensor, step: Step, turns: boolean, cache: LayerCache | undefined): Tensor {
    const first = this.input_layernorm.forward(x);
    const seen = this.self_attn.forward(first, step, turns, cache);
    const { post_attention_layernorm: second } = this;
    if (!second) return x.add(seen).add(this.mlp.forward(first));
    const { pre_feedforward_layernorm: before, post_feedforward_layernorm: after } = this;
    if (!before || !after) {
      const y = x.add(seen);
      return y.add(this.mlp.forward(second.forward(y)));
    }
    const y = x.add(second.forward(seen));
    return y.add(after.forward(this.mlp.forward(before.forward(y))));
  }
}

class Body extends Named {
  readonly embed_tokens: Table;
  readonly embed_positions: Table | undefined;
  readonly layers: readonly Layer[];
  readonly norm: Norm;

  constructor(config: DecoderConfig, options: DecoderOptions) {
    super(config.names);
    const { vocabulary, width, context, learnedPlaces } = config;
    this.embed_tokens = table(vocabulary, width, options);
    if (learnedPlaces) this.embed_positions = table(context, width, options);
    this.layers = Array.from({ length: config.layers }, () => new Layer(config, options));
    this.norm = normOf(width, config);
  }

  /** Tokens, and where they stand, as vectors: i32[B, T] → f32[B, T, width]. */
  override forward(tokens: Tensor, positions: Tensor): Tensor {
    const x = this.embed_tokens.forward(tokens).convert("f32");
    return this.embed_positions ? x.add(this.embed_positions.forward(positions).convert("f32")) : x;
  }
}

/**
 * A decoder. `forward(tokens)` scores what comes after each token without a cache: i32[B, T] →
 * f32[B, T, vocabulary].
 *
 *     const net = new Decoder(decoderConfig(JSON.parse(text)));
 *     await loadWeights(net, bytes, { convert: true });
 */
export class Decoder extends Named implements TextNet {
  readonly model: Body;
  readonly lm_head: Projection | undefined;
  readonly config: DecoderConfig;

  constructor(config: DecoderConfig, options: DecoderOptions = {}) {
    super(config.names, [config, options]);
    checkOptions("decoder", options, decoderOptions);
    this.config = config;
    this.model = new Body(config, options);
    const { width, vocabulary, headBias } = config;
    if (!config.tied) this.lm_head = new Projection(width, vocabulary, headBias, options);
  }

  override forward(tokens: Tensor): Tensor {
    return this.scores(this.states(tokens));
  }

  caches(batch: number, capacity: number, options?: CacheOptions): LayerCache[] {
    return caches(this.config, batch, capacity, options);
  }

  /** What the last layer makes of texts, padded at their ends: a token sees none after it. */
  states(tokens: Tensor): Tensor {
    const [b, t] = tokens.shape as [Dim, Dim];
    return this.hidden({ tokens, positions: iota([b, t], 1), keys: iota([t]) });
  }

  /** What the last layer makes of tokens: f32[B, T, width], normalised. */
  hidden({ tokens, positions, keys }: StepInputs, cache?: readonly LayerCache[]): Tensor {
    const { width, scaledEmbedding, window, local, turning } = this.config;
    const rings = cache?.flatMap((c) => c.ring ?? []) ?? [];
    const [full, ring] = [cache?.find((c) => !c.ring), rings[0]];
    const capacity = ring?.capacity ?? full?.key.rows.shape[1];
    const [wide, near] = this.#steps(positions, keys, capacity, ring);
    let x = this.model.forward(tokens, positions);
    if (scaledEmbedding) x = x.mul(Math.sqrt(width));
    for (const [i, layer] of this.model.layers.entries()) {
      const step = window !== undefined && local[i] ? near : wide;
      x = layer.forward(x, step, turning[i]!, cache?.[i]);
    }
    return this.model.norm.forward(x);
  }

  /** For layers that see everything, and for those with a window. */
  #steps(
    positions: Tensor,
    keys: Tensor,
    capacity: Dim | undefined,
    ring: Ring | undefined,
  ): [Step, Step] {
    const { config } = this;
    const query = positions.expandDims(-1);
    const past = (held: Tensor): Tensor => held.expandDims(-2).lessEqual(query);
    const near = (held: Tensor): Tensor => {
      const key = held.expandDims(-2);
      const isNear = past(held).and(key.greater(query.sub(config.window ?? 0)));
      return ring ? isNear.and(key.greaterEqual(0)) : isNear;
    };
    const length = capacity ?? keys.shape[0];
    const room = typeof length === "number" ? length : config.context;
    const step = (mask: Tensor, places: Tensor, isLocal: boolean): Step => ({
      places,
      turn: turnOf(
        positions,
        rates(config, isLocal, room),
        (isLocal ? config.localScaling : config.ropeScaling)?.gain ?? 1,
      ),
      mask: mask.expandDims(1),
      keys: mask.shape[2]!,
    });
    const all = keys.expandDims(0);
    return [
      step(past(all), positions, false),
      ring
        ? step(near(heldBy(positions, ring)), slotsOf(positions, ring), true)
        : step(near(all), positions, true),
    ];
  }

  /** x: f32[…, width] → f32[…, vocabulary]. */
  scores(x: Tensor): Tensor {
    const { logitCap } = this.config;
    if (this.lm_head) return capped(this.lm_head.forward(x), logitCap);
    const table = this.model.embed_tokens;
    if (table instanceof QuantizedTable) return capped(table.product(x), logitCap);
    return capped(x.matmul(table.weight.convert("f32").transpose([1, 0])), logitCap);
  }

  /**
   * Puts an empty table of few bits in the place of that of tokens, for values that are loaded. A
   * head that is tied to it reads it too.
   */
  holdTable(format: TableFormat): QuantizedTable {
    const { vocabulary, width } = this.config;
    const made = new QuantizedTable(vocabulary, width, format);
    Object.assign(this.model, { embed_tokens: made });
    return made;
  }

  /** The table of tokens in few bits, with the values that it has. */
  quantizeTable({ activations = "f32", ...format }: TableFormat): void {
    const { embed_tokens: before } = this.model;
    if (before instanceof QuantizedTable) return;
    const parts = quantized(before.weight, format);
    const own = this.holdTable({ ...format, activations });
    assign(own.words, parts.words);
    assign(own.scales, parts.scales);
    if (own.offsets) assign(own.offsets, parts.offsets!);
  }
}
