/**
 * Optimizers by their options alone, for whoever has the parameters later: `train.fit` calls them with those of its model.
 */
import { checkOptions, type OptionNames, type Tensor } from "@kiln-ml/ir";
import {
  Adam,
  type AdamOptions,
  AdamW,
  type AdamWOptions,
  adamOptions,
  adamWOptions,
} from "./adam.ts";
import type { ParamGroup } from "./members.ts";
import type { Optimizer } from "./optimizer.ts";
import { RMSProp, type RmsPropOptions, rmsPropOptions } from "./rmsprop.ts";
import { SGD, type SgdOptions, sgdOptions } from "./sgd.ts";

/** Makes an optimizer of parameters. */
export type OptimizerMaker = (params: Iterable<Tensor> | Iterable<ParamGroup>) => Optimizer;

/** Names of options are checked at once, their values when there are parameters. */
const maker =
  <O extends object>(
    op: string,
    names: OptionNames<O>,
    make: (params: Iterable<Tensor> | Iterable<ParamGroup>, options: O) => Optimizer,
  ): ((options: O) => OptimizerMaker) =>
  (options) => {
    checkOptions(op, options, names);
    return (params) => make(params, options);
  };

/** `(params) => new SGD(params, options)`. Throws GraphError for an option that there is not. */
export const sgd: (options: SgdOptions) => OptimizerMaker = maker(
  "sgd",
  sgdOptions,
  (params, options) => new SGD(params, options),
);

/** `(params) => new Adam(params, options)`. Throws GraphError for an option that there is not. */
export const adam: (options: AdamOptions) => OptimizerMaker = maker(
  "adam",
  adamOptions,
  (params, options) => new Adam(params, options),
);

/** `(params) => new AdamW(params, options)`. Throws GraphError for an option that there is not. */
export const adamW: (options: AdamWOptions) => OptimizerMaker = maker(
  "adamw",
  adamWOptions,
  (params, options) => new AdamW(params, options),
);

/** `(params) => new RMSProp(params, options)`. Throws GraphError for an option that there is not. */
export const rmsProp: (options: RmsPropOptions) => OptimizerMaker = maker(
  "rmsprop",
  rmsPropOptions,
  (params, options) => new RMSProp(params, options),
);
