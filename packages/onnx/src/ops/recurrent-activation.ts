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

/** How many of alpha and beta each takes out of the node's lists; the others take none. */
const taken: Readonly<Record<string, number>> = {
  affine: 2,
  leakyrelu: 1,
  thresholdedrelu: 1,
  scaledtanh: 2,
  hardsigmoid: 2,
  elu: 1,
};

/** Activation `i` of the node's list, or `fallback` where there is no list. */
export function activation(n: NodeContext, i: number, fallback: string): Activation {
  const names = n.strings("activations", []);
  const name = names[i] ?? fallback;
  const make = known[name.toLowerCase()];
  if (!make) return n.fail(`activation ${name} is not one of ${Object.keys(known).join(", ")}`);
  const parameter = (list: string, rank: number): number | undefined => {
    const takes = (other: string) => (taken[other.toLowerCase()] ?? 0) >= rank;
    const place = names.slice(0, i).filter(takes).length;
    return takes(name) ? n.floats(list, [])[place] : undefined;
  };
  return make(parameter("activation_alpha", 1), parameter("activation_beta", 2));
}
