/**
 * Activations as layers and by name. The functions are the IR's composites; a layer only holds their options.
 */
import {
  celu,
  elu,
  gelu,
  GraphError,
  hardSigmoid,
  hardSwish,
  hardTanh,
  leakyRelu,
  logSigmoid,
  mish,
  relu6,
  relu,
  selu,
  sigmoid,
  silu,
  softplus,
  softsign,
  tanh,
  type Tensor,
} from "@kiln-ml/ir";
import { Module } from "./module.ts";
