/**
 * The graph of a model while it is written: nodes that are equal are one, constants are initializers, names are given
 * here. A builder inside another one is a branch or a loop body, which sees the names outside. Knows no IR ops.
 */
import {
  type Dim,
  type Dtype,
  GraphError,
  type HostArray,
  minOfDim,
  type Shape,
  sameDim,
  sameShape,
  toHost,
} from "@kiln-ml/ir";
import { elementTypeOf } from "../element.ts";
import {
  type AttributeDef,
  type ElementType,
  elementTypes,
  type GraphDef,
  type NodeDef,
  type TensorDef,
} from "../proto/model.ts";
import { dimVector } from "./dims.ts";

/** Numbers are ints; ONNX ops that export needs have no float attributes. */
export type Attributes = Readonly<Record<string, number | string | readonly number[] | GraphDef>>;

/** What all builders of one model share. */
interface Shared {
  readonly opset: number;
  readonly names: Set<string>;
  readonly initializers: Map<string, TensorDef>;
  readonly constants: Map<string, string>;
  /** How to compute each symbol, as int64[1] in the outermost graph. */
  readonly symbols: ReadonlyMap<string, (root: Builder) => string>;
}

const int64 = elementTypes.indexOf("int64") + 1;

export class Builder {
  readonly nodes: NodeDef[] = [];
  readonly #shared: Shared;
  readonly #outer: Builder | undefined;
  readonly #made = new Map<string, readonly string[]>();

  constructor(shared: Shared, outer?: Builder) {
    this.#shared = shared;
    this.#outer = outer;
  }

  static outermost(opset: number, symbols: Shared["symbols"]): Builder {
    const [names, initializers, constants] = [new Set<string>(), new Map(), new Map()];
    return new Builder({ opset, names, initializers, constants, symbols });
  }

  /** A builder for a graph inside a node of this one. */
  inner(): Builder {
    return new Builder(this.#shared, this);
  }

  get root(): Builder {
    return this.#outer?.root ?? this;
  }

  get opset(): number {
    return this.#shared.opset;
  }

  get initializers(): readonly TensorDef[] {
    return [...this.#shared.initializers.values()];
  }

  /** A name that nothing has yet: `wanted`, or with a number behind it. */
  fresh(wanted: string): string {
    const { names } = this.#shared;
    let name = wanted;
    for (let i = 1; names.has(name); i++) name = `${wanted}_${i}`;
    names.add(name);
    return name;
  }

  /** The outputs of a node; an equal node that exists here or outside is used again. */
  several(op: string, inputs: readonly string[], attributes: Attributes, outputs: number) {
    const key = keyOf(op, inputs, attributes);
    const known = key && this.#find(key);
    if (known) return known;
    const made = Array.from({ length: outputs }, () => this.fresh(op.toLowerCase()));
    if (key) this.#made.set(key, made);
    const list = Object.entries(attributes).map(
      ([name, value]) => [name, attribute(value)] as const,
    );
    this.nodes.push({
      op,
      domain: "",
      overload: "",
      name: made[0]!,
      inputs,
      outputs: made,
      attributes: new Map(list),
    });
    return made;
  }

  op(op: string, inputs: readonly string[], attributes: Attributes = {}): string {
    return this.several(op, inputs, attributes, 1)[0]!;
  }

  #find(key: string): readonly string[] | undefined {
    const made = this.#made.get(key);
    if (made || this.#outer === undefined) return made;
    return this.#outer.#find(key);
  }

  /** A tensor that is part of the model. */
  initializer(name: string, dtype: Dtype, dims: readonly number[], data: HostArray): string {
    return this.#keep(name, elementTypeOf(dtype), dims, data);
  }

  #keep(
    wanted: string,
    type: ElementType,
    dims: readonly number[],
    data: TensorDef["data"],
  ): string {
    const name = this.fresh(wanted);
    this.#shared.initializers.set(name, { name, type, dims, data });
    return name;
  }

  #constant(key: string, make: () => string): string {
    const { constants } = this.#shared;
    const name = constants.get(key) ?? make();
    constants.set(key, name);
    return name;
  }

  /** One number of rank 0. */
  scalar(value: number, dtype: Dtype): string {
    const text = Object.is(value, -0) ? "-0" : String(value);
    return this.#constant(`${dtype} ${text}`, () =>
      this.initializer("constant", dtype, [], toHost(dtype, [value])),
    );
  }

  /** int64[n], for shapes and axes. */
  ints(values: readonly number[]): string {
    return this.#constant(`[${values}]`, () =>
      this.#keep("ints", "int64", [values.length], BigInt64Array.from(values, BigInt)),
    );
  }

  /** An int64 of rank 0. */
  int(value: number): string {
    return this.#constant(`${value}`, () =>
      this.#keep("int", "int64", [], BigInt64Array.of(BigInt(value))),
    );
  }

  /** int64[1] of a symbol. It is computed outside of all branches and loops. */
  symbol(name: string): string {
    const make = this.#shared.symbols.get(name);
    if (!make)
      throw new GraphError(
        `exportOnnx: the symbol ${name} can be read off no input's shape\n  export an input one of whose extents is ${name}`,
      );
    return make(this.root);
  }

  /** int64[1] of a dim. */
  dim(d: Dim): string {
    return dimVector(this.root, d);
  }

  /** int64 of rank 0 of a dim. */
  dimScalar(d: Dim): string {
    return typeof d === "number"
      ? this.int(d)
      : this.root.op("Squeeze", [this.dim(d), this.ints([0])]);
  }

  /** int64[n] of n dims. */
  dims(list: readonly Dim[]): string {
    if (list.every((d) => typeof d === "number")) return this.ints(list);
    const parts = list.map((d) => this.dim(d));
    return parts.length === 1 ? parts[0]! : this.root.op("Concat", parts, { axis: 0 });
  }

  cast(x: string, to: ElementType): string {
    return this.op("Cast", [x], { to: elementTypes.indexOf(to) + 1 });
  }

  /** int64s as the IR's i32. */
  castInts(x: string): string {
    return this.cast(x, "int32");
  }

  toInt64(x: string): string {
    return this.op("Cast", [x], { to: int64 });
  }

  transpose(x: string, perm: readonly number[]): string {
    return perm.every((p, i) => p === i) ? x : this.op("Transpose", [x], { perm });
  }

  unsqueeze(x: string, axes: readonly number[]): string {
    return axes.length ? this.op("Unsqueeze", [x, this.ints(axes)]) : x;
  }

  expand(x: string, shape: Shape): string {
    return this.op("Expand", [x, this.dims(shape)]);
  }

  reshape(x: string, from: Shape, to: Shape): string {
    if (sameShape(from, to)) return x;
    const short = shortTarget(from, to);
    if (short) return this.op("Reshape", [x, this.ints(short)]);
    const zeros = to.some((d) => minOfDim(d) < 1);
    return this.op("Reshape", [x, this.dims(to)], zeros ? { allowzero: 1 } : {});
  }

  /** start … end − 1 along some axes. */
  slice(
    x: string,
    axes: readonly number[],
    start: readonly Dim[],
    end: readonly Dim[],
    step: readonly number[] = axes.map(() => 1),
  ): string {
    if (axes.length === 0) return x;
    const steps = step.every((s) => s === 1) ? [] : [this.ints(step)];
    return this.op("Slice", [x, this.dims(start), this.dims(end), this.ints(axes), ...steps]);
  }

  /** int64[n] of 0, 1, … n − 1. */
  range(n: Dim): string {
    return this.op("Range", [this.int(0), this.dimScalar(n), this.int(1)]);
  }
}

/** Undefined for nodes with graphs, which are never equal. */
function keyOf(op: string, inputs: readonly string[], attributes: Attributes): string | undefined {
  const values = Object.values(attributes);
  if (values.some((v) => typeof v === "object" && !Array.isArray(v))) return undefined;
  return JSON.stringify([op, inputs, attributes]);
}

function attribute(value: Attributes[string]): AttributeDef {
  if (typeof value === "number") return { kind: "int", value };
  if (typeof value === "string") return { kind: "string", value };
  if (Array.isArray(value)) return { kind: "ints", value: value as readonly number[] };
  return { kind: "graph", value: value as GraphDef };
}

/** A reshape's target in numbers alone, if there is one: 0 keeps the extent at that place, one −1 is inferred. */
function shortTarget(from: Shape, to: Shape): number[] | undefined {
  let open = 0;
  const target = to.map((d, i) => {
    if (typeof d === "number") return d;
    if (from[i] !== undefined && sameDim(from[i], d)) return 0;
    open++;
    return -1;
  });
  // An extent of 0 would be read as "keep", and leave nothing to infer from.
  const safe = to.every((d) => minOfDim(d) >= 1) && open <= 1;
  return safe ? target : undefined;
}
