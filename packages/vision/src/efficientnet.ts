/**
 * EfficientNet-B0: inverted residuals with squeeze and excitation, whole samples of which are dropped in training. Tan & Le 2019, table 1.
 * Fields have torchvision's names.
 */
import { checkOptions, type OptionNames, sigmoid, silu, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import type { Backend } from "@kiln-ml/train";
import { type ModelOptions, optionsOf, VisionModel } from "./model.ts";
import { ConvNorm, pooled, SqueezeExcitation, StochasticDepth } from "./parts.ts";

const efficientNetOptions: OptionNames<ModelOptions> = { classes: 1, channels: 1, backend: 1 };

/** How much wider, kernel, stride of the first block, channels, blocks. */
type Stage = readonly [number, number, number, number, number];

// biome-ignore format: a stage a row
const stages: readonly Stage[] = [
  [1, 3, 1, 16, 1],
  [6, 3, 2, 24, 2],
  [6, 5, 2, 40, 2],
  [6, 3, 2, 80, 3],
  [6, 5, 1, 112, 3],
  [6, 5, 2, 192, 4],
  [6, 3, 1, 320, 1],
];

interface BlockOptions {
  readonly widen: number;
  readonly kernel: number;
  readonly stride: number;
  /** The probability that a sample skips it in training. */
  readonly drop: number;
}

class InvertedResidual extends nn.Module {
  readonly block: nn.Sequential;
  readonly stochasticDepth: StochasticDepth;
  readonly #adds: boolean;

  constructor(inputs: number, outputs: number, { widen, kernel, stride, drop }: BlockOptions) {
    super([inputs, outputs, { widen, kernel, stride, drop }]);
    const wide = widen * inputs;
    const squeezed = Math.max(1, Math.floor(inputs / 4));
    this.block = new nn.Sequential(
      ...(widen === 1 ? [] : [new ConvNorm(inputs, wide, { kernel: 1, activation: silu })]),
      new ConvNorm(wide, wide, { kernel, stride, groups: wide, activation: silu }),
      new SqueezeExcitation(wide, squeezed, silu, sigmoid),
      new ConvNorm(wide, outputs, { kernel: 1 }),
    );
    this.stochasticDepth = new StochasticDepth(drop);
    this.#adds = stride === 1 && inputs === outputs;
  }

  override forward(x: Tensor): Tensor {
    const y = this.block.forward(x);
    return this.#adds ? this.stochasticDepth.forward(y).add(x) : y;
  }
}

/** x: f32[N, channels, H, W] → scores f32[N, classes]. */
export class EfficientNet extends VisionModel {
  readonly features: nn.Sequential;
  readonly classifier: nn.Sequential;

  constructor(options: ModelOptions = {}) {
    const { classes, channels, backend } = optionsOf("efficientnetB0", options, undefined);
    super(backend, [options]);
    const total = stages.reduce((sum, [, , , , count]) => sum + count, 0);
    let [inputs, at] = [32, 0];
    const stageOf = ([widen, kernel, first, outputs, count]: Stage): nn.Sequential =>
      new nn.Sequential(
        Array.from({ length: count }, (_, i) => {
          const options = { widen, kernel, stride: i ? 1 : first, drop: (0.2 * at++) / total };
          const block = new InvertedResidual(inputs, outputs, options);
          inputs = outputs;
          return block;
        }),
      );
    this.features = new nn.Sequential(
      new ConvNorm(channels, 32, { stride: 2, activation: silu }),
      ...stages.map(stageOf),
      new ConvNorm(320, 1280, { kernel: 1, activation: silu }),
    );
    const range = 1 / Math.sqrt(classes);
    const drawn = { init: nn.init.uniform(-range, range), biasInit: nn.init.zeros() };
    this.classifier = new nn.Sequential(new nn.Dropout(0.2), new nn.Linear(1280, classes, drawn));
  }

  protected override compute(x: Tensor): Tensor {
    return this.classifier.forward(pooled(this.features.forward(x)));
  }
}

/**
 * 5.3 million parameters. x: f32[N, 3, H, W] → scores f32[N, 1000]. Tan & Le 2019; `torchvision.models.efficientnet_b0`.
 *
 *     const net = vision.efficientnetB0("wasm", { classes: 5 });
 */
export function efficientnetB0(
  backend?: Backend | ModelOptions,
  options?: ModelOptions,
): EfficientNet {
  const all = optionsOf("efficientnetB0", backend, options);
  checkOptions("efficientnetB0", all, efficientNetOptions);
  return new EfficientNet(all);
}
