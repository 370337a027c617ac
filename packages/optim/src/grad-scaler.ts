/**
 * Dynamic loss scaling: keeps gradients of half precision above where they vanish and below where
 * they overflow, by a factor that a compiled step finds for itself. Scale and counter are state
 * like an optimizer's moments. Knows nothing of dtypes: it scales a loss and watches for gradients
 * that are not finite.
 */
import {
  assign,
  checkList,
  checkOptions,
  checkTensor,
  currentValue,
  GraphError,
  kindOf,
  type OptionNames,
  param,
  printShape,
  promote,
  ShapeError,
  Stateful,
  select,
  type Tensor,
  tensor,
} from "@kiln-ml/ir";
import { checkPositive } from "./check.ts";
import { Optimizer } from "./optimizer.ts";

export interface GradScalerOptions {
  /** The scale of the first step, default 65536. */
  readonly initScale?: number;
  /** What the scale is multiplied by after `growthInterval` good steps in a row, default 2. */
  readonly growthFactor?: number;
  /** What it is multiplied by after a step that is skipped, default 0.5. */
  readonly backoffFactor?: number;
  /** Default 2000. */
  readonly growthInterval?: number;
  /** Prefix of the names of state, default "scaler". */
  readonly name?: string;
}

const scalerOptions: OptionNames<GradScalerOptions> = {
  initScale: 1,
  growthFactor: 1,
  backoffFactor: 1,
  growthInterval: 1,
  name: 1,
};

/**
 * Scales a loss by s, its gradients by 1/s, and steps an optimizer where all of them are finite;
 * else parameters and the optimizer's state stay as they are.
 *
 * s ← s·backoffFactor where a gradient is infinite or NaN; s·growthFactor, if that is finite, at
 * every `growthInterval`th good step in a row; else s. Throws GraphError for options out of range.
 * Micikevicius et al. 2018, section 3.2; defaults are those of torch.amp.GradScaler.
 *
 * @example
 *   const w = param([1, 2]);
 *   const [scaler, optimizer] = [new optim.GradScaler(), new optim.SGD([w], { lr: 0.1 })];
 *   await compile((x) => scaler.step(optimizer, w.mul(x).sum()))([10, 10]);
 *   w // [0, 1]
 *   await compile((x) => scaler.step(optimizer, w.mul(x).sum()))([Infinity, 10]);
 *   w // [0, 1]; a step with an infinite gradient is left out
 */
export class GradScaler extends Stateful {
  readonly growthFactor: number;
  readonly backoffFactor: number;
  readonly growthInterval: number;
  readonly #scale: Tensor;
  readonly #good: Tensor;

  constructor(options: GradScalerOptions = {}) {
    super();
    const { initScale = 65536, name = "scaler" } = checkOptions(
      "gradScaler",
      options,
      scalerOptions,
    );
    this.growthFactor = options.growthFactor ?? 2;
    this.backoffFactor = options.backoffFactor ?? 0.5;
    this.growthInterval = options.growthInterval ?? 2000;
    checkPositive("gradScaler", "initScale", initScale);
    this.#check();
    const scalar = (what: string, value: number): Tensor =>
      param(tensor(Float32Array.of(value), { dtype: "f32", shape: [] }), {
        name: `${name}.${what}`,
        trainable: false,
      });
    this.#scale = scalar("scale", initScale);
    this.#good = scalar("good", 0);
  }

  #check(): void {
    const { growthFactor, backoffFactor, growthInterval } = this;
    if (!(growthFactor > 1 && growthFactor < Infinity))
      throw new GraphError(`gradScaler: growthFactor must be above 1, got ${kindOf(growthFactor)}`);
    if (!(backoffFactor > 0 && backoffFactor < 1))
      throw new GraphError(
        `gradScaler: backoffFactor must be in (0, 1), got ${kindOf(backoffFactor)}`,
      );
    if (!(Number.isInteger(growthInterval) && growthInterval >= 1))
      throw new GraphError(
        `gradScaler: growthInterval must be a positive integer, got ${kindOf(growthInterval)}`,
      );
  }

  /** The present scale, f32[]: a number to log, or an operand. */
  get value(): Tensor {
    return currentValue(this.#scale);
  }

  /** loss·s, whose gradients `apply` takes. loss: float[] → the same, f32 at least. */
  scale(loss: Tensor): Tensor {
    const dtype = promote(loss.dtype, "f32");
    return loss.convert(dtype).mul(this.value.convert(dtype));
  }

  /**
   * One step of `optimizer` down the gradient of `loss` (a scalar), unless that overflows. Throws
   * as `Optimizer.step` does.
   */
  step(optimizer: Optimizer, loss: Tensor): void {
    if (!(optimizer instanceof Optimizer))
      throw new GraphError(`gradScaler: takes an optimizer first, got ${kindOf(optimizer)}`);
    checkTensor("gradScaler", loss);
    if (loss.rank !== 0)
      throw new ShapeError(
        `gradScaler: loss must be a scalar, got ${printShape(loss.shape)}\n  take its mean or sum first`,
      );
    this.apply(optimizer, optimizer.gradients(this.scale(loss)));
  }

  /**
   * The same for gradients of `scale(loss)`, or sums of such, one for each of `optimizer.params`.
   */
  apply(optimizer: Optimizer, grads: readonly (Tensor | undefined)[]): void {
    if (!(optimizer instanceof Optimizer))
      throw new GraphError(`gradScaler: takes an optimizer first, got ${kindOf(optimizer)}`);
    checkList("gradScaler", "gradients", grads);
    for (const g of grads) if (g !== undefined) checkTensor("gradScaler", g);
    const [scale, good] = [this.value, currentValue(this.#good)];
    const finite = allFinite(grads.filter((g) => g !== undefined));
    // Through this factor all of the update waits for the test, so that what is stored for it are
    // the gradients alone.
    const inverse = select(finite, scale.reciprocal(), 0);
    const unscaled = grads.map((g) => g?.mul(inverse.convert(promote(g.dtype, "f32"))));
    optimizer.apply(unscaled, { when: finite });
    const count = good.add(1);
    const due = count.greaterEqual(this.growthInterval);
    const grown = scale.mul(this.growthFactor);
    const kept = select(due, select(grown.isFinite(), grown, scale), scale);
    assign(this.#scale, select(finite, kept, scale.mul(this.backoffFactor)));
    assign(this.#good, select(finite, select(due, 0, count), 0));
  }

  checkpoint(): Map<string, Tensor> {
    return new Map([this.#scale, this.#good].map((t) => [String(t.attrs.name), t]));
  }
}

/**
 * Whether all elements are finite: their sum is infinite or NaN if one of them is. It is one sum
 * over all gradients, in f32 at least, so that finite elements reach infinity only where they are
 * about that large themselves.
 */
function allFinite(grads: readonly Tensor[]): Tensor {
  const dtype = grads.map((g) => g.dtype).reduce(promote, "f32");
  const [first, ...rest] = grads.map((g) => g.convert(dtype).sum());
  if (!first) throw new GraphError("gradScaler: no gradients, needs one or more");
  return rest.reduce((a, b) => a.add(b), first).isFinite();
}
