/**
 * Layers that are one matrix product: y = x·Wᵀ + b.
 */
import { checkOptions, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { defaultBias, defaultWeight, type Initializer } from "./init.ts";
import { buildOrWait, ensureBuilt, withSize } from "./lazy.ts";
import { Module } from "./module.ts";
import { checkCount, checkExtent, weight } from "./parameter.ts";
import type { QuantizedWeight } from "./quantized-weight.ts";

export interface LinearOptions {
  /** Adds a bias; true by default. */
  readonly bias?: boolean;
  /** What the weight is at first; by default even within ±1/√(fan in). */
  readonly init?: Initializer;
  /** What the bias is at first; by default even within ±1/√(fan in). */
  readonly biasInit?: Initializer;
}

const linearOptions: OptionNames<LinearOptions> = { bias: 1, init: 1, biasInit: 1 };

/**
 * y = x·Wᵀ + b. Without `in` it is that of the first x: `new nn.Linear(10)`.
 *
 * x: f32[..., in] → f32[..., out]; `weight` f32[out,in], `bias` f32[out], both even within ±1/√in
 * at first. Throws ShapeError if the last axis of x is not `in`. `torch.nn.Linear`.
 *
 * @param outputs Features of the result.
 * @param inputs Features of x; those of the first x where it may be left out.
 * @example
 *   const layer = new nn.Linear(3, 2);
 *   layer.weight.shape // [2, 3]
 *   layer.forward(ones([5, 3])).shape // [5, 2]
 */
export class Linear extends Module {
  readonly weight!: Tensor;
  readonly bias: Tensor | undefined;
  /** What stands for `weight`, which is undefined then: `nn.quantizeWeights`. */
  readonly quantized: QuantizedWeight | undefined;
  readonly inputs!: number;
  readonly outputs: number;

  constructor(outputs: number, options?: LinearOptions);
  constructor(inputs: number, outputs: number, options?: LinearOptions);
  constructor(...args: readonly unknown[]) {
    super(args);
    const [inputs, outputs, options = {}] = withSize(args, 2) as [
      number | undefined,
      number,
      LinearOptions?,
    ];
    checkOptions("linear", options, linearOptions);
    if (inputs !== undefined) checkCount("linear", "inputs", inputs);
    checkCount("linear", "outputs", outputs);
    this.outputs = outputs;
    buildOrWait(this, inputs, (size) => this.build(size, options));
  }

  private build(inputs: number, options: LinearOptions): void {
    const shape = [this.outputs, inputs];
    Object.assign(this, {
      inputs,
      weight: weight("weight", shape, options.init ?? defaultWeight),
      ...((options.bias ?? true) && {
        bias: weight("bias", [this.outputs], options.biasInit ?? defaultBias(shape)),
      }),
    });
  }

  override forward(x: Tensor): Tensor {
    ensureBuilt("linear", this, x, -1);
    checkExtent("linear", x, -1, this.inputs, "inputs");
    const y = this.quantized ? this.quantized.forward(x) : x.matmul(this.weight.transpose([1, 0]));
    return this.bias ? y.add(this.bias.convert(y.dtype)) : y;
  }

  /** The weight as [out, in]. */
  matrix(): Tensor {
    return this.weight;
  }

  override describe(): string {
    return `${this.inputs ?? "?"} → ${this.outputs}`;
  }
}
