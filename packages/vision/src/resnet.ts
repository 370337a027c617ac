/**
 * Residual networks: blocks that add to what they are given. He et al. 2016, with the stride in the 3×3 convolution of a bottleneck, as
 * torchvision has it. Fields have torchvision's names, which are those of weights.
 */
import { checkOptions, type OptionNames, relu, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import type { Backend } from "@kiln-ml/train";
import { type ModelOptions, optionsOf, VisionModel } from "./model.ts";
import { byOutputs, pooled } from "./parts.ts";

export interface ResNetOptions extends ModelOptions {
  /** For images of 32×32 or so: a first convolution of 3×3 without stride, and no pooling. */
  readonly smallImages?: boolean;
}

const resNetOptions: OptionNames<ResNetOptions> = {
  classes: 1,
  channels: 1,
  backend: 1,
  smallImages: 1,
};

const conv = (inputs: number, outputs: number, kernel: number, stride = 1): nn.Conv2d =>
  new nn.Conv2d(inputs, outputs, kernel, {
    stride,
    padding: (kernel - 1) / 2,
    bias: false,
    init: byOutputs,
  });

/** What brings the input of a block to the shape of its result, where that differs. */
const downsampling = (inputs: number, outputs: number, stride: number) =>
  stride === 1 && inputs === outputs
    ? undefined
    : new nn.Sequential(conv(inputs, outputs, 1, stride), new nn.BatchNorm2d(outputs));

class BasicBlock extends nn.Module {
  static readonly expansion = 1;
  readonly conv1: nn.Conv2d;
  readonly bn1: nn.BatchNorm2d;
  readonly conv2: nn.Conv2d;
  readonly bn2: nn.BatchNorm2d;
  readonly downsample: nn.Sequential | undefined;

  constructor(inputs: number, width: number, stride: number) {
    super();
    this.conv1 = conv(inputs, width, 3, stride);
    this.bn1 = new nn.BatchNorm2d(width);
    this.conv2 = conv(width, width, 3);
    this.bn2 = new nn.BatchNorm2d(width);
    this.downsample = downsampling(inputs, width, stride);
  }

  override forward(x: Tensor): Tensor {
    const hidden = relu(this.bn1.forward(this.conv1.forward(x)));
    const y = this.bn2.forward(this.conv2.forward(hidden));
    return relu(y.add(this.downsample?.forward(x) ?? x));
  }
}

class Bottleneck extends nn.Module {
  static readonly expansion = 4;
  readonly conv1: nn.Conv2d;
  readonly bn1: nn.BatchNorm2d;
  readonly conv2: nn.Conv2d;
  readonly bn2: nn.BatchNorm2d;
  readonly conv3: nn.Conv2d;
  readonly bn3: nn.BatchNorm2d;
  readonly downsample: nn.Sequential | undefined;

  constructor(inputs: number, width: number, stride: number) {
    super();
    this.conv1 = conv(inputs, width, 1);
    this.bn1 = new nn.BatchNorm2d(width);
    this.conv2 = conv(width, width, 3, stride);
    this.bn2 = new nn.BatchNorm2d(width);
    this.conv3 = conv(width, 4 * width, 1);
    this.bn3 = new nn.BatchNorm2d(4 * width);
    this.downsample = downsampling(inputs, 4 * width, stride);
  }

  override forward(x: Tensor): Tensor {
    const narrow = relu(this.bn1.forward(this.conv1.forward(x)));
    const hidden = relu(this.bn2.forward(this.conv2.forward(narrow)));
    const y = this.bn3.forward(this.conv3.forward(hidden));
    return relu(y.add(this.downsample?.forward(x) ?? x));
  }
}

const blocks = { basic: BasicBlock, bottleneck: Bottleneck };

/** Two convolutions, or three of which the middle one is narrow. */
export type ResNetBlock = keyof typeof blocks;

/** x: f32[N, channels, H, W] → scores f32[N, classes]. */
export class ResNet extends VisionModel {
  readonly conv1: nn.Conv2d;
  readonly bn1: nn.BatchNorm2d;
  readonly maxpool: nn.MaxPool2d | undefined;
  readonly layer1: nn.Sequential;
  readonly layer2: nn.Sequential;
  readonly layer3: nn.Sequential;
  readonly layer4: nn.Sequential;
  readonly fc: nn.Linear;

  constructor(kind: ResNetBlock, counts: readonly number[], options: ResNetOptions = {}) {
    const { classes, channels, backend, smallImages } = optionsOf("resnet", options, undefined);
    super(backend, [kind, counts, options]);
    const block = blocks[kind];
    this.conv1 = smallImages
      ? conv(channels, 64, 3)
      : new nn.Conv2d(channels, 64, 7, { stride: 2, padding: 3, bias: false, init: byOutputs });
    this.bn1 = new nn.BatchNorm2d(64);
    if (!smallImages) this.maxpool = new nn.MaxPool2d(3, { stride: 2, padding: 1 });
    let inputs = 64;
    const stage = (at: number): nn.Sequential => {
      const width = 64 << at;
      const layers = Array.from({ length: counts[at]! }, (_, i) => {
        const made = new block(inputs, width, i === 0 && at > 0 ? 2 : 1);
        inputs = width * block.expansion;
        return made;
      });
      return new nn.Sequential(layers);
    };
    this.layer1 = stage(0);
    this.layer2 = stage(1);
    this.layer3 = stage(2);
    this.layer4 = stage(3);
    this.fc = new nn.Linear(inputs, classes);
  }

  protected override compute(x: Tensor): Tensor {
    const stem = relu(this.bn1.forward(this.conv1.forward(x)));
    const stages = [this.layer1, this.layer2, this.layer3, this.layer4];
    const y = stages.reduce((t, layer) => layer.forward(t), this.maxpool?.forward(stem) ?? stem);
    return this.fc.forward(pooled(y));
  }
}

const resNet =
  (name: string, block: ResNetBlock, counts: readonly number[]) =>
  (backend?: Backend | ResNetOptions, options?: ResNetOptions): ResNet => {
    const all = optionsOf(name, backend, options);
    checkOptions(name, all, resNetOptions);
    return new ResNet(block, counts, all);
  };

/**
 * 18 layers, 11.7 million parameters. x: f32[N, 3, H, W] → scores f32[N, 1000]. He et al. 2016; `torchvision.models.resnet18`.
 *
 *     const net = vision.resnet18("wasm", { classes: 10, smallImages: true });
 */
export const resnet18 = resNet("resnet18", "basic", [2, 2, 2, 2]);
/** 34 layers, 21.8 million parameters; else as `resnet18`. */
export const resnet34 = resNet("resnet34", "basic", [3, 4, 6, 3]);
/** 50 layers with bottlenecks, 25.6 million parameters; else as `resnet18`. */
export const resnet50 = resNet("resnet50", "bottleneck", [3, 4, 6, 3]);
