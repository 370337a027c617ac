/**
 * Optimizers by their options alone, for whoever has the parameters later: `train.fit` calls them
 * with those of its model.
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

/**
 * `(params) => new SGD(params, options)`. Throws GraphError for an option that there is not.
 * `optax.sgd`.
 *
 * @param options As of `SGD`.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = optim.sgd({ lr: 0.1 })([w]);
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.8, −0.8]; w − 0.1·2·w
 */
export const sgd: (options: SgdOptions) => OptimizerMaker = maker(
  "sgd",
  sgdOptions,
  (params, options) => new SGD(params, options),
);

/**
 * `(params) => new Adam(params, options)`. Throws GraphError for an option that there is not.
 * `optax.adam`.
 *
 * @param options As of `Adam`.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = optim.adam({ lr: 0.1 })([w]);
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.9, −0.9]; a first step is lr
 */
export const adam: (options: AdamOptions) => OptimizerMaker = maker(
  "adam",
  adamOptions,
  (params, options) => new Adam(params, options),
);

/**
 * `(params) => new AdamW(params, options)`. Throws GraphError for an option that there is not.
 * `optax.adamw`.
 *
 * @param options As of `AdamW`.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = optim.adamW({ lr: 0.1, weightDecay: 0.5 })([w]);
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.85, −0.85]; w·(1 − 0.1·0.5) − 0.1
 */
export const adamW: (options: AdamWOptions) => OptimizerMaker = maker(
  "adamw",
  adamWOptions,
  (params, options) => new AdamW(params, options),
);

/**
 * `(params) => new RMSProp(params, options)`. Throws GraphError for an option that there is not.
 * `optax.rmsprop`.
 *
 * @param options As of `RMSProp`.
 * @example
 *   const w = param([1, -1]);
 *   const optimizer = optim.rmsProp({ lr: 0.01 })([w]);
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.9, −0.9]; g/√((1 − 0.99)·g²) is 10
 */
export const rmsProp: (options: RmsPropOptions) => OptimizerMaker = maker(
  "rmsprop",
  rmsPropOptions,
  (params, options) => new RMSProp(params, options),
);
