/**
 * Convolution layers over one to three axes, channels first as in PyTorch. The arithmetic is the
 * IR's `convolution`; here are the parameters, the padding by name and mode, and the bias.
 */
import {
  checkOptions,
  convolution,
  type OptionNames,
  resolvePadding,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { defaultBias, defaultWeight, type Initializer } from "./init.ts";
import { buildOrWait, ensureBuilt, withSize } from "./lazy.ts";
import { Module } from "./module.ts";
import {
  checkMode,
  extended,
  type Padding,
  type PaddingMode,
  type Sides,
  sidesOf,
} from "./padding.ts";
import { checkCount, checkExtent, checkRank, each, weight } from "./parameter.ts";

export interface ConvOptions {
  /** Places from one window to the next along each axis, default 1; a number is for all. */
  readonly stride?: number | readonly number[];
  /**
   * Places added at the edges, default 0: for all sides, for each axis, for each side of each
   * axis, "same" or "valid".
   */
  readonly padding?: Padding;
  /** What the padding holds; "zeros" by default. */
  readonly paddingMode?: PaddingMode;
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

const convOptions: OptionNames<ConvOptions> = {
  stride: 1,
  padding: 1,
  paddingMode: 1,
  dilation: 1,
  groups: 1,
  bias: 1,
  init: 1,
  biasInit: 1,
};

/** Arguments as `withSize` gives them: that of the input may be unknown. */
export type KernelSizes<Options> = readonly [
  inputs: number | undefined,
  outputs: number,
  kernel: number | readonly number[],
  options?: Options,
];

/** Parameters and settings of a kernel; what it computes is the layer's own. */
export abstract class KernelLayer extends Module {
  readonly weight!: Tensor;
  readonly bias: Tensor | undefined;
  readonly inputs!: number;
  readonly outputs: number;
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly padding: readonly (number | Sides)[] | "same" | "valid";
  readonly paddingMode: PaddingMode;
  readonly groups: number;
  protected readonly op: string;

  constructor(
    op: string,
    axes: number,
    args: readonly unknown[],
    names: Readonly<Record<string, 1>> = convOptions,
  ) {
    super(args);
    const [inputs, outputs, kernel, options = {}] = withSize(args, 3) as KernelSizes<ConvOptions>;
    this.op = op;
    checkOptions(op, options, names as OptionNames<ConvOptions>);
    this.outputs = outputs;
    this.groups = options.groups ?? 1;
    if (inputs !== undefined) checkCount(op, "inputs", inputs);
    checkCount(op, "outputs", outputs);
    checkCount(op, "groups", this.groups);
    this.kernel = each(op, "kernel", kernel, axes);
    this.stride = each(op, "stride", options.stride ?? 1, axes);
    this.dilation = each(op, "dilation", options.dilation ?? 1, axes);
    const padding = options.padding ?? 0;
    this.padding = typeof padding === "string" ? padding : sidesOf(op, padding, axes);
    this.paddingMode = checkMode(op, options.paddingMode ?? "zeros");
    buildOrWait(this, inputs, (size) => this.build(size, options));
  }

  private build(inputs: number, options: ConvOptions): void {
    const { outputs, groups, op } = this;
    if (inputs % groups || outputs % groups)
      throw new ShapeError(
        `${op}: channels are not multiples of groups: inputs ${inputs}, outputs ${outputs}, groups ${groups}\n  choose groups that divide both`,
      );
    const shape = [outputs, inputs / groups, ...this.kernel];
    Object.assign(this, {
      inputs,
      weight: weight("weight", shape, options.init ?? defaultWeight),
      ...((options.bias ?? true) && {
        bias: weight("bias", [outputs], options.biasInit ?? defaultBias(shape)),
      }),
    });
  }

  /** Throws unless x fits, once the layer is built. */
  protected prepare(x: Tensor): void {
    checkRank(this.op, x, this.kernel.length + 2);
    ensureBuilt(this.op, this, x, 1);
    checkExtent(this.op, x, 1, this.inputs, "channels");
  }

  override describe(): string {
    const { inputs, outputs, kernel, stride, padding, dilation, groups } = this;
    const more = [
      stride.some((s) => s !== 1) ? ` stride ${stride.join("×")}` : "",
      paddingText(padding, this.paddingMode),
      dilation.some((d) => d !== 1) ? ` dilation ${dilation.join("×")}` : "",
      groups !== 1 ? ` groups ${groups}` : "",
    ];
    return `${inputs ?? "?"} → ${outputs}, ${kernel.join("×")}${more.join("")}`;
  }
}

class Convolution extends KernelLayer {
  constructor(axes: number, args: readonly unknown[]) {
    super(`conv${axes}d`, axes, args);
  }

  override forward(x: Tensor): Tensor {
    this.prepare(x);
    const { stride, dilation, groups } = this;
    const [padded, padding] = this.padded(x);
    const y = convolution(padded, this.weight, { stride, padding, dilation, groups });
    return biased(y, this.bias);
  }

  /** x with what is not zeros around it, and what the convolution still has to add. */
  private padded(x: Tensor): [Tensor, Padding] {
    const { kernel, stride, padding, dilation, paddingMode } = this;
    if (paddingMode === "zeros") return [x, padding];
    const sides = resolvePadding(this.op, padding, x.shape.slice(2), kernel, stride, dilation);
    return [extended(this.op, x, sides, paddingMode), 0];
  }
}

/**
 * y[n, o, p] = b[o] + Σ_{c,k} x[n, c, p·stride + k·dilation − padding] · W[o, c, k].
 *
 * x: f32[N, C, L] → f32[N, O, L′]; `weight` f32[O, C/groups, K]. By default stride 1, padding 0,
 * dilation 1, groups 1, zeros for padding, a bias. Throws ShapeError on other ranks or channels, or
 * where a `paddingMode` reaches beyond the axis. `torch.nn.Conv1d`.
 *
 * @param outputs Channels of the result.
 * @param kernel Places of the kernel along each axis; a number is for all.
 * @param inputs Channels of x; those of the first x by default.
 * @example
 *   new nn.Conv1d(2, 8, 3).forward(ones([1, 2, 10])).shape // [1, 8, 8]
 *   const causal = new nn.Conv1d(8, 3, { padding: [[2, 0]] }); // of as many channels as x has
 *   causal.forward(ones([1, 2, 10])).shape // [1, 8, 10]
 */
export class Conv1d extends Convolution {
  constructor(outputs: number, kernel: number | readonly number[], options?: ConvOptions);
  constructor(
    inputs: number,
    outputs: number,
    kernel: number | readonly number[],
    options?: ConvOptions,
  );
  constructor(...args: readonly unknown[]) {
    super(1, args);
  }
}

/**
 * As `Conv1d` over two axes. x: f32[N, C, H, W] → f32[N, O, H′, W′]; `weight` f32[O, C/groups, K,
 * K′]. `torch.nn.Conv2d`.
 *
 * @param outputs Channels of the result.
 * @param kernel Places of the kernel along each axis; a number is for all.
 * @param inputs Channels of x; those of the first x by default.
 * @example
 *   const layer = new nn.Conv2d(3, 8, 3, { padding: 1 });
 *   layer.forward(ones([1, 3, 28, 28])).shape // [1, 8, 28, 28]
 *   layer.weight.shape // [8, 3, 3, 3]
 */
export class Conv2d extends Convolution {
  constructor(outputs: number, kernel: number | readonly number[], options?: ConvOptions);
  constructor(
    inputs: number,
    outputs: number,
    kernel: number | readonly number[],
    options?: ConvOptions,
  );
  constructor(...args: readonly unknown[]) {
    super(2, args);
  }
}

/**
 * As `Conv1d` over three axes. x: f32[N, C, D, H, W] → f32[N, O, D′, H′, W′]; `weight` f32[O,
 * C/groups, K, K′, K″]. `torch.nn.Conv3d`.
 *
 * @param outputs Channels of the result.
 * @param kernel Places of the kernel along each axis; a number is for all.
 * @param inputs Channels of x; those of the first x by default.
 * @example
 *   const layer = new nn.Conv3d(1, 8, 3, { stride: 2, padding: 1 });
 *   layer.forward(ones([1, 1, 4, 4, 4])).shape // [1, 8, 2, 2, 2]
 */
export class Conv3d extends Convolution {
  constructor(outputs: number, kernel: number | readonly number[], options?: ConvOptions);
  constructor(
    inputs: number,
    outputs: number,
    kernel: number | readonly number[],
    options?: ConvOptions,
  );
  constructor(...args: readonly unknown[]) {
    super(3, args);
  }
}

/** y + bias, one number a channel. */
export function biased(y: Tensor, bias: Tensor | undefined): Tensor {
  if (!bias) return y;
  const wide = bias.reshape([bias.shape[0]!, ...y.shape.slice(2).map(() => 1)]);
  return y.add(wide.convert(y.dtype));
}

/** How `describe` tells of padding, where there is any. */
export function paddingText(
  padding: readonly (number | Sides)[] | "same" | "valid",
  mode: PaddingMode = "zeros",
): string {
  const by = mode === "zeros" ? "" : ` by ${mode}`;
  if (typeof padding === "string") return ` padding ${padding}${by}`;
  const amounts = padding.map((p) => (typeof p === "number" ? `${p}` : p.join("+")));
  return amounts.every((a) => a === "0") ? "" : ` padding ${amounts.join("×")}${by}`;
}
