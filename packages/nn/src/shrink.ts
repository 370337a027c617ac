/**
 * Activations that pull values towards 0 or cut some off. Each is one fused kernel.
 */
import { GraphError, relu, roundedOnce, select, softmax, type Tensor, tanh } from "@kiln-ml/ir";
import { Activation } from "./activation-layer.ts";

function checkBound(op: string, what: string, value: number): number {
  if (!(value >= 0))
    throw new GraphError(`${op}: ${what} must be 0 or more, got ${value}\n  leave it out for 0.5`);
  return value;
}

/**
 * x where |x| > lambda, 0 elsewhere; lambda is 0.5 by default. x: f32[...] → the same. Throws
 * GraphError for a lambda below 0. `torch.nn.Hardshrink`.
 *
 * @param lambda Half the width of the band around 0.
 * @example
 *   new nn.HardShrink().forward(tensor([-1, 0.2, 2])) // [−1, 0, 2]
 */
export class HardShrink extends Activation {
  constructor(lambda = 0.5) {
    checkBound("hardShrink", "lambda", lambda);
    super((x) => select(x.abs().greater(lambda), x, 0), [lambda]);
  }
}

/**
 * sign(x)·max(|x| − lambda, 0); lambda is 0.5 by default. x: f32[...] → the same. Throws GraphError
 * for a lambda below 0. `torch.nn.Softshrink`.
 *
 * @param lambda Half the width of the band around 0.
 * @example
 *   new nn.SoftShrink().forward(tensor([-1, 0.2, 2])) // [−0.5, 0, 1.5]
 */
export class SoftShrink extends Activation {
  constructor(lambda = 0.5) {
    checkBound("softShrink", "lambda", lambda);
    super((x) => relu(x.sub(lambda)).sub(relu(x.neg().sub(lambda))), [lambda]);
  }
}

/**
 * x + bias where x < −lambda, x − bias where x > lambda, 0 between; lambda is 0.5 and bias 0 by
 * default. With the bias 0 it is `HardShrink`, with bias = lambda `SoftShrink`. x: f32[...] → the
 * same. Throws GraphError for a lambda below 0. Shrink of ONNX; no counterpart in PyTorch.
 *
 * @param lambda Half the width of the band around 0.
 * @param bias What is taken off outside of the band.
 * @example
 *   new nn.Shrink(1, 0.5).forward(tensor([-3, 0.2, 2])) // [−2.5, 0, 1.5]
 */
export class Shrink extends Activation {
  constructor(lambda = 0.5, bias = 0) {
    checkBound("shrink", "lambda", lambda);
    super(
      (x) => {
        const above = select(x.greater(lambda), x.sub(bias), 0);
        return select(x.less(-lambda), x.add(bias), above);
      },
      [lambda, bias],
    );
  }
}

/**
 * x − tanh(x). x: f32[...] → the same. `torch.nn.Tanhshrink`.
 * @example
 *   new nn.Tanhshrink().forward(tensor([0, 1])) // [0, 0.23841]
 */
export class Tanhshrink extends Activation {
  constructor() {
    super((x) => roundedOnce([x], (v) => v.sub(tanh(v))));
  }
}

/**
 * x where x > threshold, `value` elsewhere. x: f32[...] → the same. `torch.nn.Threshold`.
 *
 * @param threshold The bound.
 * @example
 *   new nn.Threshold(1, 20).forward(tensor([0, 1, 2])) // [20, 20, 2]
 */
export class Threshold extends Activation {
  constructor(threshold: number, value: number) {
    super((x) => select(x.greater(threshold), x, value), [threshold, value]);
  }
}

/**
 * x where x > alpha, 0 elsewhere; alpha is 1 by default. x: f32[...] → the same. Konda, Memisevic &
 * Krueger 2014. `torch.nn.Threshold(alpha, 0)`.
 *
 * @param alpha The bound.
 * @example
 *   new nn.ThresholdedReLU(1).forward(tensor([0.5, 1, 2])) // [0, 0, 2]
 */
export class ThresholdedReLU extends Activation {
  constructor(alpha = 1) {
    super((x) => select(x.greater(alpha), x, 0), [alpha]);
  }
}

/**
 * softmax(−x) along an axis, the last by default. x: f32[...] → the same. `torch.nn.Softmin`.
 *
 * @param axis The axis, negative ones from the end; the last by default.
 * @example
 *   new nn.Softmin().forward(tensor([[0, 0], [0, 1000]])) // [[½, ½], [1, 0]]
 */
export class Softmin extends Activation {
  constructor(axis = -1) {
    super((x: Tensor) => softmax(x.neg(), axis), [axis], `axis ${axis}`);
  }
}

/**
 * x as it is. Takes the place of a layer. `torch.nn.Identity`.
 * @example
 *   new nn.Identity().forward(tensor([1, 2])) // [1, 2]
 */
export class Identity extends Activation {
  constructor() {
    super((x) => x);
  }
}
