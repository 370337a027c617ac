/**
 * A layer that is linear in each of two inputs.
 */
import { checkOptions, type Dim, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { uniform } from "./init.ts";
import type { LinearOptions } from "./linear.ts";
import { Module } from "./module.ts";
import { checkCount, checkExtent, weight } from "./parameter.ts";

const bilinearOptions: OptionNames<LinearOptions> = { bias: 1, init: 1, biasInit: 1 };

/**
 * y[o] = Σ a[i]·W[o, i, j]·b[j] + bias[o]: a product, then a sum over j.
 *
 * a: f32[..., in], b: f32[..., in′] of the same leading extents → f32[..., out]; `weight` f32[out,
 * in, in′], all even within ±1/√in at first. Throws ShapeError if a last axis does not fit.
 * `torch.nn.Bilinear`.
 *
 * @param inputs1 Features of a.
 * @param inputs2 Features of b.
 * @param outputs Features of the result.
 * @example
 *   new nn.Bilinear(4, 5, 3).forward(ones([2, 4]), ones([2, 5])).shape // [2, 3]
 */
export class Bilinear extends Module {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly inputs: readonly [number, number];
  readonly outputs: number;

  constructor(inputs1: number, inputs2: number, outputs: number, options: LinearOptions = {}) {
    super([inputs1, inputs2, outputs, options]);
    checkOptions("bilinear", options, bilinearOptions);
    checkCount("bilinear", "inputs1", inputs1);
    checkCount("bilinear", "inputs2", inputs2);
    checkCount("bilinear", "outputs", outputs);
    this.inputs = [inputs1, inputs2];
    this.outputs = outputs;
    const even = uniform(-1 / Math.sqrt(inputs1), 1 / Math.sqrt(inputs1));
    this.weight = weight("weight", [outputs, inputs1, inputs2], options.init ?? even);
    if (options.bias ?? true) this.bias = weight("bias", [outputs], options.biasInit ?? even);
  }

  override forward(a: Tensor, b: Tensor): Tensor {
    const [m, n] = this.inputs;
    checkExtent("bilinear", a, -1, m, "inputs");
    checkExtent("bilinear", b, -1, n, "inputs");
    const lead: readonly Dim[] = a.shape.slice(0, -1);
    const factors = this.weight.transpose([1, 0, 2]).reshape([m, this.outputs * n]);
    const mixed = a.matmul(factors).reshape([...lead, this.outputs, n]);
    const y = mixed.mul(b.expandDims(-2)).sum([-1]);
    return this.bias ? y.add(this.bias.convert(y.dtype)) : y;
  }

  override describe(): string {
    return `${this.inputs.join(", ")} → ${this.outputs}`;
  }
}
