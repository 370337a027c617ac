/** Activations by the names that configurations have for them. */

import type { Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import type { Field } from "../file/field.ts";
import { isIdle, type Layer } from "./layer.ts";

type Activation = (x: Tensor) => Tensor;

/** A fifth of x and a half, between 0 and 1. */
const hardSigmoid: Activation = (x) => ir.clamp(ir.add(ir.mul(x, 0.2), 0.5), 0, 1);

const activations: Readonly<Record<string, Activation>> = {
  linear: (x) => x,
  elu: ir.elu,
  exponential: ir.exp,
  gelu: ir.gelu,
  gelu_new: ir.geluTanh,
  hard_sigmoid: hardSigmoid,
  hardSigmoid,
  leaky_relu: (x) => ir.leakyRelu(x, 0.2),
  logSoftmax: (x) => ir.logSoftmax(x, -1),
  log_softmax: (x) => ir.logSoftmax(x, -1),
  mish: ir.mish,
  relu: ir.relu,
  relu6: ir.relu6,
  selu: ir.selu,
  sigmoid: ir.sigmoid,
  silu: ir.silu,
  softmax: (x) => ir.softmax(x, -1),
  softplus: ir.softplus,
  softsign: ir.softsign,
  swish: ir.silu,
  tanh: ir.tanh,
};

/** The function that a serialised object names; a layer's own settings would be left unread. */
function serialised({ n }: Layer, field: Field): string {
  const className = field.get("class_name").text();
  const config = field.maybe("config");
  if (className === "function" && config?.isText) return config.text();
  const settings = config?.isRecord ? config.entries().filter(([key]) => !isIdle(key)) : [];
  if (settings.length)
    n.fail(`the activation ${className} has settings of its own: ${JSON.stringify(config!.value)}`);
  return className;
}

/** The activation that a field names, by text or as a serialised object. */
export function activationOf(layer: Layer, name: string, fallback = "linear"): Activation {
  const { n, config } = layer;
  const field = config.maybe(name);
  const given =
    field === undefined ? fallback : field.isText ? field.text() : serialised(layer, field);
  if (Object.hasOwn(activations, given)) return activations[given]!;
  const lower = given.toLowerCase();
  if (Object.hasOwn(activations, lower)) return activations[lower]!;
  return n.fail(`the activation ${given} is unknown`);
}
