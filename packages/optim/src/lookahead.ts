/**
 * Averages around an optimizer: Lookahead's slow weights, and the mean of a course of weights
 * (SWA). Both record their assignments in the current trace, like an optimizer's step.
 */
import {
  assign,
  checkOptions,
  currentValue,
  GraphError,
  heldValue,
  kindOf,
  type OptionNames,
  param,
  promote,
  Stateful,
  select,
  type Tensor,
  zerosLeaf,
} from "@kiln-ml/ir";
import { checkRange } from "./check.ts";
import { type ApplyOptions, Optimizer } from "./optimizer.ts";
import { polyak } from "./polyak.ts";

const counter = (name: string): Tensor => param(zerosLeaf("f32", []), { name, trainable: false });

function checkCount(op: string, what: string, value: number, least: number): void {
  if (!(Number.isSafeInteger(value) && value >= least))
    throw new GraphError(
      `${op}: ${what} must be an integer of ${least} or more, got ${kindOf(value)}\n  give a whole number of steps; what is left out has its default`,
    );
}

export interface LookaheadOptions {
  /** Steps of the optimizer between those of the slow weights, default 5. */
  readonly k?: number;
  /** Share of the way to the fast weights, default 0.5. */
  readonly alpha?: number;
  /** Prefix of the names of state, default "lookahead". */
  readonly name?: string;
}

const lookaheadOptions: OptionNames<LookaheadOptions> = { k: 1, alpha: 1, name: 1 };

/**
 * Steps as `optimizer` does, and after each kth step φ ← φ + alpha·(θ − φ), θ ← φ. The slow weights
 * φ begin as what the parameters are before the first step; a step that is skipped by `when` does
 * not count.
 *
 * One more tensor a parameter. Throws GraphError for options out of range. Zhang et al. 2019,
 * alg. 1. `optax.lookahead`; no counterpart in PyTorch.
 *
 * @example
 *   const w = param([1, -1]);
 *   const sgd = new optim.SGD([w], { lr: 0.1 });
 *   const optimizer = new optim.Lookahead(sgd, { k: 1, alpha: 0.5 });
 *   await compile(() => optimizer.step(w.square().sum()))();
 *   w // [0.9, −0.9]; half of the way from 1 to 0.8
 */
export class Lookahead extends Stateful {
  readonly optimizer: Optimizer;
  readonly k: number;
  readonly alpha: number;
  readonly #name: string;
  readonly #count: Tensor;
  readonly #slow = new Map<Tensor, Tensor>();

  constructor(optimizer: Optimizer, options: LookaheadOptions = {}) {
    super();
    if (!(optimizer instanceof Optimizer))
      throw new GraphError(`lookahead: takes an optimizer first, got ${kindOf(optimizer)}`);
    const { k = 5, alpha = 0.5, name } = checkOptions("lookahead", options, lookaheadOptions);
    checkCount("lookahead", "k", k, 1);
    checkRange("lookahead", "alpha", alpha, 0, Infinity);
    this.optimizer = optimizer;
    this.k = k;
    this.alpha = alpha;
    this.#name = name ?? "lookahead";
    this.#count = counter(`${this.#name}.step`);
    for (const [i, p] of optimizer.params.entries()) this.#slow.set(p, this.#slowOf(p, i));
  }

  get params(): Tensor[] {
    return this.optimizer.params;
  }

  get rate(): Tensor {
    return this.optimizer.rate;
  }

  /** As `Optimizer.step`. */
  step(loss: Tensor): void {
    this.#around(() => this.optimizer.step(loss));
  }

  gradients(loss: Tensor): (Tensor | undefined)[] {
    return this.optimizer.gradients(loss);
  }

  /** As `Optimizer.apply`. */
  apply(grads: readonly (Tensor | undefined)[], options: ApplyOptions = {}): void {
    this.#around(() => this.optimizer.apply(grads, options), options.when);
  }

  checkpoint(): Map<string, Tensor> {
    const own = [this.#count, ...this.#slow.values()].map(
      (t) => [String(t.attrs.name), t] as const,
    );
    return new Map([...this.optimizer.checkpoint(), ...own]);
  }

  #slowOf(p: Tensor, place: number): Tensor {
    const shape = p.shape as number[];
    const name = `${this.#name}.${place}.${String(p.attrs.name)}`;
    const dtype = promote(p.dtype, "f32");
    return param(zerosLeaf(dtype, shape), { name, trainable: false });
  }

  #around(step: () => void, when?: Tensor): void {
    // Held, as a read of a parameter after the step would be of its new value.
    const before = this.params.map(heldValue);
    step();
    const kept = (value: Tensor, old: Tensor) => (when ? select(when, value, old) : value);
    const old = currentValue(this.#count);
    const count = old.add(1);
    const due = count.rem(this.k).equal(0);
    for (const [i, p] of this.params.entries()) {
      const slow = this.#slow.get(p)!;
      const was = currentValue(slow);
      const start = select(count.equal(1), before[i]!.convert(slow.dtype), was);
      const fast = currentValue(p);
      const next = select(due, start.lerp(fast.convert(slow.dtype), this.alpha), start);
      assign(slow, kept(next, was));
      assign(p, kept(select(due, next.convert(p.dtype), fast), fast));
    }
    assign(this.#count, kept(count, old));
  }
}

export interface SwaOptions {
  /** Calls of `update` before the first that counts, default 0. */
  readonly start?: number;
  /** Every how many calls one counts, default 1. */
  readonly every?: number;
  /** Prefix of the names of state, default "swa". */
  readonly name?: string;
}

const swaOptions: OptionNames<SwaOptions> = { start: 1, every: 1, name: 1 };

/**
 * θ′ ← θ′ + (θ − θ′)/(n + 1) for all state of `target`, from that of `source` of the same name, n
 * being how often that was done: the even mean of a course of weights, of running statistics too.
 * The first time copies.
 *
 * `update` is called at each step, or each epoch, in a trace or outside. Throws GraphError where
 * names differ or options are out of range. Izmailov et al. 2018, alg. 1;
 * torch.optim.swa_utils.AveragedModel, which leaves buffers alone.
 *
 * @example
 *   const [net, mean] = [new nn.Linear(1, 1), new nn.Linear(1, 1)];
 *   const average = new optim.SWA(mean, net, { start: 0, every: 1 });
 *   await compile(() => average.update())();
 *   allClose(mean.weight, net.weight) // true; the mean of one
 */
export class SWA extends Stateful {
  readonly target: Stateful;
  readonly source: Stateful;
  readonly start: number;
  readonly every: number;
  readonly #calls: Tensor;

  constructor(target: Stateful, source: Stateful, options: SwaOptions = {}) {
    super();
    const { start = 0, every = 1, name = "swa" } = checkOptions("swa", options, swaOptions);
    for (const holder of [target, source])
      if (!(holder instanceof Stateful))
        throw new GraphError(`swa: takes two modules, got ${kindOf(holder)}`);
    checkCount("swa", "start", start, 0);
    checkCount("swa", "every", every, 1);
    this.target = target;
    this.source = source;
    this.start = start;
    this.every = every;
    this.#calls = counter(`${name}.calls`);
  }

  /** Takes the present weights into the mean, if this call is one that counts. */
  update(): void {
    const calls = currentValue(this.#calls);
    const past = calls.sub(this.start);
    const due = past.greaterEqual(0).and(past.rem(this.every).equal(0));
    const done = past
      .mul(1 / this.every)
      .add(0.5 / this.every)
      .floor();
    polyak(this.target, this.source, select(due, done.maximum(0).add(1).reciprocal(), 0));
    assign(this.#calls, calls.add(1));
  }

  checkpoint(): Map<string, Tensor> {
    return new Map([[String(this.#calls.attrs.name), this.#calls]]);
  }
}
