/**
 * Layers of transposed convolutions over one to three axes, channels first, with PyTorch's layout of weights. The arithmetic is
 * the IR's `convTranspose`.
 */
import {
  checkOptions,
  convTranspose,
  type OptionNames,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { biased, paddingText } from "./convolution.ts";
import { defaultBias, defaultWeight, type Initializer } from "./init.ts";
import { buildOrWait, ensureBuilt, withSize } from "./lazy.ts";
import { Module } from "./module.ts";
import { type Sides, sidesOf } from "./padding.ts";
import { checkCount, checkExtent, checkRank, each, weight } from "./parameter.ts";

export interface ConvTransposeOptions {
  readonly stride?: number | readonly number[];
  /** Cut off the ends of the result: what the convolution that this transposes would pad. */
  readonly padding?: number | readonly (number | Sides)[];
  /** Added to the end of the result, less than the stride or the dilation. */
  readonly outputPadding?: number | readonly number[];
  readonly dilation?: number | readonly number[];
  readonly groups?: number;
  readonly bias?: boolean;
  readonly init?: Initializer;
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

type Sizes = [
  inputs: number | undefined,
  outputs: number,
  kernel: number | readonly number[],
  options?: ConvTransposeOptions,
];

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
    super();
    const [inputs, outputs, kernel, options = {}] = withSize(args, 3) as Sizes;
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
 * y[n, o, p] = b[o] + Σ x[n, c, t] · W[c, o, k] over all c, t and k with t·stride + k·dilation − padding = p.
 *
 * x: f32[N, C, L] → f32[N, O, (L − 1)·stride − 2·padding + (K − 1)·dilation + outputPadding + 1]; `weight` f32[C, O/groups, K]. By
 * default stride 1, padding 0, outputPadding 0, dilation 1, groups 1, a bias. Throws ShapeError on other ranks or channels, or where an
 * `outputPadding` is not less than stride or dilation. Dumoulin & Visin 2016, section 4.
 *
 *   new nn.ConvTranspose1d(8, 4, 4, { stride: 2, padding: 1 }) // [N, 8, L] → [N, 4, 2·L]
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

/** As `ConvTranspose1d` over two axes. x: f32[N, C, H, W] → f32[N, O, H′, W′]; `weight` f32[C, O/groups, K, K′]. */
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

/** As `ConvTranspose1d` over three axes. x: f32[N, C, D, H, W] → f32[N, O, D′, H′, W′]; `weight` f32[C, O/groups, K, K′, K″]. */
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
