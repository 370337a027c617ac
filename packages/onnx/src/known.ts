/**
 * The values of small tensors, read off the graph: each element is a number, or a dim where it comes from a shape. It evaluates
 * symbolically what shape chains are made of, and gives up at inputs, at parameters and at whatever is too large to be a shape.
 */
import {
  type Dim,
  evaluate,
  evaluateElement,
  fromHost,
  hasHostData,
  hostDataOf,
  isStatic,
  opRecord,
  subDim,
  type Tensor,
  topologicalOrder,
} from "@kiln-ml/ir";
import {
  converted,
  isAtLeastZero,
  isNumber,
  isZero,
  Ratio,
  reducers,
  type Scalar,
  symbolic,
  Unknown,
  unknown,
  wholeOf,
} from "./known-scalar.ts";

/** More elements than any shape has. */
const largest = 4096;

/** Values of tensors that the graph does not hold itself: the first values of parameters. */
export type Lookup = (leaf: Tensor) => readonly number[] | undefined;

/** What one import knows of its tensors; each element is worked out once. */
export class KnownValues {
  readonly #walk: Walk;
  /** Whether a tensor is small and depends on nothing that a run gives. */
  readonly #fixed = new Map<Tensor, boolean>();

  /** `lookup` knows leaves that have a value for this import. */
  constructor(lookup: Lookup) {
    this.#walk = new Walk(lookup);
  }

  /**
   * The elements of `t` in row-major order, or undefined where they depend on more than shapes and
   * constants.
   */
  of(t: Tensor): readonly Dim[] | undefined {
    const shape: number[] = [];
    for (const d of t.shape) {
      if (!isStatic(d)) return undefined;
      shape.push(d);
    }
    const size = shape.reduce((a, b) => a * b, 1);
    if (size > largest) return undefined;
    try {
      return indices(shape).map((index) => wholeOf(this.#walk.element(t, index)));
    } catch (error) {
      if (!(error instanceof Unknown)) throw error;
      return this.#isFixed(t) ? Array.from(evaluate([t])[0]!.data) : undefined;
    }
  }

  #isFixed(t: Tensor): boolean {
    for (const n of topologicalOrder([t], (n) => this.#fixed.has(n)))
      if (!this.#fixed.has(n))
        this.#fixed.set(n, isSmallConstant(n) && n.operands.every((o) => this.#fixed.get(o)));
    return this.#fixed.get(t)!;
  }
}

const isSmallConstant = (n: Tensor): boolean =>
  n.shape.every(isStatic) &&
  n.op !== "input" &&
  n.op !== "param" &&
  (n.op !== "data" || hasHostData(n)) &&
  n.shape.reduce<number>((a, d) => a * (d as number), 1) <= largest;

/** Every index of a static shape, row-major. */
function indices(shape: readonly number[]): number[][] {
  let all: number[][] = [[]];
  for (const n of shape)
    all = all.flatMap((head) => Array.from({ length: n }, (_, i) => [...head, i]));
  return all;
}

interface Element {
  readonly of: Tensor;
  readonly index: readonly Dim[];
}

/** Thrown inside, where an element needs one that lies so deep that it is worked out first. */
class Deep {
  readonly element: Element;
  constructor(element: Element) {
    this.element = element;
  }
}

/** How many elements are asked for one by the other before the walk starts anew. */
const mostDepth = 100;

class Walk {
  readonly #lookup: Lookup;
  /** Undefined for an element that cannot be told. */
  readonly #done = new Map<Tensor, Map<string, Scalar | undefined>>();
  #depth = 0;

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  /** One element, on a stack of its own: graphs may be deeper than calls can be. */
  element(t: Tensor, index: readonly Dim[]): Scalar {
    const stack: Element[] = [{ of: t, index }];
    for (;;) {
      const top = stack.at(-1)!;
      this.#depth = 0;
      try {
        const value = this.at(top.of, top.index);
        if (stack.length === 1) return value;
        stack.pop();
      } catch (error) {
        if (error instanceof Deep) stack.push(error.element);
        else if (error instanceof Unknown && stack.length > 1) stack.pop();
        else throw error;
      }
    }
  }

  at(t: Tensor, index: readonly Dim[]): Scalar {
    let known = this.#done.get(t);
    if (!known) {
      known = new Map();
      this.#done.set(t, known);
    }
    const key = index.join();
    if (known.has(key)) return known.get(key) ?? unknown();
    if (this.#depth === mostDepth) throw new Deep({ of: t, index });
    this.#depth++;
    try {
      const value = this.#element(t, index);
      known.set(key, value);
      return value;
    } catch (error) {
      if (error instanceof Unknown) known.set(key, undefined);
      throw error;
    } finally {
      this.#depth--;
    }
  }

  #element(t: Tensor, index: readonly Dim[]): Scalar {
    const record = opRecord(t.op);
    switch (record.family) {
      case "source":
        return this.#leaf(t, index);
      case "elementwise":
        return this.#elementwise(t, index);
      case "movement":
        return this.#moved(t, index);
      case "gather":
        return this.#gathered(t, index);
      case "reduce":
        return this.#reduced(t, index);
      default:
        return unknown();
    }
  }

  #leaf(t: Tensor, index: readonly Dim[]): Scalar {
    if (t.op === "constant") return t.attrs.value as number;
    if (t.op === "iota") return index[t.attrs.axis as number]!;
    const values =
      this.#lookup(t) ??
      (t.op === "data" && hasHostData(t) ? fromHost(t.dtype, hostDataOf(t)) : undefined);
    if (!values) return unknown();
    let flat = 0;
    for (const [axis, i] of index.entries()) {
      const extent = t.shape[axis]!;
      if (!isNumber(i) || !isStatic(extent)) return unknown();
      flat = flat * extent + i;
    }
    return values[flat] ?? unknown();
  }

  #moved(t: Tensor, index: readonly Dim[]): Scalar {
    for (const piece of opRecord(t.op).pieces!(t, index)) {
      const verdicts = piece.when.map(({ value, test }) =>
        test === "zero" ? isZero(value) : isAtLeastZero(value),
      );
      if (verdicts.includes(false)) continue;
      if (verdicts.includes(undefined)) return unknown();
      return this.at(t.operands[piece.operand]!, piece.coords);
    }
    return unknown();
  }

  #gathered(t: Tensor, index: readonly Dim[]): Scalar {
    const [x, ...places] = t.operands as [Tensor, ...Tensor[]];
    const axes = t.attrs.axes as readonly number[];
    const rank = places[0]!.rank;
    const rest = index.slice(rank);
    const found = new Map<number, Dim>();
    for (const [k, axis] of axes.entries()) {
      const i = this.at(places[k]!, index.slice(0, rank));
      const extent = x.shape[axis]!;
      if (i instanceof Ratio) return unknown();
      if (isNumber(i) && isStatic(extent)) found.set(axis, Math.max(0, Math.min(i, extent - 1)));
      else if (isAtLeastZero(i) && isAtLeastZero(subDim(subDim(extent, 1), i))) found.set(axis, i);
      else return unknown();
    }
    const coords = x.shape.map((_, axis) => found.get(axis) ?? rest.shift()!);
    return this.at(x, coords);
  }

  #reduced(t: Tensor, index: readonly Dim[]): Scalar {
    const combine = reducers[t.op];
    if (!combine) return unknown();
    const x = t.operands[0]!;
    const axes = t.attrs.axes as readonly number[];
    const extents = axes.map((a) => x.shape[a]!);
    if (!extents.every(isStatic)) return unknown();
    const terms = indices(extents as number[]).map((at) => {
      const rest = [...index];
      const coords = x.shape.map((_, a) =>
        axes.includes(a) ? at[axes.indexOf(a)]! : rest.shift()!,
      );
      return this.at(x, coords);
    });
    if (terms.length === 0 || terms.length > largest) return unknown();
    return terms.reduce((a, b) => combine(a, b));
  }

  #elementwise(t: Tensor, index: readonly Dim[]): Scalar {
    if (t.op === "select") {
      const test = this.at(t.operands[0]!, index);
      return isNumber(test) ? this.at(t.operands[test ? 1 : 2]!, index) : unknown();
    }
    const x = t.operands.map((o) => this.at(o, index));
    if (t.op === "convert") return converted(t, x[0]!);
    if (x.every(isNumber)) return evaluateElement(opRecord(t.op), t.operands[0]!.dtype, t.dtype, x);
    const f = symbolic[t.op];
    return f ? f(x, t) : unknown();
  }
}
