/**
 * Activation functions, element by element. The formulas are those of the ONNX operator list; names of attributes too.
 */
import {
  celu,
  clamp,
  elu,
  gelu,
  geluTanh,
  hardSwish,
  mish,
  relu,
  reshape,
  roundedOnce,
  select,
  softplus,
  softsign,
  type Tensor,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { microsoft, type Row, row } from "../row.ts";

/** A row of a function of the input and of float attributes with defaults. Halves are computed in f32 and rounded once. */
const activation = (
  op: string,
  defaults: Readonly<Record<string, number>>,
  f: (x: Tensor, ...attributes: number[]) => Tensor,
): Row =>
  row(op, (n) =>
    roundedOnce([n.tensor(0)], (x) =>
      f(x, ...Object.entries(defaults).map(([name, value]) => n.float(name, value))),
    ),
  );

/** Slopes broadcast to x; before opset 7 a vector of slopes is one a channel. */
function prelu(n: NodeContext): Tensor {
  const [x, given] = [n.tensor(0), n.tensor(1)];
  const perChannel = n.opset < 7 && given.rank === 1 && given.shape[0] !== 1 && x.rank > 2;
  const slope = perChannel
    ? reshape(given, [...given.shape, ...new Array<number>(x.rank - 2).fill(1)])
    : given;
  return select(x.less(0), x.mul(slope), x);
}

/** 0 within [−lambd, lambd], outside moved toward 0 by `bias`. Integers stay integers. */
function shrink(x: Tensor, lambd: number, bias: number): Tensor {
  const moved = select(x.less(-lambd), x.add(bias), select(x.greater(lambd), x.sub(bias), 0));
  return moved.convert(x.dtype);
}

function geluOf(n: NodeContext): Tensor {
  const approximate = n.string("approximate", "none");
  if (approximate === "tanh") return geluTanh(n.tensor(0));
  return approximate === "none"
    ? gelu(n.tensor(0))
    : n.fail(`approximate is "${approximate}", not none or tanh`);
}

/** Of the input and what is added to it. */
const biased = (n: NodeContext, f: (x: Tensor) => Tensor): Tensor =>
  roundedOnce([n.tensor(0), n.maybe(1)], (x, bias) => f(bias ? x.add(bias) : x));

const swish = (x: Tensor, alpha: number): Tensor => x.mul(x.mul(alpha).sigmoid());

export const activationRows: readonly Row[] = [
  row("Relu", (n) => relu(n.tensor(0))),
  row("Sigmoid", (n) => n.tensor(0).sigmoid()),
  row("Softplus", (n) => softplus(n.tensor(0))),
  row("Softsign", (n) => softsign(n.tensor(0))),
  row("HardSwish", (n) => hardSwish(n.tensor(0))),
  row("Mish", (n) => mish(n.tensor(0))),
  row("Gelu", geluOf),
  row("PRelu", prelu),
  activation("Elu", { alpha: 1 }, elu),
  activation("Celu", { alpha: 1 }, celu),
  activation("Selu", { alpha: 1.6732632423543772, gamma: 1.0507009873554805 }, (x, alpha, gamma) =>
    elu(x, alpha!).mul(gamma!),
  ),
  activation("LeakyRelu", { alpha: 0.01 }, (x, alpha) => select(x.less(0), x.mul(alpha!), x)),
  activation("ThresholdedRelu", { alpha: 1 }, (x, alpha) => select(x.greater(alpha!), x, 0)),
  activation("HardSigmoid", { alpha: 0.2, beta: 0.5 }, (x, alpha, beta) =>
    clamp(x.mul(alpha!).add(beta!), 0, 1),
  ),
  activation("Shrink", { lambd: 0.5, bias: 0 }, (x, lambd, bias) => shrink(x, lambd!, bias!)),
  activation("Swish", { alpha: 1 }, (x, alpha) => swish(x, alpha!)),
  // Of opset 1, in files of the first exporters.
  activation("ScaledTanh", { alpha: 1, beta: 1 }, (x, alpha, beta) =>
    x.mul(beta!).tanh().mul(alpha!),
  ),
  activation("ParametricSoftplus", { alpha: 1, beta: 1 }, (x, alpha, beta) =>
    softplus(x.mul(beta!)).mul(alpha!),
  ),
  activation("Scale", { scale: 1 }, (x, scale) => x.mul(scale!)),
  activation("Affine", { alpha: 1, beta: 0 }, (x, alpha, beta) => x.mul(alpha!).add(beta!)),
  microsoft("Gelu", (n) => gelu(n.tensor(0))),
  microsoft("QuickGelu", (n) =>
    roundedOnce([n.tensor(0)], (x) => swish(x, n.float("alpha", 1.702))),
  ),
  microsoft("FastGelu", (n) => biased(n, geluTanh)),
  microsoft("BiasGelu", (n) => biased(n, gelu)),
];
