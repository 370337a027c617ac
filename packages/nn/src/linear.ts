/**
 * Layers that are one matrix product: y = x·Wᵀ + b.
 */
import { checkOptions, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { defaultBias, defaultWeight, type Initializer } from "./init.ts";
import { Module } from "./module.ts";
import { checkCount, checkExtent, weight } from "./parameter.ts";

export interface LinearOptions {
  /** Adds a bias; true by default. */
  readonly bias?: boolean;
  readonly init?: Initializer;
  readonly biasInit?: Initializer;
}

const linearOptions: OptionNames<LinearOptions> = { bias: 1, init: 1, biasInit: 1 };

/**
 * y = x·Wᵀ + b.
 *
 * x: f32[..., in] → f32[..., out]; `weight` f32[out,in], `bias` f32[out], both even within ±1/√in at first.
 * Throws ShapeError if the last axis of x is not `in`.
 */
export class Linear extends Module {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly inputs: number;
  readonly outputs: number;

  constructor(inputs: number, outputs: number, options: LinearOptions = {}) {
    super();
    checkOptions("linear", options, linearOptions);
    checkCount("linear", "inputs", inputs);
    checkCount("linear", "outputs", outputs);
    this.inputs = inputs;
    this.outputs = outputs;
    const shape = [outputs, inputs];
    this.weight = weight("weight", shape, options.init ?? defaultWeight);
    if (options.bias ?? true)
      this.bias = weight("bias", [outputs], options.biasInit ?? defaultBias(shape));
  }

  override forward(x: Tensor): Tensor {
    checkExtent("linear", x, -1, this.inputs, "inputs");
    const y = x.matmul(this.weight.transpose([1, 0]));
    return this.bias ? y.add(this.bias.convert(y.dtype)) : y;
  }

  override describe(): string {
    return `${this.inputs} → ${this.outputs}`;
  }
}
