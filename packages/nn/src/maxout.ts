/**
 * The largest of several linear functions.
 */
import { checkOptions, checkTensor, type OptionNames, type Tensor } from "@kiln-ml/ir";
import { Linear, type LinearOptions } from "./linear.ts";
import { Module } from "./module.ts";
import { checkCount } from "./parameter.ts";

export interface MaxoutOptions extends LinearOptions {
  /** Linear functions for each result, default 2. */
  readonly pieces?: number;
}

const maxoutOptions: OptionNames<MaxoutOptions> = { pieces: 1, bias: 1, init: 1, biasInit: 1 };

/**
 * y[o] = max over k of (x·Wᵀ + b)[o, k], one product.
 *
 * x: f32[..., in] → f32[..., out]; `linear.weight` f32[out·pieces, in]. Throws ShapeError if the
 * last axis of x is not `in`. Goodfellow et al. 2013, eq. 1. No counterpart in PyTorch.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param outputs Features of the result.
 * @example
 *   new nn.Maxout(16, 8, { pieces: 4 }).forward(ones([2, 16])).shape // [2, 8]
 */
export class Maxout extends Module {
  readonly linear: Linear;
  readonly outputs: number;
  readonly pieces: number;

  constructor(inputs: number, outputs: number, options: MaxoutOptions = {}) {
    super([inputs, outputs, options]);
    const { pieces = 2, ...linear } = checkOptions("maxout", options, maxoutOptions);
    checkCount("maxout", "outputs", outputs);
    checkCount("maxout", "pieces", pieces);
    this.outputs = outputs;
    this.pieces = pieces;
    this.linear = new Linear(inputs, outputs * pieces, linear);
  }

  override forward(x: Tensor): Tensor {
    checkTensor("maxout", x);
    const y = this.linear.forward(x);
    return y.reshape([...y.shape.slice(0, -1), this.outputs, this.pieces]).max([-1]);
  }

  override describe(): string {
    return `${this.linear.inputs} → ${this.outputs}, the largest of ${this.pieces}`;
  }
}
