/**
 * What all optimizers share: groups of parameters, gradients, clipping, the step counter, the rate, and names of
 * state. A subclass says how one parameter moves. Everything is graph: `step` records assignments in the current
 * trace, elementwise over each parameter with scalars that come from the counter, so updates fuse.
 */
import {
  assign,
  constant,
  currentValue,
  type Dtype,
  GraphError,
  grad,
  param,
  printShape,
  promote,
  ShapeError,
  Stateful,
  sameShape,
  select,
  type Tensor,
  tensor,
  trace,
  zerosLike,
} from "@kiln-ml/ir";
import { checkPositive } from "./check.ts";
import { clipByGlobalNorm, clipByValue } from "./clip.ts";
import { type Member, membersOf, type ParamGroup } from "./members.ts";
import type { Rate } from "./schedule.ts";

export interface OptimizerOptions {
  readonly lr: Rate;
  /** Share of the parameter that is added to its gradient (or decays, in AdamW). */
  readonly weightDecay?: number;
  /** Scales all gradients so that their common norm is at most this. */
  readonly clipNorm?: number;
  /** Bounds every element of a gradient. */
  readonly clipValue?: number;
  /** Prefix of the names of state; the kind of optimizer by default. */
  readonly name?: string;
}

export interface ApplyOptions {
  /** bool[]: where it is false, parameters and state stay as they are. */
  readonly when?: Tensor;
}

/** One parameter at work in one step: its value, gradient and scalars, all in the dtype of the arithmetic. */
export interface Move {
  readonly param: Tensor;
  readonly value: Tensor;
  readonly grad: Tensor;
  readonly lr: Tensor;
  readonly weightDecay: number;
  /** Steps including this one: 1 at the first. */
  readonly count: Tensor;
}

export abstract class Optimizer extends Stateful {
  readonly kind: string;
  readonly options: OptimizerOptions;
  readonly #members: Member[];
  readonly #state = new Map<string, Tensor>();
  #when: Tensor | undefined;

  constructor(
    kind: string,
    params: Iterable<Tensor> | Iterable<ParamGroup>,
    options: OptimizerOptions,
  ) {
    super();
    this.kind = kind;
    this.options = options;
    for (const what of ["clipNorm", "clipValue"] as const)
      if (options[what] !== undefined) checkPositive(kind, what, options[what]);
    this.#members = membersOf(kind, params, options);
    if (!this.#members.length)
      throw new GraphError(
        `${kind}: no parameters to train, needs one or more\n  pass the parameters() of a module; frozen ones do not count`,
      );
  }

  /**
   * The new value of one parameter. State is read and assigned through `this.state`, its new value being `this.kept(new, old)`:
   * that is also what the parameter's value is made of.
   */
  protected abstract move(move: Move): Tensor;

  /** True if the maths of the optimizer needs the number of the step; a schedule needs it anyhow. */
  protected get counts(): boolean {
    return false;
  }

  /** The trainable parameters, in order. */
  get params(): Tensor[] {
    return this.#members.map((m) => m.param);
  }

  /** All state made so far, by name: moments after the first step, and the counter. */
  get states(): ReadonlyMap<string, Tensor> {
    return this.#state;
  }

  /** `states`; those that the first step makes are made if there was none. */
  checkpoint(): Map<string, Tensor> {
    if (!this.#state.size) trace(() => this.apply(this.params.map(zerosLike)));
    return new Map(this.#state);
  }

  /**
   * One step down the gradient of `loss` (a scalar). Throws ShapeError for a loss that is no scalar, GraphError
   * naming the parameters that do not reach it.
   */
  step(loss: Tensor): void {
    if (loss.rank !== 0)
      throw new ShapeError(
        `${this.kind}: loss must be a scalar, got ${printShape(loss.shape)}\n  take its mean or sum first`,
      );
    this.apply(grad(loss, this.params));
  }

  /** One step along the given gradients, one for each of `params`, in their order. */
  apply(grads: readonly Tensor[], options: ApplyOptions = {}): void {
    this.#check(grads);
    this.#when = options.when;
    try {
      this.#move(grads);
    } finally {
      this.#when = undefined;
    }
  }

  #move(grads: readonly Tensor[]): void {
    const counter = this.#counter();
    const clipped = this.#clip(grads);
    // All values are read before any is assigned: the moves are simultaneous.
    const moves = this.#members.map((member, i): Move => {
      const dtype = promote(member.param.dtype, "f32");
      return {
        param: member.param,
        value: currentValue(member.param).convert(dtype),
        grad: clipped[i]!.convert(dtype),
        lr: this.#rate(member.lr, counter, dtype),
        weightDecay: member.weightDecay,
        count: (counter?.count ?? constant(1)).convert(dtype),
      };
    });
    const values = moves.map((m) => this.move(m));
    for (const [i, { param }] of moves.entries())
      assign(param, this.kept(values[i]!.convert(param.dtype), currentValue(param)));
    if (counter) assign(counter.state, this.kept(counter.count, counter.before));
  }

  /** `value`, or `old` where the step is skipped. */
  protected kept(value: Tensor, old: Tensor): Tensor {
    return this.#when ? select(this.#when, value, old) : value;
  }

  /** State for `target`: `count` tensors of its shape, stacked, made at first use as zeros in f32 (or f64). */
  protected state(target: Tensor, what: string, count = 1): Tensor {
    const member = this.#members.find((m) => m.param === target)!;
    const shape = [...(count > 1 ? [count] : []), ...(target.shape as number[])];
    return this.#made(`${this.#prefix}.${member.name}.${what}`, shape, target);
  }

  get #prefix(): string {
    return this.options.name ?? this.kind;
  }

  #made(name: string, shape: readonly number[], like?: Tensor): Tensor {
    const found = this.#state.get(name);
    if (found) return found;
    const dtype = like ? promote(like.dtype, "f32") : "f32";
    const size = shape.reduce((a, b) => a * b, 1);
    const zeros = tensor(new Float32Array(size), { dtype, shape });
    const made = param(zeros, { name, trainable: false });
    this.#state.set(name, made);
    return made;
  }

  /** The counter is f32, exact up to 2²⁴ steps. Not made unless something reads it. */
  #counter(): { state: Tensor; before: Tensor; count: Tensor } | undefined {
    if (!this.counts && !this.#members.some((m) => typeof m.lr === "function")) return undefined;
    const state = this.#made(`${this.#prefix}.step`, []);
    const before = currentValue(state);
    return { state, before, count: before.add(1) };
  }

  /** Nodes are interned, so members with one rate share it. */
  #rate(lr: Rate, counter: { before: Tensor } | undefined, dtype: Dtype): Tensor {
    if (typeof lr === "number") return constant(lr, dtype);
    const value = typeof lr === "function" ? lr(counter!.before) : currentValue(lr);
    if (value.rank !== 0)
      throw new ShapeError(
        `${this.kind}: lr must be a scalar, got ${printShape(value.shape)}\n  give one number, a tensor of rank 0, or a schedule`,
      );
    return value.convert(dtype);
  }

  #clip(grads: readonly Tensor[]): readonly Tensor[] {
    const { clipNorm, clipValue } = this.options;
    const bounded = clipValue === undefined ? grads : clipByValue(grads, clipValue);
    return clipNorm === undefined ? bounded : clipByGlobalNorm(bounded, clipNorm).grads;
  }

  #check(grads: readonly Tensor[]): void {
    const members = this.#members;
    if (grads.length !== members.length)
      throw new GraphError(
        `${this.kind}: needs a gradient for each parameter: ${members.length} parameters, ${grads.length} gradients\n  pass what grad gave for the parameters, in their order`,
      );
    for (const [i, { param: p, name }] of members.entries())
      if (!sameShape(grads[i]!.shape, p.shape))
        throw new ShapeError(
          `${this.kind}: gradient of ${name} has another shape: ${printShape(grads[i]!.shape)} for ${printShape(p.shape)}\n  pass the gradients in the order of the parameters`,
        );
  }
}
