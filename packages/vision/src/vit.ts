/**
 * The vision transformer: patches of an image as tokens, and one more token that tells the class. Dosovitskiy et al. 2021. Fields have
 * torchvision's names, which are those of weights.
 */
import {
  checkOptions,
  concat,
  GraphError,
  gelu,
  type OptionNames,
  param,
  printShape,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import type { Backend } from "@kiln-ml/train";
import { type ModelOptions, optionsOf, VisionModel } from "./model.ts";

export interface VitOptions extends ModelOptions {
  /** Height and width of the images, a multiple of the patch; 224 by default. */
  readonly imageSize?: number;
}

/** The sizes of a transformer. */
export interface VitSizes {
  readonly patch: number;
  readonly layers: number;
  readonly heads: number;
  readonly width: number;
  readonly hidden: number;
}

const vitOptions: OptionNames<VitOptions> = { classes: 1, channels: 1, backend: 1, imageSize: 1 };

class Block extends nn.Module {
  readonly ln_1: nn.LayerNorm;
  readonly self_attention: nn.MultiHeadAttention;
  readonly ln_2: nn.LayerNorm;
  readonly mlp: nn.Sequential;

  constructor({ width, heads, hidden }: VitSizes) {
    super();
    const drawn = { init: nn.init.xavierUniform(), biasInit: nn.init.normal(0, 1e-6) };
    this.ln_1 = new nn.LayerNorm(width, { eps: 1e-6 });
    this.self_attention = new nn.MultiHeadAttention(width, heads);
    this.ln_2 = new nn.LayerNorm(width, { eps: 1e-6 });
    // Positions are those of torchvision, which has dropout in between.
    this.mlp = new nn.Sequential(
      new nn.Linear(width, hidden, drawn),
      gelu,
      new nn.Dropout(0),
      new nn.Linear(hidden, width, drawn),
    );
  }

  override forward(x: Tensor): Tensor {
    const y = x.add(this.self_attention.forward(this.ln_1.forward(x)));
    return y.add(this.mlp.forward(this.ln_2.forward(y)));
  }
}

class Encoder extends nn.Module {
  readonly pos_embedding: Tensor;
  readonly layers: Readonly<Record<string, Block>>;
  readonly ln: nn.LayerNorm;

  constructor(tokens: number, sizes: VitSizes) {
    super();
    const shape = [1, tokens, sizes.width];
    this.pos_embedding = param(nn.init.normal(0, 0.02)(shape), { name: "pos_embedding", shape });
    this.layers = Object.fromEntries(
      Array.from({ length: sizes.layers }, (_, i) => [`encoder_layer_${i}`, new Block(sizes)]),
    );
    this.ln = new nn.LayerNorm(sizes.width, { eps: 1e-6 });
  }

  override forward(x: Tensor): Tensor {
    const blocks = Object.values(this.layers);
    return this.ln.forward(blocks.reduce((y, b) => b.forward(y), x.add(this.pos_embedding)));
  }
}

/**
 * x: f32[N, channels, imageSize, imageSize] → scores f32[N, classes]. Throws ShapeError for images
 * of another size.
 */
export class VisionTransformer extends VisionModel {
  readonly class_token: Tensor;
  readonly conv_proj: nn.Conv2d;
  readonly encoder: Encoder;
  readonly heads: { readonly head: nn.Linear };
  readonly imageSize: number;

  constructor(sizes: VitSizes, options: VitOptions = {}) {
    const { classes, channels, backend, imageSize = 224 } = optionsOf("vit", options, undefined);
    super(backend, [sizes, options]);
    const { patch, width } = sizes;
    if (!(Number.isInteger(imageSize / patch) && imageSize > 0))
      throw new GraphError(
        `vit: imageSize must be a multiple of the patch, which is ${patch}, got ${imageSize}`,
      );
    this.imageSize = imageSize;
    const shape = [1, 1, width];
    this.class_token = param(nn.init.zeros()(shape), { name: "class_token", shape });
    this.conv_proj = new nn.Conv2d(channels, width, patch, {
      stride: patch,
      init: nn.init.normal(0, Math.sqrt(1 / (channels * patch * patch))),
      biasInit: nn.init.zeros(),
    });
    this.encoder = new Encoder((imageSize / patch) ** 2 + 1, sizes);
    // All scores are equal at first.
    const zeros = { init: nn.init.zeros(), biasInit: nn.init.zeros() };
    this.heads = { head: new nn.Linear(width, classes, zeros) };
  }

  protected override compute(x: Tensor): Tensor {
    const { imageSize } = this;
    if (x.shape[2] !== imageSize || x.shape[3] !== imageSize)
      throw new ShapeError(
        `vit: images are ${printShape(x.shape)}, must be [N,C,${imageSize},${imageSize}]\n  resize them, or make the model with another imageSize`,
      );
    const patches = this.conv_proj.forward(x);
    const width = this.conv_proj.outputs;
    const tokens = patches.reshape([x.shape[0]!, width, -1]).transpose([0, 2, 1]);
    const first = this.class_token.convert(tokens.dtype).broadcastTo([x.shape[0]!, 1, width]);
    const y = this.encoder.forward(concat([first, tokens], 1));
    return this.heads.head.forward(y.take(0, 1));
  }
}

/**
 * Patches of 16×16, 12 layers, 86.6 million parameters. x: f32[N, 3, 224, 224] → scores f32[N, 1000]. Dosovitskiy et al. 2021;
 * `torchvision.models.vit_b_16`.
 *
 *     const net = vision.vitB16({ imageSize: 96, classes: 10 });
 */
export function vitB16(backend?: Backend | VitOptions, options?: VitOptions): VisionTransformer {
  const all = optionsOf("vitB16", backend, options);
  checkOptions("vitB16", all, vitOptions);
  const sizes = { patch: 16, layers: 12, heads: 12, width: 768, hidden: 3072 };
  return new VisionTransformer(sizes, all);
}
