/**
 * Activations as layers and by name. The functions are the IR's composites; a layer only holds their options.
 */
import {
  celu,
  elu,
  GraphError,
  gelu,
  geluTanh,
  hardSigmoid,
  hardSwish,
  hardTanh,
  kindOf,
  leakyRelu,
  logSigmoid,
  logSoftmax,
  mish,
  relu,
  relu6,
  selu,
  sigmoid,
  silu,
  softmax,
  softplus,
  softsign,
  type Tensor,
  tanh,
} from "@kiln-ml/ir";
import { Activation } from "./activation-layer.ts";
import type { Layer } from "./module.ts";

const named = {
  linear: (x: Tensor): Tensor => x,
  relu,
  relu6,
  leakyRelu: (x: Tensor): Tensor => leakyRelu(x),
  elu: (x: Tensor): Tensor => elu(x),
  celu: (x: Tensor): Tensor => celu(x),
  selu,
  gelu,
  geluTanh,
  silu,
  swish: silu,
  mish,
  sigmoid: (x: Tensor): Tensor => sigmoid(x),
  tanh: (x: Tensor): Tensor => tanh(x),
  softplus,
  softsign,
  hardSigmoid,
  hardSwish,
  hardTanh: (x: Tensor): Tensor => hardTanh(x),
  logSigmoid,
  softmax: (x: Tensor): Tensor => softmax(x, -1),
  logSoftmax: (x: Tensor): Tensor => logSoftmax(x, -1),
} as const;

export type ActivationName = keyof typeof named;

/** The function of a name. Throws GraphError listing the names if there is none. */
export function activationOf(name: ActivationName): (x: Tensor) => Tensor {
  if (typeof name !== "string" || !Object.hasOwn(named, name))
    throw new GraphError(
      `activation: unknown name ${kindOf(name)}\n  known: ${Object.keys(named).join(", ")}`,
    );
  return named[name];
}

/** A class for an activation that has no options. Calls are marked pure, so that a page keeps those that it names. */
const plain = (fn: (x: Tensor) => Tensor): (new () => Layer) =>
  class extends Activation {
    constructor() {
      super(fn);
    }
  };

export class ReLU extends /* @__PURE__ */ plain(relu) {}
export class ReLU6 extends /* @__PURE__ */ plain(relu6) {}
export class SELU extends /* @__PURE__ */ plain(selu) {}
export class SiLU extends /* @__PURE__ */ plain(silu) {}
export class Mish extends /* @__PURE__ */ plain(mish) {}
export class Sigmoid extends /* @__PURE__ */ plain(sigmoid) {}
export class Tanh extends /* @__PURE__ */ plain(tanh) {}
export class Softplus extends /* @__PURE__ */ plain(softplus) {}
export class Softsign extends /* @__PURE__ */ plain(softsign) {}
export class HardSigmoid extends /* @__PURE__ */ plain(hardSigmoid) {}
export class HardSwish extends /* @__PURE__ */ plain(hardSwish) {}
export class LogSigmoid extends /* @__PURE__ */ plain(logSigmoid) {}

/** x where x > 0, else slope·x. */
export class LeakyReLU extends Activation {
  constructor(slope = 0.01) {
    super((x) => leakyRelu(x, slope), `${slope}`);
  }
}

/** x where x > 0, else alpha·(eˣ − 1). x: f32[...] → the same. Clevert et al. 2016. */
export class ELU extends Activation {
  constructor(alpha = 1) {
    super((x) => elu(x, alpha), `${alpha}`);
  }
}

/** x where x > 0, else alpha·(e^(x/alpha) − 1). x: f32[...] → the same. Barron 2017. */
export class CELU extends Activation {
  constructor(alpha = 1) {
    super((x) => celu(x, alpha), `${alpha}`);
  }
}

/** x·Φ(x), or its approximation by tanh. */
export class GELU extends Activation {
  constructor(approximate: "none" | "tanh" = "none") {
    super(approximate === "tanh" ? geluTanh : gelu, approximate === "tanh" ? "tanh" : "");
  }
}

/** x clamped to low … high, −1 … 1 by default. x: f32[...] → the same. */
export class HardTanh extends Activation {
  constructor(low = -1, high = 1) {
    super((x) => hardTanh(x, low, high), `${low} … ${high}`);
  }
}

/** eˣ/Σeˣ along an axis, the last by default. x: f32[...] → the same. */
export class Softmax extends Activation {
  constructor(axis = -1) {
    super((x) => softmax(x, axis), `axis ${axis}`);
  }
}

/** x − ln Σeˣ along an axis, the last by default. x: f32[...] → the same. */
export class LogSoftmax extends Activation {
  constructor(axis = -1) {
    super((x) => logSoftmax(x, axis), `axis ${axis}`);
  }
}
