/**
 * Activations as layers and by name. The functions are the IR's composites; a layer only holds
 * their options.
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

/**
 * The function of a name. Throws GraphError listing the names if there is none.
 * `keras.activations.get`.
 *
 * @param name As of `new nn.Dense(units, { activation })`: "relu", "gelu", "silu", …
 * @example
 *   nn.activationOf("relu")(tensor([-1, 2])) // [0, 2]
 */
export function activationOf(name: ActivationName): (x: Tensor) => Tensor {
  if (typeof name !== "string" || !Object.hasOwn(named, name))
    throw new GraphError(
      `activation: unknown name ${kindOf(name)}\n  known: ${Object.keys(named).join(", ")}`,
    );
  return named[name];
}

/**
 * A class for an activation that has no options. Calls are marked pure, so that a page keeps those
 * that it names.
 */
const plain = (fn: (x: Tensor) => Tensor): (new () => Layer) =>
  class extends Activation {
    constructor() {
      super(fn);
    }
  };

/**
 * `relu` as a layer. x: f32[...] → the same. `torch.nn.ReLU`.
 * @example
 *   new nn.ReLU().forward(tensor([-2, 3])) // [0, 3]
 */
export class ReLU extends /* @__PURE__ */ plain(relu) {}
/**
 * `relu6` as a layer. x: f32[...] → the same. `torch.nn.ReLU6`.
 * @example
 *   new nn.ReLU6().forward(tensor([-2, 3, 9])) // [0, 3, 6]
 */
export class ReLU6 extends /* @__PURE__ */ plain(relu6) {}
/**
 * `selu` as a layer. x: f32[...] → the same. `torch.nn.SELU`.
 * @example
 *   new nn.SELU().forward(tensor([1, -1])) // [1.0507, −1.1113]
 */
export class SELU extends /* @__PURE__ */ plain(selu) {}
/**
 * `silu` as a layer. x: f32[...] → the same. `torch.nn.SiLU`.
 * @example
 *   new nn.SiLU().forward(tensor([0, 1])) // [0, 0.73106]
 */
export class SiLU extends /* @__PURE__ */ plain(silu) {}
/**
 * `mish` as a layer. x: f32[...] → the same. `torch.nn.Mish`.
 * @example
 *   new nn.Mish().forward(tensor([0, 1])) // [0, 0.8651]
 */
export class Mish extends /* @__PURE__ */ plain(mish) {}
/**
 * `sigmoid` as a layer. x: f32[...] → the same. `torch.nn.Sigmoid`.
 * @example
 *   new nn.Sigmoid().forward(tensor([0, 2])) // [½, 0.8808]
 */
export class Sigmoid extends /* @__PURE__ */ plain(sigmoid) {}
/**
 * `tanh` as a layer. x: f32[...] → the same. `torch.nn.Tanh`.
 * @example
 *   new nn.Tanh().forward(tensor([0, 1])) // [0, 0.76159]
 */
export class Tanh extends /* @__PURE__ */ plain(tanh) {}
/**
 * `softplus` as a layer. x: f32[...] → the same. `torch.nn.Softplus`.
 * @example
 *   new nn.Softplus().forward(tensor([0, 100])) // [ln 2, 100]
 */
export class Softplus extends /* @__PURE__ */ plain(softplus) {}
/**
 * `softsign` as a layer. x: f32[...] → the same. `torch.nn.Softsign`.
 * @example
 *   new nn.Softsign().forward(tensor([1, -3])) // [½, −0.75]
 */
export class Softsign extends /* @__PURE__ */ plain(softsign) {}
/**
 * `hardSigmoid` as a layer. x: f32[...] → the same. `torch.nn.Hardsigmoid`.
 * @example
 *   new nn.HardSigmoid().forward(tensor([-3, 0, 3])) // [0, ½, 1]
 */
export class HardSigmoid extends /* @__PURE__ */ plain(hardSigmoid) {}
/**
 * `hardSwish` as a layer. x: f32[...] → the same. `torch.nn.Hardswish`.
 * @example
 *   new nn.HardSwish().forward(tensor([-3, 1, 3])) // [0, 0.66667, 3]
 */
export class HardSwish extends /* @__PURE__ */ plain(hardSwish) {}
/**
 * `logSigmoid` as a layer. x: f32[...] → the same. `torch.nn.LogSigmoid`.
 * @example
 *   new nn.LogSigmoid().forward(tensor([0, -100])) // [−0.69315, −100]
 */
export class LogSigmoid extends /* @__PURE__ */ plain(logSigmoid) {}

/**
 * x where x > 0, else slope·x. `torch.nn.LeakyReLU`.
 *
 * @param slope The slope below 0.
 * @example
 *   new nn.LeakyReLU(0.1).forward(tensor([2, -1])) // [2, −0.1]
 */
export class LeakyReLU extends Activation {
  constructor(slope = 0.01) {
    super((x) => leakyRelu(x, slope), [slope]);
  }
}

/**
 * x where x > 0, else alpha·(eˣ − 1). x: f32[...] → the same. Clevert et al. 2016. `torch.nn.ELU`.
 *
 * @param alpha The scale of the part below 0.
 * @example
 *   new nn.ELU().forward(tensor([2, -1])) // [2, −0.63212]
 */
export class ELU extends Activation {
  constructor(alpha = 1) {
    super((x) => elu(x, alpha), [alpha]);
  }
}

/**
 * x where x > 0, else alpha·(e^(x/alpha) − 1). x: f32[...] → the same. Barron 2017.
 * `torch.nn.CELU`.
 *
 * @param alpha The scale of the part below 0.
 * @example
 *   new nn.CELU().forward(tensor([2, -1])) // [2, −0.63212]
 */
export class CELU extends Activation {
  constructor(alpha = 1) {
    super((x) => celu(x, alpha), [alpha]);
  }
}

/**
 * x·Φ(x), or its approximation by tanh. `torch.nn.GELU`.
 *
 * @param approximate "tanh" for the approximation.
 * @example
 *   new nn.GELU().forward(tensor([-1, 0, 1])) // [−0.15866, 0, 0.84134]
 *   new nn.GELU("tanh").forward(tensor([1])) // [0.84119]
 */
export class GELU extends Activation {
  constructor(approximate: "none" | "tanh" = "none") {
    super(approximate === "tanh" ? geluTanh : gelu, approximate === "tanh" ? ["tanh"] : []);
  }
}

/**
 * x clamped to low … high, −1 … 1 by default. x: f32[...] → the same. `torch.nn.Hardtanh`.
 *
 * @param low The lower bound.
 * @param high The upper bound.
 * @example
 *   new nn.HardTanh().forward(tensor([-2, 0.5, 2])) // [−1, 0.5, 1]
 */
export class HardTanh extends Activation {
  constructor(low = -1, high = 1) {
    super((x) => hardTanh(x, low, high), [low, high], `${low} … ${high}`);
  }
}

/**
 * eˣ/Σeˣ along an axis, the last by default. x: f32[...] → the same. `torch.nn.Softmax`.
 *
 * @param axis The axis; the last by default.
 * @example
 *   new nn.Softmax().forward(tensor([[0, 0], [0, 1000]])) // [[½, ½], [0, 1]]
 */
export class Softmax extends Activation {
  constructor(axis = -1) {
    super((x) => softmax(x, axis), [axis], `axis ${axis}`);
  }
}

/**
 * x − ln Σeˣ along an axis, the last by default. x: f32[...] → the same. `torch.nn.LogSoftmax`.
 *
 * @param axis The axis, negative ones from the end; the last by default.
 * @example
 *   new nn.LogSoftmax().forward(tensor([0, 0])) // [−0.69315, −0.69315]
 */
export class LogSoftmax extends Activation {
  constructor(axis = -1) {
    super((x) => logSoftmax(x, axis), [axis], `axis ${axis}`);
  }
}
