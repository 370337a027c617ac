/**
 * Whisper: an encoder hears, a decoder writes what was said. Keys and values of what was heard are
 * computed once and stand in caches beside those of the text. Radford et al. 2022.
 */
import { nn } from "kiln-ml";
import { assign, checkOptions, type Dim, iota, type Tensor } from "kiln-ml/ir";
import {
  type CacheDtype,
  type CacheOptions,
  emptyRows,
  type LayerCache,
  written,
} from "./cache.ts";
import {
  attended,
  bent,
  byHead,
  type DecoderOptions,
  decoderOptions,
  type FloatTable,
  Projection,
  table,
} from "./layers.ts";
import type { StepInputs, TextNet } from "./text-net.ts";
import type { Side, WhisperConfig } from "./whisper-config.ts";

/** Keys and values by head. */
type Pair = NonNullable<LayerCache["heard"]>;

class Attention extends nn.Module {
  readonly q_proj: Projection;
  readonly k_proj: Projection;
  readonly v_proj: Projection;
  readonly out_proj: Projection;
  readonly heads: number;

  constructor(width: number, heads: number, options: DecoderOptions) {
    super();
    const matrix = (bias: boolean) => new Projection(width, width, bias, options);
    [this.q_proj, this.k_proj] = [matrix(true), matrix(false)];
    [this.v_proj, this.out_proj] = [matrix(true), matrix(true)];
    this.heads = heads;
  }

  /** Of what is looked at. */
  pair(x: Tensor): Pair {
    const [key, value] = [this.k_proj.forward(x), this.v_proj.forward(x)];
    return { key: byHead(key, this.heads), value: byHead(value, this.heads) };
  }

  override forward(x: Tensor, { key, value }: Pair, mask?: Tensor): Tensor {
    const q = byHead(this.q_proj.forward(x), this.heads);
    const scale = 1 / Math.sqrt(q.shape.at(-1) as number);
    return this.out_proj.forward(attended(q, key, value, { scale, mask }));
  }
}

/** Where a step's tokens stand and what they may see. */
interface Step {
  readonly positions: Tensor;
  readonly mask: Tensor;
  readonly keys: Dim;
}

class Layer extends nn.Module {
  readonly self_attn: Attention;
  readonly self_attn_layer_norm: nn.LayerNorm;
  readonly encoder_attn: Attention | undefined;
  readonly encoder_attn_layer_norm: nn.LayerNorm | undefined;
  readonly fc1: Projection;
  readonly fc2: Projection;
  readonly final_layer_norm: nn.LayerNorm;
  readonly config: WhisperConfig;

  constructor(config: WhisperConfig, side: Side, hears: boolean, options: DecoderOptions) {
    super();
    const { width } = config;
    this.self_attn = new Attention(width, side.heads, options);
    this.self_attn_layer_norm = new nn.LayerNorm(width);
    if (hears) {
      this.encoder_attn = new Attention(width, side.heads, options);
      this.encoder_attn_layer_norm = new nn.LayerNorm(width);
    }
    this.fc1 = new Projection(width, side.hidden, true, options);
    this.fc2 = new Projection(side.hidden, width, true, options);
    this.final_layer_norm = new nn.LayerNorm(width);
    this.config = config;
  }

  override forward(x: Tensor, step?: Step, cache?: LayerCache, heard?: Pair): Tensor {
    const first = this.self_attn_layer_norm.forward(x);
    let { key, value } = this.self_attn.pair(first);
    if (cache && step)
      [key, value] = [
        written(cache.key, key, step.positions, step.keys),
        written(cache.value, value, step.positions, step.keys),
      ];
    let y = x.add(this.self_attn.forward(first, { key, value }, step?.mask));
    if (this.encoder_attn && this.encoder_attn_layer_norm && heard)
      y = y.add(this.encoder_attn.forward(this.encoder_attn_layer_norm.forward(y), heard));
    const inner = this.fc1.forward(this.final_layer_norm.forward(y));
    return y.add(this.fc2.forward(bent(inner, this.config.activation)));
  }
}

class Hearing extends nn.Module {
  readonly conv1: nn.Conv1d;
  readonly conv2: nn.Conv1d;
  readonly embed_positions: FloatTable;
  readonly layers: readonly Layer[];
  readonly layer_norm: nn.LayerNorm;

  constructor(config: WhisperConfig, options: DecoderOptions) {
    super();
    const { bands, width, heard, encoder } = config;
    this.conv1 = new nn.Conv1d(bands, width, 3, { padding: 1 });
    this.conv2 = new nn.Conv1d(width, width, 3, { padding: 1, stride: 2 });
    this.embed_positions = table(heard, width, options);
    this.layers = Array.from(
      { length: encoder.layers },
      () => new Layer(config, encoder, false, options),
    );
    this.layer_norm = new nn.LayerNorm(width);
  }

  override forward(x: Tensor): Tensor {
    const heard = this.conv2.forward(this.conv1.forward(x).gelu()).gelu().transpose([0, 2, 1]);
    let y = heard.add(this.embed_positions.weight.convert("f32"));
    for (const layer of this.layers) y = layer.forward(y);
    return this.layer_norm.forward(y);
  }
}

class Writing extends nn.Module {
  readonly embed_tokens: FloatTable;
  readonly embed_positions: FloatTable;
  readonly layers: readonly Layer[];
  readonly layer_norm: nn.LayerNorm;

  constructor(config: WhisperConfig, options: DecoderOptions) {
    super();
    const { vocabulary, width, context, decoder } = config;
    this.embed_tokens = table(vocabulary, width, options);
    this.embed_positions = table(context, width, options);
    this.layers = Array.from(
      { length: decoder.layers },
      () => new Layer(config, decoder, true, options),
    );
    this.layer_norm = new nn.LayerNorm(width);
  }

  override forward(tokens: Tensor, positions: Tensor): Tensor {
    const places = this.embed_positions.forward(positions).convert("f32");
    return this.embed_tokens.forward(tokens).convert("f32").add(places);
  }
}

class Body extends nn.Module {
  readonly encoder: Hearing;
  readonly decoder: Writing;

  constructor(config: WhisperConfig, options: DecoderOptions) {
    super();
    this.encoder = new Hearing(config, options);
    this.decoder = new Writing(config, options);
  }

  override forward(x: Tensor): Tensor {
    return this.encoder.forward(x);
  }
}

/**
 * A Whisper model, with the names of weights that Hugging Face's files have. `forward(features,
 * tokens)` scores what comes after each token: f32[B, bands, 2·heard], i32[B, T] → f32[B, T,
 * vocabulary].
 *
 *     const net = new Whisper(whisperConfig(JSON.parse(text)));
 *     await loadWeights(net, bytes, { convert: true });
 */
export class Whisper extends nn.Module implements TextNet {
  readonly model: Body;
  readonly config: WhisperConfig;

  constructor(config: WhisperConfig, options: DecoderOptions = {}) {
    super([config, options]);
    checkOptions("whisper", options, decoderOptions);
    this.config = config;
    this.model = new Body(config, options);
  }

  override forward(features: Tensor, tokens: Tensor): Tensor {
    const [b, t] = tokens.shape as [Dim, Dim];
    const inputs = { tokens, positions: iota([b, t], 1), keys: iota([t]) };
    const heard = this.pairs(this.model.forward(features));
    return this.scores(this.#written(inputs, (i) => ({ heard: heard[i]! })));
  }

  /** Keys and values of what was heard, by layer of the decoder: f32[B, heard, width] → pairs. */
  pairs(heard: Tensor): Pair[] {
    return this.model.decoder.layers.map((layer) => layer.encoder_attn!.pair(heard));
  }

  caches(batch: number, capacity: number, { dtype = "f32" }: CacheOptions = {}): LayerCache[] {
    const { width, heard, decoder } = this.config;
    const { heads } = decoder;
    const shape = (length: number) => [batch, length, heads, width / heads];
    const pair = (name: string, length: number, kind: CacheDtype) => ({
      key: emptyRows(`${name}.key`, shape(length), kind),
      value: emptyRows(`${name}.value`, shape(length), kind),
    });
    return Array.from({ length: decoder.layers }, (_, i) => {
      const { key, value } = pair(`heard.${i}`, heard, "f32");
      return {
        ...pair(`cache.${i}`, capacity, dtype),
        heard: { key: key.rows, value: value.rows },
      };
    });
  }

  /** Writes keys and values of features into caches, and gives what they are made of. */
  hear(features: Tensor, caches: readonly LayerCache[]): Tensor {
    const heard = this.model.forward(features);
    for (const [i, { key, value }] of this.pairs(heard).entries()) {
      assign(caches[i]!.heard!.key, key);
      assign(caches[i]!.heard!.value, value);
    }
    return heard;
  }

  /** Throws where there is no cache, which holds what was heard. */
  hidden(inputs: StepInputs, cache: readonly LayerCache[]): Tensor {
    return this.#written(inputs, (i) => ({ cache: cache[i]!, heard: cache[i]!.heard! }));
  }

  #written(
    { tokens, positions, keys }: StepInputs,
    of: (layer: number) => { cache?: LayerCache; heard: Pair },
  ): Tensor {
    const { layers, layer_norm } = this.model.decoder;
    const [query, key] = [positions.expandDims(-1), keys.expandDims(0).expandDims(0)];
    const mask = key.lessEqual(query).expandDims(1);
    let x = this.model.decoder.forward(tokens, positions);
    for (const [i, layer] of layers.entries()) {
      const { cache, heard } = of(i);
      x = layer.forward(x, { positions, mask, keys: keys.shape[0]! }, cache, heard);
    }
    return layer_norm.forward(x);
  }

  scores(x: Tensor): Tensor {
    const head = this.model.decoder.embed_tokens.weight.convert("f32");
    return x.matmul(head.transpose([1, 0]));
  }
}
