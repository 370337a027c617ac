/**
 * The activations that recurrent ops name in their attributes, with their parameters alpha and beta.
 */
import {
  elu,
  leakyRelu,
  maximum,
  minimum,
  relu,
  select,
  softplus,
  softsign,
  type Tensor,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";

export type Activation = (x: Tensor) => Tensor;

/** By lower-case name: from alpha and beta to a function. Defaults are ONNX's. */
const known: Readonly<Record<string, (alpha?: number, beta?: number) => Activation>> = {
  relu: () => relu,
  tanh: () => (x) => x.tanh(),
  sigmoid: () => (x) => x.sigmoid(),
  affine:
    (a = 1, b = 0) =>
    (x) =>
      x.mul(a).add(b),
  leakyrelu:
    (a = 0.01) =>
    (x) =>
      leakyRelu(x, a),
  thresholdedrelu:
    (a = 1) =>
    (x) =>
      select(x.greaterEqual(a), x, 0),
  scaledtanh:
    (a = 1, b = 1) =>
    (x) =>
      x.mul(b).tanh().mul(a),
  hardsigmoid:
    (a = 0.2, b = 0.5) =>
    (x) =>
      maximum(0, minimum(1, x.mul(a).add(b))),
  elu:
    (a = 1) =>
    (x) =>
      elu(x, a),
  softsign: () => softsign,
  softplus: () => softplus,
};

/** Activation `i` of the node's list, or `fallback` where there is no list. */
export function activation(n: NodeContext, i: number, fallback: string): Activation {
  const name = n.strings("activations", [])[i] ?? fallback;
  const make = known[name.toLowerCase()];
  if (!make) return n.fail(`activation ${name} is not one of ${Object.keys(known).join(", ")}`);
  return make(n.floats("activation_alpha", [])[i], n.floats("activation_beta", [])[i]);
}
