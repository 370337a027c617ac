/**
 * The programs of a run: one step, which is forward, loss, backward, optimizer and metrics at once, with all of its state by name.
 * Builds graphs and compiles them; when they run is `fit`'s matter.
 */
import {
  assign,
  autocast,
  constant,
  currentValue,
  dimValue,
  GraphError,
  input,
  kindOf,
  type ProductDtype,
  param,
  promote,
  select,
  Tensor,
  tensor,
  trace,
  zeros,
} from "@kiln-ml/ir";
import type { Module } from "@kiln-ml/nn";
import { GradScaler, type Optimizer } from "@kiln-ml/optim";
import {
  type ArgumentType,
  type Backend,
  type Compiled,
  type Engine,
  frontDoor,
  type ProgramFacts,
} from "./front.ts";
import { Meters, type Metric } from "./meter.ts";
import type { Step, StepResult } from "./options.ts";

export interface Parts {
  readonly net: Module;
  readonly step: Step;
  readonly metrics: readonly Metric[];
  readonly precision: ProductDtype;
  readonly types: readonly ArgumentType[] | undefined;
  readonly target: Backend | undefined;
  readonly engine?: Engine | undefined;
}

/** Rows of a batch as f32[], the batch being the first axis of its last array. */
const rowsOf = (batch: readonly Tensor[]): Tensor =>
  batch.at(-1)?.rank ? dimValue(batch.at(-1)!.shape[0]!).convert("f32") : constant(1);

function resultOf(step: Step, batch: Tensor[], precision: ProductDtype): StepResult {
  const found = precision === "f32" ? step(...batch) : autocast(precision, () => step(...batch));
  const result = found instanceof Tensor ? { loss: found } : found;
  if (!(result?.loss instanceof Tensor))
    throw new GraphError(
      `fit: the step must give a loss, got ${kindOf(result?.loss)}\n  return the loss, or { loss, output, target }`,
    );
  return result;
}

/** Compiles with the types of the loader, where they are known. */
const compileStep = (
  name: string,
  { types, target, engine }: Parts,
  fn: (...args: Tensor[]) => unknown,
): Compiled =>
  frontDoor().compile(fn, {
    name,
    ...(types && { inputs: types }),
    ...(target && { target }),
    ...(engine && { engine }),
  });

const scalar = (name: string, dtype: "i32" | "f32"): Tensor =>
  param(tensor(dtype === "i32" ? Int32Array.of(0) : Float32Array.of(0), { dtype, shape: [] }), {
    name,
    trainable: false,
  });

/** Evaluation: loss and metrics without an optimizer. */
export class EvaluationProgram {
  readonly parts: Parts;
  readonly meters: Meters;
  readonly run: Compiled;
  readonly #reset: Compiled;

  constructor(parts: Parts) {
    this.parts = parts;
    this.meters = new Meters(parts.metrics, "evaluate");
    const { step, precision } = parts;
    this.run = compileStep("evaluate", parts, (...batch) => {
      const { loss, output, target } = resultOf(step, batch, precision);
      this.meters.add(loss, rowsOf(batch), output, target);
      return {};
    });
    this.#reset = frontDoor().compile(() => this.#clear(), { name: "resetMetrics" });
  }

  #clear(): object {
    this.meters.reset();
    return {};
  }

  async reset(): Promise<void> {
    if (this.meters.states.size) await this.#reset();
  }
}

export class TrainingProgram {
  readonly parts: Parts;
  readonly optimizer: Optimizer;
  readonly meters: Meters;
  readonly scaler: GradScaler | undefined;
  readonly accumulate: number;
  /** Steps done, and the first one whose loss was not finite (0: none), i32[] each. */
  readonly #count = scalar("train.count", "i32");
  readonly #bad = scalar("train.bad", "i32");
  readonly #sums = new Map<Tensor, Tensor>();
  readonly #apply: Compiled;
  readonly #gather: Compiled;
  readonly #reset: Compiled;

  constructor(parts: Parts, optimizer: Optimizer, accumulate: number) {
    this.parts = parts;
    this.optimizer = optimizer;
    this.accumulate = accumulate;
    this.meters = new Meters(parts.metrics, "train");
    this.scaler = parts.precision === "f16" ? new GradScaler() : undefined;
    const program = (name: string, last: boolean) =>
      compileStep(name, parts, (...batch) => this.#step(batch, last));
    this.#apply = program("train", true);
    this.#gather = program("trainAccumulate", false);
    this.#reset = frontDoor().compile(() => this.#clear(), { name: "resetMetrics" });
  }

  /** Runs step number `index`, from 0; the last of each `accumulate` moves the parameters. */
  run(index: number, batch: readonly unknown[]): Promise<unknown> {
    return (index + 1) % this.accumulate ? this.#gather(...batch) : this.#apply(...batch);
  }

  /** What a step is compiled to, once one has run. */
  async facts(): Promise<ProgramFacts | undefined> {
    return this.#apply.inspect?.();
  }

  async reset(): Promise<void> {
    await this.#reset();
  }

  /** The number of the first step whose loss was not finite, from 1; 0 if there is none. */
  async badStep(): Promise<number> {
    return this.#bad.item();
  }

  #clear(): object {
    this.meters.reset();
    return {};
  }

  /** Both kinds of step are built and dropped: what they make of state is there then, under its names. */
  build(types: readonly ArgumentType[]): void {
    const batch = () => types.map((t, i) => input(`batch${i}`, t.dtype, t.shape));
    trace(() => this.#step(batch(), true));
    if (this.accumulate > 1) trace(() => this.#step(batch(), false));
  }

  #step(batch: Tensor[], last: boolean): object {
    const { step, precision } = this.parts;
    const { loss, output, target } = resultOf(step, batch, precision);
    this.#note(loss);
    this.meters.add(loss.stopGradient(), rowsOf(batch), output, target);
    if (this.accumulate === 1) this.#update(loss);
    else this.#share(loss, last);
    return {};
  }

  /** Counts the step, and keeps the number of the first that went wrong. */
  #note(loss: Tensor): void {
    const count = currentValue(this.#count).add(1);
    const bad = currentValue(this.#bad);
    // With a scaler an overflow is of the gradients, not of the loss.
    assign(this.#bad, select(bad.equal(0).and(loss.isFinite().not()), count, bad));
    assign(this.#count, count);
  }

  #update(loss: Tensor): void {
    if (this.scaler) this.scaler.step(this.optimizer, loss);
    else this.optimizer.step(loss);
  }

  /** Adds this batch's share of the gradients; with the last one, the optimizer moves along their mean. */
  #share(loss: Tensor, last: boolean): void {
    const { optimizer, scaler } = this;
    const share = loss.mul(1 / this.accumulate);
    const grads = optimizer.gradients(scaler ? scaler.scale(share) : share);
    const sums = grads.map((g, i) => g && this.#sumOf(optimizer.params[i]!).add(g));
    if (last && scaler) scaler.apply(optimizer, sums);
    else if (last) optimizer.apply(sums);
    for (const [i, p] of optimizer.params.entries())
      if (sums[i]) assign(this.#sums.get(p)!, last ? zeros(p.shape, sums[i].dtype) : sums[i]);
  }

  #sumOf(p: Tensor): Tensor {
    const found = this.#sums.get(p);
    if (found) return currentValue(found);
    const size = (p.shape as number[]).reduce((a, b) => a * b, 1);
    const dtype = promote(p.dtype, "f32");
    const made = param(tensor(new Float32Array(size), { dtype, shape: p.shape as number[] }), {
      name: `train.gradient${this.#sums.size}`,
      trainable: false,
    });
    this.#sums.set(p, made);
    return made;
  }

  /** Everything that the next step depends on, by name. */
  get state(): Map<string, Tensor> {
    const state = new Map<string, Tensor>([
      ["train.count", this.#count],
      ["train.bad", this.#bad],
    ]);
    const put = (prefix: string, part: ReadonlyMap<string, Tensor>): void => {
      for (const [name, t] of part) state.set(`${prefix}.${name}`, t);
    };
    put("model", this.parts.net.checkpoint());
    put("optimizer", this.optimizer.checkpoint());
    if (this.scaler) put("scaler", this.scaler.checkpoint());
    put("metrics", this.meters.states);
    [...this.#sums.values()].forEach((t, i) => {
      state.set(`train.gradient${i}`, t);
    });
    return state;
  }
}
