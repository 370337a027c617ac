/**
 * Encoders of texts: every token sees all others of its text. With the names of weights that
 * Hugging Face's files have, less what those put before them that hold heads too.
 */
import { nn } from "kiln-ml";
import { checkOptions, cumsum, type Dim, iota, type Tensor } from "kiln-ml/ir";
import type { EncoderConfig } from "./encoder-config.ts";
import {
  attended,
  bent,
  byHead,
  type DecoderOptions,
  decoderOptions,
  Named,
  Projection,
  type Table,
  table,
} from "./layers.ts";

class EncoderLayer extends Named {
  readonly query: Projection;
  readonly key: Projection;
  readonly value: Projection;
  readonly joined: Projection;
  readonly attentionNorm: nn.LayerNorm;
  readonly up: Projection;
  readonly down: Projection;
  readonly outputNorm: nn.LayerNorm;
  readonly config: EncoderConfig;

  constructor(config: EncoderConfig, options: DecoderOptions) {
    super(config.names);
    const { width, hidden, eps } = config;
    const matrix = (from: number, to: number) => new Projection(from, to, true, options);
    [this.query, this.key] = [matrix(width, width), matrix(width, width)];
    [this.value, this.joined] = [matrix(width, width), matrix(width, width)];
    this.attentionNorm = new nn.LayerNorm(width, { eps });
    [this.up, this.down] = [matrix(width, hidden), matrix(hidden, width)];
    this.outputNorm = new nn.LayerNorm(width, { eps });
    this.config = config;
  }

  override forward(x: Tensor, mask: Tensor): Tensor {
    const { heads, width, activation } = this.config;
    const [q, k, v] = [this.query, this.key, this.value].map((p) => byHead(p.forward(x), heads));
    const seen = attended(q!, k!, v!, { scale: Math.sqrt(heads / width), mask });
    const y = this.attentionNorm.forward(x.add(this.joined.forward(seen)));
    return this.outputNorm.forward(y.add(this.down.forward(bent(this.up.forward(y), activation))));
  }
}

/**
 * An encoder. `states(tokens, lengths)`: i32[B, T], i32[B] → f32[B, T, width]; tokens beyond the
 * length of a text are padding, which no token sees.
 *
 *     const net = new Encoder(encoderConfig(JSON.parse(text)));
 */
export class Encoder extends Named {
  readonly words: Table;
  readonly places: Table;
  readonly segments: Table | undefined;
  readonly norm: nn.LayerNorm;
  readonly layers: readonly EncoderLayer[];
  readonly config: EncoderConfig;

  constructor(config: EncoderConfig, options: DecoderOptions = {}) {
    super(config.names, [config, options]);
    checkOptions("encoder", options, decoderOptions);
    const { vocabulary, width, places, segments, layers, eps } = config;
    this.words = table(vocabulary, width, options);
    this.places = table(places, width, options);
    if (segments) this.segments = table(segments, width, options);
    this.norm = new nn.LayerNorm(width, { eps });
    this.layers = Array.from({ length: layers }, () => new EncoderLayer(config, options));
    this.config = config;
  }

  override forward(tokens: Tensor, lengths: Tensor): Tensor {
    return this.states(tokens, lengths);
  }

  states(tokens: Tensor, lengths: Tensor): Tensor {
    const [b, t] = tokens.shape as [Dim, Dim];
    let x = this.words.forward(tokens).convert("f32");
    // Nothing here has a second segment: pairs of texts are for heads that rank them.
    if (this.segments) x = x.add(this.segments.forward(iota([b, t], 1).mul(0)).convert("f32"));
    x = this.norm.forward(x.add(this.places.forward(this.#places(tokens)).convert("f32")));
    const mask = iota([b, t], 1).less(lengths.expandDims(-1)).expandDims(1).expandDims(1);
    for (const layer of this.layers) x = layer.forward(x, mask);
    return x;
  }

  #places(tokens: Tensor): Tensor {
    const { placesPastPadding, padding } = this.config;
    if (!placesPastPadding) return iota(tokens.shape, 1);
    const isText = tokens.notEqual(padding).convert("i32");
    return cumsum(isText, 1).mul(isText).add(padding);
  }
}
