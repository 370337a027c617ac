/**
 * Layers of transposed convolutions over one to three axes, channels first, with PyTorch's layout
 * of weights. The arithmetic is the IR's `convTranspose`.
 */
import {
  checkOptions,
  convTranspose,
  type OptionNames,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { biased, type KernelSizes, paddingText } from "./convolution.ts";
import { defaultBias, defaultWeight, type Initializer } from "./init.ts";
import { buildOrWait, ensureBuilt, withSize } from "./lazy.ts";
import { Module } from "./module.ts";
import { type Sides, sidesOf } from "./padding.ts";
import { checkCount, checkExtent, checkRank, each, weight } from "./parameter.ts";

export interface ConvTransposeOptions {
  /** Places of the result from one element of x to the next, default 1. */
  readonly stride?: number | readonly number[];
  /** Cut off the ends of the result: what the convolution that this transposes would pad. */
  readonly padding?: number | readonly (number | Sides)[];
  /** Added to the end of the result, less than the stride or the dilation. */
  readonly outputPadding?: number | readonly number[];
  /** Places from one element of a window to the next, default 1; a number is for all. */
  readonly dilation?: number | readonly number[];
  /** Groups of channels that do not mix, default 1. */
  readonly groups?: number;
  /** Adds a bias; true by default. */
  readonly bias?: boolean;
  /** What the weight is at first; by default even within ±1/√(fan in). */
  readonly init?: Initializer;
  /** What the bias is at first; by default even within ±1/√(fan in). */
  readonly biasInit?: Initializer;
}

const convTransposeOptions: OptionNames<ConvTransposeOptions> = {
  stride: 1,
  padding: 1,
  outputPadding: 1,
  dilation: 1,
  groups: 1,
  bias: 1,
  init: 1,
  biasInit: 1,
};

class TransposedConvolution extends Module {
  readonly weight!: Tensor;
  readonly bias: Tensor | undefined;
  readonly inputs!: number;
  readonly outputs: number;
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly padding: readonly (number | Sides)[];
  readonly outputPadding: readonly number[];
  readonly groups: number;
  private readonly op: string;

  constructor(axes: number, args: readonly unknown[]) {
    super(args);
    const [inputs, outputs, kernel, options = {}] = withSize(
      args,
      3,
    ) as KernelSizes<ConvTransposeOptions>;
    const op = `convTranspose${axes}d`;
    this.op = op;
    checkOptions(op, options, convTransposeOptions);
    this.outputs = outputs;
    this.groups = options.groups ?? 1;
    if (inputs !== undefined) checkCount(op, "inputs", inputs);
    checkCount(op, "outputs", outputs);
    checkCount(op, "groups", this.groups);
    this.kernel = each(op, "kernel", kernel, axes);
    this.stride = each(op, "stride", options.stride ?? 1, axes);
    this.dilation = each(op, "dilation", options.dilation ?? 1, axes);
    this.padding = sidesOf(op, options.padding ?? 0, axes);
    this.outputPadding = each(op, "outputPadding", options.outputPadding ?? 0, axes, 0);
    buildOrWait(this, inputs, (size) => this.build(size, options));
  }

  private build(inputs: number, options: ConvTransposeOptions): void {
    const { outputs, groups, op } = this;
    if (inputs % groups || outputs % groups)
      throw new ShapeError(
        `${op}: channels are not multiples of groups: inputs ${inputs}, outputs ${outputs}, groups ${groups}\n  choose groups that divide both`,
      );
    const shape = [inputs, outputs / groups, ...this.kernel];
    Object.assign(this, {
      inputs,
      weight: weight("weight", shape, options.init ?? defaultWeight),
      ...((options.bias ?? true) && {
        bias: weight("bias", [outputs], options.biasInit ?? defaultBias(shape)),
      }),
    });
  }

  override forward(x: Tensor): Tensor {
    checkRank(this.op, x, this.kernel.length + 2);
    ensureBuilt(this.op, this, x, 1);
    checkExtent(this.op, x, 1, this.inputs, "channels");
    const { stride, padding, outputPadding, dilation, groups } = this;
    const options = { stride, padding, outputPadding, dilation, groups };
    return biased(convTranspose(x, this.weight, options), this.bias);
  }

  override describe(): string {
    const { inputs, outputs, kernel, stride, padding, outputPadding, dilation, groups } = this;
    const more = [
      stride.some((s) => s !== 1) ? ` stride ${stride.join("×")}` : "",
      paddingText(padding),
      outputPadding.some((p) => p > 0) ? ` output padding ${outputPadding.join("×")}` : "",
      dilation.some((d) => d !== 1) ? ` dilation ${dilation.join("×")}` : "",
      groups !== 1 ? ` groups ${groups}` : "",
    ];
    return `${inputs ?? "?"} → ${outputs}, ${kernel.join("×")}${more.join("")}`;
  }
}

/**
 * y[n, o, p] = b[o] + Σ x[n, c, t] · W[c, o, k] over all c, t and k with t·stride + k·dilation −
 * padding = p.
 *
 * x: f32[N, C, L] → f32[N, O, (L − 1)·stride − 2·padding + (K − 1)·dilation + outputPadding + 1];
 * `weight` f32[C, O/groups, K]. By default stride 1, padding 0, outputPadding 0, dilation 1, groups
 * 1, a bias. Throws ShapeError on other ranks or channels, or where an `outputPadding` is not less
 * than stride or dilation. Dumoulin & Visin 2016, section 4. `torch.nn.ConvTranspose1d`.
 *
 * @param outputs Channels of the result.
 * @param kernel Places of the kernel along each axis; a number is for all.
 * @param inputs Channels of x; those of the first x by default.
 * @example
 *   const up = new nn.ConvTranspose1d(8, 4, 4, { stride: 2, padding: 1 });
 *   up.forward(ones([1, 8, 5])).shape // [1, 4, 10]
 */
export class ConvTranspose1d extends TransposedConvolution {
  constructor(outputs: number, kernel: number | readonly number[], options?: ConvTransposeOptions);
  constructor(
    inputs: number,
    outputs: number,
    kernel: number | readonly number[],
    options?: ConvTransposeOptions,
  );
  constructor(...args: readonly unknown[]) {
    super(1, args);
  }
}

/**
 * As `ConvTranspose1d` over two axes. x: f32[N, C, H, W] → f32[N, O, H′, W′]; `weight` f32[C,
 * O/groups, K, K′]. `torch.nn.ConvTranspose2d`.
 *
 * @param outputs Channels of the result.
 * @param kernel Places of the kernel along each axis; a number is for all.
 * @param inputs Channels of x; those of the first x by default.
 * @example
 *   const up = new nn.ConvTranspose2d(8, 4, 2, { stride: 2 });
 *   up.forward(ones([1, 8, 7, 7])).shape // [1, 4, 14, 14]
 */
export class ConvTranspose2d extends TransposedConvolution {
  constructor(outputs: number, kernel: number | readonly number[], options?: ConvTransposeOptions);
  constructor(
    inputs: number,
    outputs: number,
    kernel: number | readonly number[],
    options?: ConvTransposeOptions,
  );
  constructor(...args: readonly unknown[]) {
    super(2, args);
  }
}

/**
 * As `ConvTranspose1d` over three axes. x: f32[N, C, D, H, W] → f32[N, O, D′, H′, W′]; `weight`
 * f32[C, O/groups, K, K′, K″]. `torch.nn.ConvTranspose3d`.
 *
 * @param outputs Channels of the result.
 * @param kernel Places of the kernel along each axis; a number is for all.
 * @param inputs Channels of x; those of the first x by default.
 * @example
 *   const up = new nn.ConvTranspose3d(8, 4, 2, { stride: 2 });
 *   up.forward(ones([1, 8, 2, 2, 2])).shape // [1, 4, 4, 4, 4]
 */
export class ConvTranspose3d extends TransposedConvolution {
  constructor(outputs: number, kernel: number | readonly number[], options?: ConvTransposeOptions);
  constructor(
    inputs: number,
    outputs: number,
    kernel: number | readonly number[],
    options?: ConvTransposeOptions,
  );
  constructor(...args: readonly unknown[]) {
    super(3, args);
  }
}
