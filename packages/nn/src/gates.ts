/**
 * Gated linear units: one half decides how much of the other passes. Shazeer 2020.
 */
import {
  checkTensor,
  gelu,
  isStatic,
  printShape,
  roundedOnce,
  ShapeError,
  sigmoid,
  silu,
  type Tensor,
} from "@kiln-ml/ir";
import { Linear, type LinearOptions } from "./linear.ts";
import { Module } from "./module.ts";

/**
 * a·σ(b), where a and b are the halves of x along an axis, the last by default.
 *
 * x: f32[..., 2·n, ...] → f32[..., n, ...]. Throws ShapeError where the extent is odd. Dauphin et
 * al. 2017. `torch.nn.GLU`.
 *
 * @param axis The axis that is halved; the last by default.
 * @example
 *   new nn.GLU().forward(tensor([[3, 4, 0, 0]])) // [[1.5, 2]]; times σ(0)
 */
export class GLU extends Module {
  readonly axis: number;

  constructor(axis = -1) {
    super([axis]);
    this.axis = axis;
  }

  override forward(x: Tensor): Tensor {
    checkTensor("glu", x);
    const extent = x.shape.at(this.axis);
    if (extent !== undefined && isStatic(extent) && extent % 2)
      throw new ShapeError(
        `glu: axis ${this.axis} of ${printShape(x.shape)} has no halves\n  give it an even extent, or name another axis`,
      );
    const [a, b] = x.split(2, this.axis) as [Tensor, Tensor];
    return roundedOnce([a, b], (v, gate) => v.mul(sigmoid(gate)));
  }

  override describe(): string {
    return `axis ${this.axis}`;
  }
}

/** f(x·Gᵀ)·(x·Vᵀ). */
class GatedLinear extends Module {
  readonly gate: Linear;
  readonly value: Linear;
  private readonly gateOf: (x: Tensor) => Tensor;

  constructor(
    inputs: number,
    outputs: number,
    options: LinearOptions,
    gateOf: (x: Tensor) => Tensor,
  ) {
    super([inputs, outputs, options]);
    const both = { bias: false, ...options };
    this.gate = new Linear(inputs, outputs, both);
    this.value = new Linear(inputs, outputs, both);
    this.gateOf = gateOf;
  }

  override forward(x: Tensor): Tensor {
    return roundedOnce([this.gate.forward(x), this.value.forward(x)], (gate, value) =>
      this.gateOf(gate).mul(value),
    );
  }

  override describe(): string {
    return `${this.gate.inputs} → ${this.gate.outputs}`;
  }
}

/**
 * silu(x·Gᵀ)·(x·Vᵀ): two products, the gate in the epilogue of one.
 *
 * x: f32[..., in] → f32[..., out]; `gate.weight` and `value.weight` f32[out, in], without biases by
 * default. Throws ShapeError if the last axis of x is not `in`. Shazeer 2020, eq. 5. No counterpart
 * in PyTorch.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param outputs Features of the result.
 * @example
 *   new nn.SwiGLU(64, 128).forward(ones([2, 64])).shape // [2, 128]
 */
export class SwiGLU extends GatedLinear {
  constructor(inputs: number, outputs: number, options: LinearOptions = {}) {
    super(inputs, outputs, options, silu);
  }
}

/**
 * gelu(x·Gᵀ)·(x·Vᵀ). Otherwise as `SwiGLU`. No counterpart in PyTorch.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param outputs Features of the result.
 * @example
 *   new nn.GEGLU(64, 128).forward(ones([2, 64])).shape // [2, 128]
 */
export class GEGLU extends GatedLinear {
  constructor(inputs: number, outputs: number, options: LinearOptions = {}) {
    super(inputs, outputs, options, gelu);
  }
}
