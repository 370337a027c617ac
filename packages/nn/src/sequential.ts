/**
 * Layers in a row, in two habits: a list given to the constructor, or Keras's `Input`, `Dense` and
 * `.add`, where a layer learns its input size from the one before it. Sizes are inferred by
 * building a graph that is dropped.
 */
import {
  checkOptions,
  GraphError,
  input,
  kindOf,
  type OptionNames,
  type Shape,
  Tensor,
  trace,
} from "@kiln-ml/ir";
import { type ActivationName, activationOf } from "./activation.ts";
import { located } from "./calls.ts";
import { buildOrWait, ensureBuilt } from "./lazy.ts";
import { Linear, type LinearOptions } from "./linear.ts";
import { type Layer, Module } from "./module.ts";
import { checkCount } from "./parameter.ts";

/**
 * The shape of one sample, as the first entry of a `Sequential`. `keras.Input`.
 *
 * @param shape The shape of a sample, without the batch.
 * @example
 *   const net = new nn.Sequential(new nn.Input([784]), new nn.Dense(10));
 *   net.parameterCount // 7850; the sizes are known before any x
 */
export class Input {
  readonly shape: readonly number[];
  constructor(shape: readonly number[] | { readonly shape: readonly number[] }) {
    this.shape = "shape" in shape ? shape.shape : shape;
    for (const d of this.shape) checkCount("input", "extent", d);
  }
}

export interface DenseOptions extends LinearOptions {
  /** A name or a function; none by default. */
  readonly activation?: ActivationName | ((x: Tensor) => Tensor);
}

const denseOptions: OptionNames<DenseOptions> = { bias: 1, init: 1, biasInit: 1, activation: 1 };

/**
 * activation(x·Wᵀ + b) with `units` outputs, whose input size is that of the first x it sees.
 *
 * x: f32[..., in] → f32[..., units]. Throws GraphError when its parameters are read before it is
 * built. `keras.layers.Dense`, `torch.nn.LazyLinear`.
 *
 * @example
 *   new nn.Dense(4, { activation: "relu" }).forward(ones([2, 3])).shape // [2, 4]
 */
export class Dense extends Module {
  readonly units: number;
  readonly activation: ((x: Tensor) => Tensor) | undefined;
  readonly linear: Linear | undefined;

  constructor(units: number, options: DenseOptions = {}) {
    super([units, options]);
    checkCount("dense", "units", units);
    const { activation, ...linear } = checkOptions("dense", options, denseOptions);
    this.units = units;
    this.activation = typeof activation === "string" ? activationOf(activation) : activation;
    buildOrWait(this, undefined, (inputs) => {
      Object.assign(this, { linear: new Linear(inputs, units, linear) });
    });
  }

  override forward(x: Tensor): Tensor {
    ensureBuilt("dense", this, x, -1);
    const y = this.linear!.forward(x);
    return this.activation ? this.activation(y) : y;
  }

  override pathOfField(field: string): string {
    return field === "linear" ? "" : field;
  }

  override describe(): string {
    return `→ ${this.units}`;
  }
}

/**
 * A function as a layer. `keras.layers.Lambda`.
 *
 * @param run A function of a tensor.
 * @example
 *   const net = new nn.Sequential(new nn.Lambda((x) => x.mul(2)), new nn.ReLU());
 *   net.forward(tensor([-1, 2])) // [0, 4]
 */
export class Lambda extends Module {
  readonly run: (x: Tensor) => Tensor;
  constructor(run: (x: Tensor) => Tensor) {
    super([run]);
    this.run = run;
  }
  override forward(x: Tensor): Tensor {
    return this.run(x);
  }
  override describe(): string {
    return this.run.name;
  }
}

/** A layer whose result has others beside `y`, as recurrent ones have: the next layer takes `y`. */
export interface LayerWithState extends Module {
  forward(x: Tensor): { readonly y: Tensor };
}

type Part = Layer | LayerWithState;
type Entry = Part | Input | ((x: Tensor) => Tensor);

/**
 * y = layerₙ(… layer₁(x)).
 *
 * Takes layers and functions, as arguments or one list; parameters are named by position:
 * `0.weight`. `torch.nn.Sequential`.
 *
 * @param entries Layers and functions, as arguments or one list.
 * @example
 *   const net = new nn.Sequential(new nn.Linear(4, 8), (x) => x.relu(), new nn.Linear(8, 2));
 *   net.forward(ones([5, 4])).shape // [5, 2]
 */
export class Sequential extends Module {
  readonly layers: Part[] = [];
  private known: Shape | undefined;
  private input: Input | undefined;

  constructor(...entries: readonly Entry[] | readonly [readonly Entry[]]) {
    super();
    for (const entry of entries.flat() as Entry[]) this.add(entry);
  }

  /**
   * Appends a layer; after an `Input` it is built at once, so that a size that does not fit throws
   * here.
   */
  add(entry: Entry): this {
    if (entry instanceof Input) {
      if (this.layers.length)
        throw new GraphError(`sequential: Input is entry ${this.layers.length}, must be first`);
      // Two samples rather than one, so that an axis of the batch is not taken for one to stretch.
      this.known = [2, ...entry.shape];
      this.input = entry;
      return this;
    }
    if (!(entry instanceof Module) && typeof entry !== "function")
      throw new GraphError(
        `sequential: entry ${this.layers.length} must be a layer, an Input or a function, got ${kindOf(entry)}\n  it takes no options: layers have their own, and compile has the target`,
      );
    const layer = entry instanceof Module ? entry : new Lambda(entry);
    const at = this.layers.length;
    if (this.known) this.known = located(`${at}`, () => resultShape(layer, this.known!, at));
    this.layers.push(layer);
    return this;
  }

  /** Layers that were added later too. */
  override constructorArguments(): readonly unknown[] {
    return this.input ? [this.input, ...this.layers] : [...this.layers];
  }

  /** Shape of the result for one sample, known when the first entry is an `Input`. */
  get outputShape(): Shape | undefined {
    return this.known?.slice(1);
  }

  override forward(x: Tensor): Tensor {
    return this.layers.reduce((y, layer, i) => next(layer, y, i), x);
  }

  override pathOfField(field: string): string {
    return field === "layers" ? "" : field;
  }
}

/** What layer `at` makes of x: the y of a layer that has a state too. */
function next(layer: Part, x: Tensor, at: number): Tensor {
  const out: unknown = layer.forward(x);
  const y = out instanceof Object && !(out instanceof Tensor) && "y" in out ? out.y : out;
  if (y instanceof Tensor) return y;
  throw new GraphError(
    `sequential: layer ${at} (${layer.constructor.name}) must give a tensor, got ${kindOf(y)}\n  write a module whose forward takes that result apart`,
  );
}

/**
 * Runs `forward` on a placeholder; assignments it makes (running statistics) are dropped with the
 * trace.
 */
function resultShape(layer: Part, shape: Shape, at: number): Shape {
  return trace(() => next(layer, input("x", "f32", shape), at)).value.shape;
}
