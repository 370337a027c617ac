/**
 * Convolution layers over one and two axes, channels first as in PyTorch. The arithmetic is the IR's
 * `convolution`; here are the parameters, the padding by name, and the bias.
 */
import {
  checkOptions,
  convolution,
  type OptionNames,
  printShape,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { defaultBias, defaultWeight, type Initializer } from "./init.ts";
import { Module } from "./module.ts";
import { checkCount, checkExtent, checkRank, weight } from "./parameter.ts";

/** "valid" adds nothing; "same" gives ⌈extent / stride⌉ places; a number pads both ends of its axis. */
export type Padding = number | readonly number[] | "same" | "valid";

export interface ConvOptions {
  readonly stride?: number | readonly number[];
  readonly padding?: Padding;
  readonly dilation?: number | readonly number[];
  readonly groups?: number;
  readonly bias?: boolean;
  readonly init?: Initializer;
  readonly biasInit?: Initializer;
}

const convOptions: OptionNames<ConvOptions> = {
  stride: 1,
  padding: 1,
  dilation: 1,
  groups: 1,
  bias: 1,
  init: 1,
  biasInit: 1,
};

class Convolution extends Module {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly inputs: number;
  readonly outputs: number;
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly padding: readonly number[] | "same" | "valid";
  readonly groups: number;
  readonly #op: string;

  constructor(
    axes: number,
    inputs: number,
    outputs: number,
    kernel: number | readonly number[],
    options: ConvOptions,
  ) {
    super();
    const op = `conv${axes}d`;
    this.#op = op;
    checkOptions(op, options, convOptions);
    this.inputs = inputs;
    this.outputs = outputs;
    this.groups = options.groups ?? 1;
    checkCount(op, "inputs", inputs);
    checkCount(op, "outputs", outputs);
    checkCount(op, "groups", this.groups);
    if (inputs % this.groups || outputs % this.groups)
      throw new ShapeError(
        `${op}: channels are not multiples of groups: inputs ${inputs}, outputs ${outputs}, groups ${this.groups}`,
      );
    this.kernel = each(op, "kernel", kernel, axes);
    this.stride = each(op, "stride", options.stride ?? 1, axes);
    this.dilation = each(op, "dilation", options.dilation ?? 1, axes);
    const padding = options.padding ?? 0;
    this.padding = typeof padding === "string" ? padding : each(op, "padding", padding, axes, 0);
    const shape = [outputs, inputs / this.groups, ...this.kernel];
    this.weight = weight("weight", shape, options.init ?? defaultWeight);
    if (options.bias ?? true)
      this.bias = weight("bias", [outputs], options.biasInit ?? defaultBias(shape));
  }

  override forward(x: Tensor): Tensor {
    checkRank(this.#op, x, this.kernel.length + 2);
    checkExtent(this.#op, x, 1, this.inputs, "channels");
    const { stride, padding, dilation, groups } = this;
    const y = convolution(x, this.weight, { stride, padding, dilation, groups });
    if (!this.bias) return y;
    const bias = this.bias.reshape([this.outputs, ...this.kernel.map(() => 1)]);
    return y.add(bias.convert(y.dtype));
  }

  override describe(): string {
    const { inputs, outputs, kernel, stride, padding, dilation, groups } = this;
    const more = [
      stride.some((s) => s !== 1) ? ` stride ${stride.join("×")}` : "",
      typeof padding === "string" ? ` padding ${padding}` : "",
      typeof padding !== "string" && padding.some((p) => p > 0)
        ? ` padding ${padding.join("×")}`
        : "",
      dilation.some((d) => d !== 1) ? ` dilation ${dilation.join("×")}` : "",
      groups !== 1 ? ` groups ${groups}` : "",
    ];
    return `${inputs} → ${outputs}, ${kernel.join("×")}${more.join("")}`;
  }
}

/**
 * y[n, o, p] = b[o] + Σ_{c,k} x[n, c, p·stride + k·dilation − padding] · W[o, c, k].
 *
 * x: f32[N, C, L] → f32[N, O, L′]; `weight` f32[O, C/groups, K]. Throws ShapeError on other ranks or channels.
 */
export class Conv1d extends Convolution {
  constructor(
    inputs: number,
    outputs: number,
    kernel: number | readonly number[],
    options: ConvOptions = {},
  ) {
    super(1, inputs, outputs, kernel, options);
  }
}

/** As `Conv1d` over two axes. x: f32[N, C, H, W] → f32[N, O, H′, W′]; `weight` f32[O, C/groups, K, K′]. */
export class Conv2d extends Convolution {
  constructor(
    inputs: number,
    outputs: number,
    kernel: number | readonly number[],
    options: ConvOptions = {},
  ) {
    super(2, inputs, outputs, kernel, options);
  }
}

/** One count for each axis. */
function each(
  op: string,
  what: string,
  value: number | readonly number[],
  axes: number,
  least = 1,
): number[] {
  const list = typeof value === "number" ? new Array<number>(axes).fill(value) : [...value];
  if (list.length !== axes)
    throw new ShapeError(`${op}: ${what} needs 1 or ${axes} numbers, got ${printShape(list)}`);
  for (const v of list) checkCount(op, what, v, least);
  return list;
}
