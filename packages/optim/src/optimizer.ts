/**
 * What all optimizers share: groups of parameters, gradients, clipping, the step counter, the rate,
 * and names of state. A subclass says the update of one parameter. Everything is graph: `step`
 * records assignments in the current trace, elementwise over each parameter with scalars that come
 * from the counter, so updates fuse.
 */
import {
  assign,
  checkOptions,
  checkRecord,
  checkTensor,
  constant,
  currentValue,
  type Dtype,
  GraphError,
  gradWhereReached,
  isFrozen,
  isHalf,
  kindOf,
  type OptionNames,
  param,
  printShape,
  promote,
  ShapeError,
  Stateful,
  sameShape,
  select,
  sliceAxis,
  stack,
  type Tensor,
  trace,
  zerosLeaf,
  zerosLike,
} from "@kiln-ml/ir";
import { checkPositive } from "./check.ts";
import { clipByGlobalNorm, clipByNorm, clipByValue } from "./clip.ts";
import { type Member, membersOf, type ParamGroup } from "./members.ts";
import type { OptimizerOptions } from "./optimizer-options.ts";
import type { Rate } from "./schedule.ts";

export { type OptimizerOptions, optimizerOptions } from "./optimizer-options.ts";

export interface ApplyOptions {
  /** bool[]: where it is false, parameters and state stay as they are. */
  readonly when?: Tensor;
}

const applyOptions: OptionNames<ApplyOptions> = { when: 1 };

/**
 * What one parameter is updated from in one step: its value, gradient and scalars, all in the dtype
 * of the arithmetic.
 */
export interface Update {
  readonly param: Tensor;
  readonly value: Tensor;
  readonly grad: Tensor;
  readonly lr: Tensor;
  readonly weightDecay: number;
  /** Steps including this one: 1 at the first. */
  readonly count: Tensor;
}

export interface Moments {
  readonly old: readonly Tensor[];
  readonly keep: (next: readonly Tensor[]) => Tensor[];
}

/**
 * What optimizers share: `step(loss)` assigns what a rule, which is a subclass, makes of gradients,
 * clipped and accumulated as asked. `torch.optim.Optimizer`.
 *
 * @param kind What errors call it.
 * @param params Parameters, or groups `{ params, lr, … }` with options of their own.
 * @example
 *   const [backbone, head] = [new nn.Linear(4, 8), new nn.Linear(8, 2)];
 *   const optimizer = new optim.AdamW(
 *     [{ params: backbone.parameters(), lr: 1e-4 }, { params: head.parameters() }],
 *     { lr: 1e-3, clipNorm: 1 },
 *   );
 *   optimizer instanceof optim.Optimizer // true
 */
export abstract class Optimizer extends Stateful {
  readonly kind: string;
  readonly options: OptimizerOptions;
  readonly #members: Member[];
  readonly #state = new Map<string, Tensor>();
  readonly #told = new Set<string>();
  #when: Tensor | undefined;

  constructor(
    kind: string,
    params: Iterable<Tensor> | Iterable<ParamGroup>,
    options: OptimizerOptions,
  ) {
    super();
    checkRecord(kind, options);
    this.kind = kind;
    this.options = options;
    for (const what of ["clipNorm", "clipEach", "clipValue"] as const)
      if (options[what] !== undefined) checkPositive(kind, what, options[what]);
    const { unused = "skip" } = options;
    if (unused !== "skip" && unused !== "error")
      throw new GraphError(`${kind}: unused must be "skip" or "error", got ${String(unused)}`);
    const { accumulate = 1, masters = true } = options;
    if (typeof masters !== "boolean")
      throw new GraphError(
        `${kind}: masters must be true or false, got ${kindOf(masters)}\n  leave it out for true`,
      );
    if (!(Number.isSafeInteger(accumulate) && accumulate >= 1))
      throw new GraphError(
        `${kind}: accumulate must be an integer of 1 or more, got ${kindOf(accumulate)}\n  give the number of calls whose gradients make one step`,
      );
    this.#members = membersOf(kind, params, options);
    if (!this.#members.length)
      throw new GraphError(
        `${kind}: no parameters to train, needs one or more\n  pass the parameters() of a module; frozen ones do not count`,
      );
  }

  /**
   * The new value of one parameter. State is read and assigned through `this.state`, its new value
   * being `this.kept(new, old)`: that is also what the parameter's value is made of.
   */
  protected abstract update(update: Update): Tensor;

  /**
   * The new values of all parameters at once. An optimizer whose parameters share more than the
   * counter has its own.
   */
  protected updateTogether(updates: readonly Update[]): Tensor[] {
    return updates.map((u) => this.update(u));
  }

  /**
   * True if the maths of the optimizer needs the number of the step; a schedule needs it anyhow.
   */
  protected get counts(): boolean {
    return false;
  }

  /** The trainable parameters, in order. */
  get params(): Tensor[] {
    return this.#members.map((m) => m.param);
  }

  /**
   * The rate of the first group, f32[]: what the next step here takes. In a graph it is an operand
   * or an output; outside, `await optimizer.rate.item()` reads it.
   */
  get rate(): Tensor {
    return this.rates[0]!;
  }

  /** `rate` of each group, in order; parameters given without groups are one. */
  get rates(): Tensor[] {
    const counter = this.#counter();
    const firsts = this.#members.filter((m, i, all) => m.group !== all[i - 1]?.group);
    return firsts.map((m) => this.#rate(m.lr, counter, "f32"));
  }

  /** All state made so far, by name: moments after the first step, and the counter. */
  get states(): ReadonlyMap<string, Tensor> {
    return this.#state;
  }

  /** `states`; those that steps have not made yet are made. */
  checkpoint(): Map<string, Tensor> {
    trace(() => this.#updateAll(this.#members.map((m) => zerosLike(m.param))));
    return new Map(this.#state);
  }

  /**
   * One step down the gradient of `loss` (a scalar). Parameters that are frozen, and those that do
   * not reach the loss unless `unused` is "error", stay as they are. Throws ShapeError for a loss
   * that is no scalar, GraphError naming the parameters if none reaches it.
   */
  step(loss: Tensor): void {
    checkTensor(`${this.kind}.step`, loss);
    if (loss.rank !== 0)
      throw new ShapeError(
        `${this.kind}: loss must be a scalar, got ${printShape(loss.shape)}\n  take its mean or sum first`,
      );
    this.apply(this.gradients(loss));
  }

  /**
   * The gradients of a loss, one for each of `params`; none for those that are frozen or do not
   * reach it, see `unused`.
   */
  gradients(loss: Tensor): (Tensor | undefined)[] {
    const live = this.#members.filter((m) => !isFrozen(m.param));
    const grads = gradWhereReached(
      loss,
      live.map((m) => m.param),
    );
    const missed = live.filter((_, i) => !grads[i]).map((m) => m.name);
    if (missed.length) this.#tell(missed, live.length);
    const found = new Map(live.map((m, i) => [m.param, grads[i]]));
    return this.params.map((p) => found.get(p));
  }

  #tell(missed: readonly string[], all: number): void {
    const what = `${missed.join(", ")} ${missed.length > 1 ? "do" : "does"} not reach the loss`;
    if (missed.length === all || this.options.unused === "error")
      throw new GraphError(`${this.kind}: ${what}\n  freeze what is not to be trained`);
    const news = missed.filter((name) => !this.#told.has(name));
    for (const name of news) this.#told.add(name);
    if (news.length)
      console.warn(`${this.kind}: ${what}, and ${missed.length > 1 ? "stay" : "stays"} as before`);
  }

  /**
   * One step along the given gradients, one for each of `params`, in their order; one without
   * stays, and so does a frozen one.
   */
  apply(grads: readonly (Tensor | undefined)[], options: ApplyOptions = {}): void {
    checkRecord(`${this.kind}.apply`, options);
    this.#check(grads);
    const { when } = checkOptions(this.kind, options, applyOptions);
    this.#updateAll(
      grads.map((g, i) => (isFrozen(this.#members[i]!.param) ? undefined : g)),
      when,
    );
  }

  #updateAll(given: readonly (Tensor | undefined)[], when?: Tensor): void {
    const members = this.#members.filter((_, i) => given[i]);
    if (!members.length) return;
    this.#when = when;
    try {
      const grads = given.filter((g) => g !== undefined);
      this.#updateMembers(members, this.#clip(this.#accumulated(members, grads)));
    } finally {
      this.#when = undefined;
    }
  }

  #updateMembers(members: readonly Member[], grads: readonly Tensor[]): void {
    const counter = this.#counter();
    // All values are read before any is assigned: the updates are simultaneous.
    const updates = members.map((member, i): Update => {
      const dtype = promote(member.param.dtype, "f32");
      return {
        param: member.param,
        value: this.#masterOf(member.param)?.value ?? currentValue(member.param).convert(dtype),
        grad: grads[i]!.convert(dtype),
        lr: this.#rate(member.lr, counter, dtype),
        weightDecay: member.weightDecay,
        count: (counter?.count ?? constant(1)).convert(dtype),
      };
    });
    const values = this.updateTogether(updates);
    for (const [i, { param }] of updates.entries()) {
      const master = this.#masterOf(param);
      if (master) assign(master.state, this.kept(values[i]!, master.value));
      assign(param, this.kept(values[i]!.convert(param.dtype), currentValue(param)));
    }
    if (counter) assign(counter.state, this.kept(counter.count, counter.before));
  }

  /**
   * The f32 that a half is the rounding of, and its state. Where they are not one number, as before
   * the first step and after weights were loaded, it is the half.
   */
  #masterOf(target: Tensor): { state: Tensor; value: Tensor } | undefined {
    if (!isHalf(target.dtype) || this.options.masters === false) return undefined;
    const state = this.state(target, "master");
    const [master, half] = [currentValue(state), currentValue(target)];
    const isSame = master.convert(target.dtype).equal(half);
    return { state, value: select(isSame, master, half.convert(master.dtype)) };
  }

  /**
   * Means of the gradients of the last `accumulate` calls, complete at each `accumulate`th: `#when`
   * is true there alone. A select and not a branch, and sums that begin anew rather than end at 0,
   * so that sum and update are one kernel a parameter.
   */
  #accumulated(members: readonly Member[], grads: readonly Tensor[]): readonly Tensor[] {
    const { accumulate = 1 } = this.options;
    if (accumulate === 1) return grads;
    const state = this.#made(`${this.#prefix}.accumulated`, []);
    const before = currentValue(state);
    const count = before.add(1);
    const [begins, due] = [before.equal(0), count.greaterEqual(accumulate)];
    assign(state, this.kept(select(due, 0, count), before));
    const means = members.map(({ param }, i) => {
      const sum = this.state(param, "sum");
      const old = currentValue(sum);
      const g = grads[i]!.convert(sum.dtype);
      const total = this.kept(select(begins, g, old.add(g)), old);
      assign(sum, total);
      return total.mul(1 / accumulate);
    });
    this.#when = this.#when ? this.#when.and(due) : due;
    return means;
  }

  /** `value`, or `old` where the step is skipped. */
  protected kept(value: Tensor, old: Tensor): Tensor {
    return this.#when ? select(this.#when, value, old) : value;
  }

  /** State for `target`, of its shape by default, made at first use as zeros in f32 (or f64). */
  protected state(target: Tensor, what: string, shape = target.shape as number[]): Tensor {
    const member = this.#members.find((m) => m.param === target)!;
    return this.#made(`${this.#prefix}.${member.name}.${what}`, shape, target);
  }

  /** State that all parameters share, in the dtype of the arithmetic on `like`. */
  protected shared(what: string, like: Tensor, shape: readonly number[] = []): Tensor {
    return this.#made(`${this.#prefix}.${what}`, shape, like);
  }

  /**
   * `count` tensors of the shape of `target`, as they were, and how to keep their new values;
   * `keep` gives what is kept. They are one state, which a kernel binds once.
   */
  protected moments(target: Tensor, count: number): Moments {
    const state = this.state(target, "moments", [count, ...(target.shape as number[])]);
    const old = Array.from({ length: count }, (_, i) =>
      sliceAxis(state, 0, i, i + 1).reshape(target.shape),
    );
    const keep = (next: readonly Tensor[]): Tensor[] => {
      const kept = next.map((value, i) => this.kept(value, old[i]!));
      assign(state, stack(kept));
      return kept;
    };
    return { old, keep };
  }

  get #prefix(): string {
    return this.options.name ?? this.kind;
  }

  #made(name: string, shape: readonly number[], like?: Tensor): Tensor {
    const found = this.#state.get(name);
    if (found) return found;
    const dtype = like ? promote(like.dtype, "f32") : "f32";
    const made = param(zerosLeaf(dtype, shape), { name, trainable: false });
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
    const { clipNorm, clipEach, clipValue } = this.options;
    const small = clipValue === undefined ? grads : clipByValue(grads, clipValue);
    const bounded = clipEach === undefined ? small : clipByNorm(small, clipEach);
    return clipNorm === undefined ? bounded : clipByGlobalNorm(bounded, clipNorm).grads;
  }

  #check(grads: readonly (Tensor | undefined)[]): void {
    const members = this.#members;
    if (!Array.isArray(grads))
      throw new GraphError(`${this.kind}: takes a list of gradients, got ${kindOf(grads)}`);
    if (grads.length !== members.length)
      throw new GraphError(
        `${this.kind}: needs a gradient for each parameter: ${members.length} parameters, ${grads.length} gradients\n  pass what grad gave for the parameters, in their order`,
      );
    for (const [i, { param: p, name }] of members.entries()) {
      const g = grads[i];
      if (g !== undefined) checkTensor(`${this.kind}: the gradient of ${name}`, g);
      if (g && !sameShape(g.shape, p.shape))
        throw new ShapeError(
          `${this.kind}: gradient of ${name} has another shape: ${printShape(g.shape)} for ${printShape(p.shape)}\n  pass the gradients in the order of the parameters`,
        );
    }
  }
}
