/**
 * MobileNetV3: inverted residuals, some with squeeze and excitation. Howard et al. 2019, tables 1 and 2, as torchvision has them. Fields
 * have torchvision's names.
 */
import {
  checkOptions,
  hardSigmoid,
  hardSwish,
  type OptionNames,
  relu,
  type Tensor,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import type { Backend } from "@kiln-ml/train";
import { type ModelOptions, optionsOf, VisionModel } from "./model.ts";
import { ConvNorm, pooled, roundedWidth, SqueezeExcitation } from "./parts.ts";

const mobileNetOptions: OptionNames<ModelOptions> = { classes: 1, channels: 1, backend: 1 };

/** Kernel, widened channels, channels of the result, squeeze and excitation, hard swish, stride. */
type Row = readonly [number, number, number, boolean, boolean, number];

// biome-ignore format: a block a row
const largeRows: readonly Row[] = [
  [3, 16, 16, false, false, 1],
  [3, 64, 24, false, false, 2],
  [3, 72, 24, false, false, 1],
  [5, 72, 40, true, false, 2],
  [5, 120, 40, true, false, 1],
  [5, 120, 40, true, false, 1],
  [3, 240, 80, false, true, 2],
  [3, 200, 80, false, true, 1],
  [3, 184, 80, false, true, 1],
  [3, 184, 80, false, true, 1],
  [3, 480, 112, true, true, 1],
  [3, 672, 112, true, true, 1],
  [5, 672, 160, true, true, 2],
  [5, 960, 160, true, true, 1],
  [5, 960, 160, true, true, 1],
];

// biome-ignore format: a block a row
const smallRows: readonly Row[] = [
  [3, 16, 16, true, false, 2],
  [3, 72, 24, false, false, 2],
  [3, 88, 24, false, false, 1],
  [5, 96, 40, true, true, 2],
  [5, 240, 40, true, true, 1],
  [5, 240, 40, true, true, 1],
  [5, 120, 48, true, true, 1],
  [5, 144, 48, true, true, 1],
  [5, 288, 96, true, true, 2],
  [5, 576, 96, true, true, 1],
  [5, 576, 96, true, true, 1],
];

const norm = { eps: 1e-3, momentum: 0.01 };

class InvertedResidual extends nn.Module {
  readonly block: nn.Sequential;
  readonly #adds: boolean;

  constructor(inputs: number, [kernel, wide, outputs, squeezes, swishes, stride]: Row) {
    super();
    const activation = swishes ? hardSwish : relu;
    this.block = new nn.Sequential(
      ...(wide === inputs ? [] : [new ConvNorm(inputs, wide, { kernel: 1, activation, ...norm })]),
      new ConvNorm(wide, wide, { kernel, stride, groups: wide, activation, ...norm }),
      ...(squeezes
        ? [new SqueezeExcitation(wide, roundedWidth(Math.floor(wide / 4)), relu, hardSigmoid)]
        : []),
      new ConvNorm(wide, outputs, { kernel: 1, ...norm }),
    );
    this.#adds = stride === 1 && inputs === outputs;
  }

  override forward(x: Tensor): Tensor {
    const y = this.block.forward(x);
    return this.#adds ? y.add(x) : y;
  }
}

/** x: f32[N, channels, H, W] → scores f32[N, classes]. */
export class MobileNetV3 extends VisionModel {
  readonly features: nn.Sequential;
  readonly classifier: nn.Sequential;

  constructor(rows: readonly Row[], hidden: number, options: ModelOptions = {}) {
    const { classes, channels, backend } = optionsOf("mobileNetV3", options, undefined);
    super(backend, [rows, hidden, options]);
    const narrow = rows.at(-1)![2];
    const plain = { activation: hardSwish, ...norm };
    this.features = new nn.Sequential(
      new ConvNorm(channels, 16, { stride: 2, ...plain }),
      ...rows.map((row, i) => new InvertedResidual(i ? rows[i - 1]![2] : 16, row)),
      new ConvNorm(narrow, 6 * narrow, { kernel: 1, ...plain }),
    );
    const drawn = { init: nn.init.normal(0, 0.01), biasInit: nn.init.zeros() };
    this.classifier = new nn.Sequential(
      new nn.Linear(6 * narrow, hidden, drawn),
      new nn.HardSwish(),
      new nn.Dropout(0.2),
      new nn.Linear(hidden, classes, drawn),
    );
  }

  protected override compute(x: Tensor): Tensor {
    return this.classifier.forward(pooled(this.features.forward(x)));
  }
}

const mobileNet =
  (name: string, rows: readonly Row[], hidden: number) =>
  (backend?: Backend | ModelOptions, options?: ModelOptions): MobileNetV3 => {
    const all = optionsOf(name, backend, options);
    checkOptions(name, all, mobileNetOptions);
    return new MobileNetV3(rows, hidden, all);
  };

/**
 * 5.5 million parameters. x: f32[N, 3, H, W] → scores f32[N, 1000]. Howard et al. 2019; `torchvision.models.mobilenet_v3_large`.
 *
 *     const net = vision.mobilenetV3Large("webgpu");
 */
export const mobilenetV3Large = mobileNet("mobilenetV3Large", largeRows, 1280);
/** 2.5 million parameters; else as `mobilenetV3Large`. */
export const mobilenetV3Small = mobileNet("mobilenetV3Small", smallRows, 1024);
