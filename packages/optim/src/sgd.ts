/**
 * Gradient descent with momentum.
 */
import {
  assign,
  checkOptions,
  constant,
  GraphError,
  type OptionNames,
  select,
  type Tensor,
} from "@kiln-ml/ir";
import { checkRange } from "./check.ts";
import { regularised } from "./decay.ts";
import type { ParamGroup } from "./members.ts";
import { Optimizer, type OptimizerOptions, optimizerOptions, type Update } from "./optimizer.ts";

export interface SgdOptions extends OptimizerOptions {
  /** Share of the last velocity that is kept, default 0: no velocity. */
  readonly momentum?: number;
  /** Share of the gradient that is left out of the velocity after the first step, default 0. */
  readonly dampening?: number;
  /** Looks ahead along the velocity. Needs momentum, and no dampening. */
  readonly nesterov?: boolean;
}

export const sgdOptions: OptionNames<SgdOptions> = {
  ...optimizerOptions,
  momentum: 1,
  dampening: 1,
  nesterov: 1,
};

/**
 * v ← μ·v + (1 − d)·g, w ← w − lr·v, where g has weightDecay·w added and the first v is g itself;
 * with `nesterov`, w ← w − lr·(g + μ·v). Throws GraphError for options out of range. Sutskever et
 * al. 2013; velocity in units of the gradient, as in `torch.optim.SGD`.
 *
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const w = param([1, 2]);
 *   const optimizer = new optim.SGD([w], { lr: 0.1, momentum: 0.9 });
 *   const step = compile(() => optimizer.step(w.square().sum()));
 *   await step();
 *   w // [0.8, 1.6]; w − 0.1·2·w
 */
export class SGD extends Optimizer {
  readonly momentum: number;
  readonly dampening: number;
  readonly nesterov: boolean;

  constructor(params: Iterable<Tensor> | Iterable<ParamGroup>, options: SgdOptions) {
    super("sgd", params, checkOptions("sgd", options, sgdOptions));
    this.momentum = options.momentum ?? 0;
    this.dampening = options.dampening ?? 0;
    this.nesterov = options.nesterov ?? false;
    checkRange("sgd", "momentum", this.momentum, 0, Infinity);
    checkRange("sgd", "dampening", this.dampening, 0, Infinity);
    if (this.nesterov && !(this.momentum > 0 && this.dampening === 0))
      throw new GraphError(
        `sgd: nesterov needs momentum and no dampening, got momentum ${this.momentum}, dampening ${this.dampening}\n  set momentum to 0.9, say, and leave dampening out`,
      );
  }

  protected override get counts(): boolean {
    return this.momentum > 0 && this.dampening > 0;
  }

  protected override update(update: Update): Tensor {
    const { param, value, lr, count } = update;
    const g = regularised(update);
    if (this.momentum === 0) return value.sub(g.mul(lr));
    const velocity = this.state(param, "velocity");
    // The velocity starts at zero, so only dampening tells the first step from the others.
    const share = this.dampening
      ? select(count.equal(1), constant(1, count.dtype), 1 - this.dampening)
      : undefined;
    const moved = velocity.mul(this.momentum).add(share ? g.mul(share) : g);
    const next = this.kept(moved, velocity);
    assign(velocity, next);
    return value.sub((this.nesterov ? g.add(next.mul(this.momentum)) : next).mul(lr));
  }
}
