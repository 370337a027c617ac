/**
 * GoogLeNet: blocks of four branches side by side. Szegedy et al. 2015, with batch normalisation and 3×3 kernels in the third branch, as
 * torchvision has it. Fields have torchvision's names.
 */
import { checkOptions, concat, type OptionNames, relu, type Tensor, tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import type { Backend, Loss, StepResult } from "@kiln-ml/train";
import { imagesOf, type ModelOptions, optionsOf, VisionModel } from "./model.ts";
import { pooled } from "./parts.ts";

export interface GoogLeNetOptions extends ModelOptions {
  /** Has two more classifiers halfway, whose losses count 0.3 in `train`; false by default. */
  readonly aux?: boolean;
  /**
   * Images were normalised by ImageNet's means and deviations, and are brought to −1 to 1, which torchvision's trained weights are for;
   * false by default.
   */
  readonly transformInput?: boolean;
}

const googLeNetOptions: OptionNames<GoogLeNetOptions> = {
  classes: 1,
  channels: 1,
  backend: 1,
  aux: 1,
  transformInput: 1,
};

/** ImageNet's deviations and means of red, green and blue. */
const [deviations, means] = [
  [0.229, 0.224, 0.225],
  [0.485, 0.456, 0.406],
];

const drawn = nn.init.normal(0, 0.01);

class Conv extends nn.Module {
  readonly conv: nn.Conv2d;
  readonly bn: nn.BatchNorm2d;

  constructor(inputs: number, outputs: number, kernel: number, stride = 1) {
    super();
    const padding = (kernel - 1) / 2;
    this.conv = new nn.Conv2d(inputs, outputs, kernel, {
      stride,
      padding,
      bias: false,
      init: drawn,
    });
    this.bn = new nn.BatchNorm2d(outputs, { eps: 1e-3 });
  }

  override forward(x: Tensor): Tensor {
    return relu(this.bn.forward(this.conv.forward(x)));
  }
}

/** Widths of the branches: 1×1; 3×3 after a narrowing 1×1; 3×3 after another; 1×1 after pooling. */
type Widths = readonly [number, readonly [number, number], readonly [number, number], number];

class Inception extends nn.Module {
  readonly branch1: Conv;
  readonly branch2: nn.Sequential;
  readonly branch3: nn.Sequential;
  readonly branch4: nn.Sequential;
  readonly outputs: number;

  constructor(inputs: number, [one, two, three, four]: Widths) {
    super();
    this.branch1 = new Conv(inputs, one, 1);
    this.branch2 = new nn.Sequential(new Conv(inputs, two[0], 1), new Conv(two[0], two[1], 3));
    this.branch3 = new nn.Sequential(
      new Conv(inputs, three[0], 1),
      new Conv(three[0], three[1], 3),
    );
    this.branch4 = new nn.Sequential(
      new nn.MaxPool2d(3, { stride: 1, padding: 1 }),
      new Conv(inputs, four, 1),
    );
    this.outputs = one + two[1] + three[1] + four;
  }

  override forward(x: Tensor): Tensor {
    const branches = [this.branch1, this.branch2, this.branch3, this.branch4];
    return concat(
      branches.map((branch) => branch.forward(x)),
      1,
    );
  }
}

class Auxiliary extends nn.Module {
  readonly pool = new nn.AdaptiveAvgPool2d(4);
  readonly conv: Conv;
  readonly fc1: nn.Linear;
  readonly drop = new nn.Dropout(0.7);
  readonly fc2: nn.Linear;

  constructor(inputs: number, classes: number) {
    super();
    this.conv = new Conv(inputs, 128, 1);
    this.fc1 = new nn.Linear(2048, 1024, { init: drawn });
    this.fc2 = new nn.Linear(1024, classes, { init: drawn });
  }

  override forward(x: Tensor): Tensor {
    const y = this.conv.forward(this.pool.forward(x)).reshape([-1, 2048]);
    return this.fc2.forward(this.drop.forward(relu(this.fc1.forward(y))));
  }
}

const halving = () => new nn.MaxPool2d(3, { stride: 2, ceilMode: true });

/** x: f32[N, channels, H, W] → scores f32[N, classes]. */
export class GoogLeNet extends VisionModel {
  readonly conv1: Conv;
  readonly conv2 = new Conv(64, 64, 1);
  readonly conv3 = new Conv(64, 192, 3);
  readonly inception3a = new Inception(192, [64, [96, 128], [16, 32], 32]);
  readonly inception3b = new Inception(256, [128, [128, 192], [32, 96], 64]);
  readonly inception4a = new Inception(480, [192, [96, 208], [16, 48], 64]);
  readonly inception4b = new Inception(512, [160, [112, 224], [24, 64], 64]);
  readonly inception4c = new Inception(512, [128, [128, 256], [24, 64], 64]);
  readonly inception4d = new Inception(512, [112, [144, 288], [32, 64], 64]);
  readonly inception4e = new Inception(528, [256, [160, 320], [32, 128], 128]);
  readonly inception5a = new Inception(832, [256, [160, 320], [32, 128], 128]);
  readonly inception5b = new Inception(832, [384, [192, 384], [48, 128], 128]);
  readonly aux1: Auxiliary | undefined;
  readonly aux2: Auxiliary | undefined;
  readonly dropout = new nn.Dropout(0.2);
  readonly fc: nn.Linear;
  readonly transformInput: boolean;
  readonly pools = [halving(), halving(), halving()];
  readonly pool4 = new nn.MaxPool2d(2, { stride: 2, ceilMode: true });

  constructor(options: GoogLeNetOptions = {}) {
    const {
      classes,
      channels,
      backend,
      aux = false,
      transformInput = false,
    } = optionsOf("googlenet", options, undefined);
    super(backend, [options]);
    this.transformInput = transformInput;
    this.conv1 = new Conv(channels, 64, 7, 2);
    if (aux) {
      this.aux1 = new Auxiliary(512, classes);
      this.aux2 = new Auxiliary(528, classes);
    }
    this.fc = new nn.Linear(1024, classes, { init: drawn });
  }

  protected override compute(x: Tensor): Tensor {
    return this.forwardAll(x).scores;
  }

  /** Also the scores of the classifiers halfway, if there are any. */
  forwardAll(images: Tensor): { readonly scores: Tensor; readonly aux: readonly Tensor[] } {
    const x = this.transformInput ? centred(images) : images;
    const [pool1, pool2, pool3] = this.pools as [nn.MaxPool2d, nn.MaxPool2d, nn.MaxPool2d];
    const stem = this.conv3.forward(this.conv2.forward(pool1.forward(this.conv1.forward(x))));
    const third = [this.inception3a, this.inception3b];
    const early = this.inception4a.forward(pool3.forward(along(third, pool2.forward(stem))));
    const middle = [this.inception4b, this.inception4c, this.inception4d];
    const late = along(middle, early);
    const last = [this.inception5a, this.inception5b];
    const y = along(last, this.pool4.forward(this.inception4e.forward(late)));
    const scores = this.fc.forward(this.dropout.forward(pooled(y)));
    const { aux1, aux2 } = this;
    return { scores, aux: aux1 && aux2 ? [aux1.forward(early), aux2.forward(late)] : [] };
  }

  override step(images: Tensor, labels: Tensor, loss: Loss): StepResult {
    const { scores, aux } = this.forwardAll(imagesOf(images));
    const main = loss(scores, labels);
    const all = this.training
      ? aux.reduce((sum, a) => sum.add(loss(a, labels).mul(0.3)), main)
      : main;
    return { loss: all, output: scores, target: labels };
  }
}

/** (x·deviation + mean − ½) / ½ for each channel. */
function centred(x: Tensor): Tensor {
  const wide = (values: readonly number[]) => tensor([...values]).reshape([3, 1, 1]);
  return x.mul(wide(deviations!)).add(wide(means!)).sub(0.5).div(0.5);
}

const along = (layers: readonly nn.Layer[], x: Tensor): Tensor =>
  layers.reduce((y, layer) => layer.forward(y), x);

/**
 * 22 layers, 6.6 million parameters, 13.0 million with `aux`. x: f32[N, 3, H, W] → scores f32[N, 1000]. Szegedy et al. 2015;
 * `torchvision.models.googlenet`.
 *
 *     const history = await vision.googlenet("wasm", { classes: 10 }).train(photos, { epochs: 5 });
 */
export function googlenet(
  backend?: Backend | GoogLeNetOptions,
  options?: GoogLeNetOptions,
): GoogLeNet {
  const all = optionsOf("googlenet", backend, options);
  checkOptions("googlenet", all, googLeNetOptions);
  return new GoogLeNet(all);
}
