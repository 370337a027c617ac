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

/** x where |x| > lambda, 0 elsewhere; lambda is 0.5 by default. x: f32[...] → the same. Throws GraphError for a lambda below 0. */
export class HardShrink extends Activation {
  constructor(lambda = 0.5) {
    checkBound("hardShrink", "lambda", lambda);
    super((x) => select(x.abs().greater(lambda), x, 0), `${lambda}`);
  }
}

/** sign(x)·max(|x| − lambda, 0); lambda is 0.5 by default. x: f32[...] → the same. Throws GraphError for a lambda below 0. */
export class SoftShrink extends Activation {
  constructor(lambda = 0.5) {
    checkBound("softShrink", "lambda", lambda);
    super((x) => relu(x.sub(lambda)).sub(relu(x.neg().sub(lambda))), `${lambda}`);
  }
}

/**
 * x + bias where x < −lambda, x − bias where x > lambda, 0 between; lambda is 0.5 and bias 0 by default. With the bias 0 it is `HardShrink`,
 * with bias = lambda `SoftShrink`. x: f32[...] → the same. Throws GraphError for a lambda below 0. Shrink of ONNX.
 */
export class Shrink extends Activation {
  constructor(lambda = 0.5, bias = 0) {
    checkBound("shrink", "lambda", lambda);
    super((x) => {
      const above = select(x.greater(lambda), x.sub(bias), 0);
      return select(x.less(-lambda), x.add(bias), above);
    }, `${lambda}, ${bias}`);
  }
}

/** x − tanh(x). x: f32[...] → the same. */
export class Tanhshrink extends Activation {
  constructor() {
    super((x) => roundedOnce([x], (v) => v.sub(tanh(v))));
  }
}

/** x where x > threshold, `value` elsewhere. x: f32[...] → the same. */
export class Threshold extends Activation {
  constructor(threshold: number, value: number) {
    super((x) => select(x.greater(threshold), x, value), `${threshold}, ${value}`);
  }
}

/** x where x > alpha, 0 elsewhere; alpha is 1 by default. x: f32[...] → the same. Konda, Memisevic & Krueger 2014. */
export class ThresholdedReLU extends Activation {
  constructor(alpha = 1) {
    super((x) => select(x.greater(alpha), x, 0), `${alpha}`);
  }
}

/** softmax(−x) along an axis, the last by default. x: f32[...] → the same. */
export class Softmin extends Activation {
  constructor(axis = -1) {
    super((x: Tensor) => softmax(x.neg(), axis), `axis ${axis}`);
  }
}

/** x as it is. Takes the place of a layer. */
export class Identity extends Activation {
  constructor() {
    super((x) => x);
  }
}
