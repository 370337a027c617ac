/**
 * Layers in a row, in two habits: a list given to the constructor, or Keras's `Input`, `Dense` and `.add`, where a
 * layer learns its input size from the one before it. Sizes are inferred by building a graph that is dropped.
 */
import {
  checkOptions,
  GraphError,
  input,
  isStatic,
  type OptionNames,
  printShape,
  type Shape,
  ShapeError,
  type Tensor,
  trace,
} from "@kiln-ml/ir";
import { type ActivationName, activationOf } from "./activation.ts";
import { Linear, type LinearOptions } from "./linear.ts";
import { type Layer, Module } from "./module.ts";
import { checkCount } from "./parameter.ts";

/** The shape of one sample, as the first entry of a `Sequential`. */
export class Input {
  readonly shape: readonly number[];
  constructor(shape: readonly number[] | { readonly shape: readonly number[] }) {
    this.shape = "shape" in shape ? shape.shape : shape;
    for (const d of this.shape) checkCount("input", "extent", d);
  }
}

export interface DenseOptions extends LinearOptions {
  readonly activation?: ActivationName | ((x: Tensor) => Tensor);
}

const denseOptions: OptionNames<DenseOptions> = { bias: 1, init: 1, biasInit: 1, activation: 1 };

/**
 * activation(x·Wᵀ + b) with `units` outputs, whose input size is that of the first x it sees.
 *
 * x: f32[..., in] → f32[..., units]. Throws GraphError when its parameters are read before it is built.
 */
export class Dense extends Module {
  readonly units: number;
  readonly activation: ((x: Tensor) => Tensor) | undefined;
  readonly #options: LinearOptions;
  linear: Linear | undefined;

  constructor(units: number, options: DenseOptions = {}) {
    super();
    checkCount("dense", "units", units);
    const { activation, ...linear } = checkOptions("dense", options, denseOptions);
    this.units = units;
    this.activation = typeof activation === "string" ? activationOf(activation) : activation;
    this.#options = linear;
  }

  override forward(x: Tensor): Tensor {
    this.linear ??= this.#build(x.shape);
    const y = this.linear.forward(x);
    return this.activation ? this.activation(y) : y;
  }

  #build(shape: Shape): Linear {
    const last = shape.at(-1);
    if (last === undefined || !isStatic(last))
      throw new ShapeError(`dense: the last axis of ${printShape(shape)} is not a known size`);
    return new Linear(last, this.units, this.#options);
  }

  override children(): Map<string, Module> {
    if (!this.linear)
      throw new GraphError(
        `dense: ${this.units} units are not built, the input size is unknown\n  start the Sequential with an Input, or call forward first`,
      );
    return super.children();
  }

  override pathOfField(field: string): string {
    return field === "linear" ? "" : field;
  }

  override describe(): string {
    return `→ ${this.units}`;
  }
}

/** A function as a layer. */
export class Lambda extends Module {
  readonly run: (x: Tensor) => Tensor;
  constructor(run: (x: Tensor) => Tensor) {
    super();
    this.run = run;
  }
  override forward(x: Tensor): Tensor {
    return this.run(x);
  }
  override describe(): string {
    return this.run.name;
  }
}

type Entry = Layer | Input | ((x: Tensor) => Tensor);

/**
 * y = layerₙ(… layer₁(x)).
 *
 * Takes layers and functions, as arguments or one list; parameters are named by position: `0.weight`.
 */
export class Sequential extends Module {
  readonly layers: Layer[] = [];
  #shape: Shape | undefined;

  constructor(...entries: readonly Entry[] | readonly [readonly Entry[]]) {
    super();
    for (const entry of entries.flat() as Entry[]) this.add(entry);
  }

  /** Appends a layer; after an `Input` it is built at once, so that a size that does not fit throws here. */
  add(entry: Entry): this {
    checkEntry(entry);
    if (entry instanceof Input) {
      if (this.layers.length)
        throw new GraphError(`sequential: Input is entry ${this.layers.length}, must be first`);
      // Two samples rather than one, so that an axis of the batch is not taken for one to stretch.
      this.#shape = [2, ...entry.shape];
      return this;
    }
    const layer: Layer = entry instanceof Module ? entry : new Lambda(entry);
    if (this.#shape) this.#shape = resultShape(layer, this.#shape);
    this.layers.push(layer);
    return this;
  }

  /** Shape of the result for one sample, known when the first entry is an `Input`. */
  get outputShape(): Shape | undefined {
    return this.#shape?.slice(1);
  }

  override forward(x: Tensor): Tensor {
    return this.layers.reduce((y, layer) => layer.forward(y), x);
  }

  override pathOfField(field: string): string {
    return field === "layers" ? "" : field;
  }
}

/** For callers that no type checker has seen: a record of options is no layer. */
function checkEntry(entry: unknown): void {
  if (entry instanceof Module || entry instanceof Input || typeof entry === "function") return;
  const given = entry instanceof Object ? `{ ${Object.keys(entry).join(", ")} }` : String(entry);
  throw new GraphError(
    `sequential: an entry is a layer, an Input or a function, got ${given}\n  it takes no options: layers have their own, and compile has the target`,
  );
}

/** Runs `forward` on a placeholder; assignments it makes (running statistics) are dropped with the trace. */
function resultShape(layer: Layer, shape: Shape): Shape {
  return trace(() => layer.forward(input("x", "f32", shape))).value.shape;
}
