/**
 * Random choices for models of one node: numbers, shapes, and tensors whose values lie where an op
 * is defined or are the hard ones of their type. Everything follows from one seed.
 */
import { toHost } from "@kiln-ml/ir";
import { dtypeOf, type ElementType, type TensorDef } from "@kiln-ml/onnx";
import type { Random } from "../../support/mutate.ts";

/**
 * Which values: `any` has NaN, infinities, zeros of both signs, denormals and the ends of integer
 * types; `finite` is −3 to 3 (0 to 3 unsigned), `large` is −1000 to 1000; `positive` has no 0. A
 * pair is a range.
 */
export type Values = "any" | "finite" | "large" | "positive" | readonly [number, number];

export interface ShapeOptions {
  readonly rank?: readonly [number, number];
  readonly most?: number;
  /** The chance of an extent of 0. */
  readonly empty?: number;
}

export const floats: readonly ElementType[] = ["float32", "float32", "float64", "float16"];
export const signed: readonly ElementType[] = ["int32", "int64", "int8", "int16"];
export const unsigned: readonly ElementType[] = ["uint8", "uint32", "uint64", "uint16"];
export const numeric: readonly ElementType[] = [...floats, ...signed, ...unsigned];
export const every: readonly ElementType[] = [...numeric, "bool"];

const hard = [NaN, Infinity, -Infinity, 0, -0, 1e-42, -1e-42, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 88];
const hardHalf = [NaN, Infinity, -Infinity, 0, -0, 6e-8, -6e-8, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5];

/** The ends of integer types; 64 bits are held in 32. */
const ends: Partial<Record<ElementType, readonly [number, number]>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int16: [-32768, 32767],
  uint16: [0, 65535],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  int64: [-1000, 1000],
  uint64: [0, 1000],
};

export const isFloatType = (type: ElementType): boolean => type.includes("float");
export const isUnsigned = (type: ElementType): boolean => type.startsWith("uint");

export class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** From `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.#random() * (high - low + 1));
  }

  real(low: number, high: number): number {
    return low + this.#random() * (high - low);
  }

  chance(p: number): boolean {
    return this.#random() < p;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)]!;
  }

  /** `value` or nothing. */
  maybe<T>(value: T, p = 0.5): T | undefined {
    return this.chance(p) ? value : undefined;
  }

  list<T>(count: number, make: (i: number) => T): T[] {
    return Array.from({ length: count }, (_, i) => make(i));
  }

  shuffled<T>(list: readonly T[]): T[] {
    const out = [...list];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      [out[i], out[j]] = [out[j]!, out[i]!];
    }
    return out;
  }

  shape({ rank = [0, 5], most = 4, empty = 0.03 }: ShapeOptions = {}): number[] {
    const n = this.int(...rank);
    const high = n > 3 ? Math.min(most, 3) : most;
    return this.list(n, () => (this.chance(empty) ? 0 : this.int(1, high)));
  }

  /** A shape that broadcasts to `shape`, of the same rank or less; with `p` an extent is 1. */
  below(shape: readonly number[], p = 0.3): number[] {
    const cut = this.chance(0.3) ? this.int(0, shape.length) : 0;
    return shape.slice(cut).map((d) => (this.chance(p) ? 1 : d));
  }

  /** An axis of `rank`, from the end in half of the draws. */
  axis(rank: number): number {
    const at = this.int(0, rank - 1);
    return this.chance(0.5) ? at - rank : at;
  }

  /** Some different axes. */
  axes(rank: number, least = 0): number[] {
    const count = this.int(Math.min(least, rank), rank);
    const all = this.shuffled(this.list(rank, (i) => i)).slice(0, count);
    return all.map((a) => (this.chance(0.3) ? a - rank : a));
  }

  /** An opset from `since` to `last`, the last ones more often. */
  opset(since = 7, last = 24): number {
    return this.chance(0.4)
      ? this.int(Math.max(since, 7), last)
      : this.pick([last, 21, 18, 13].map((v) => Math.max(v, since, 7)));
  }

  number(type: ElementType, values: Values): number {
    if (type === "bool") return this.int(0, 1);
    if (typeof values !== "string") {
      const x = this.real(...values);
      return isFloatType(type) ? x : Math.round(x);
    }
    const sign = isUnsigned(type) || values === "positive" ? 0 : -1;
    if (isFloatType(type)) {
      if (values === "any" && this.chance(0.3))
        return this.pick(type === "float16" ? hardHalf : hard);
      if (values === "positive") return this.real(0.1, 3);
      return values === "large" ? this.real(-1000, 1000) : this.real(-3, 3);
    }
    if (values === "any" && this.chance(0.3)) return this.pick(ends[type]!);
    if (values === "positive") return this.int(1, 5);
    const high = values === "large" ? Math.min(1000, ends[type]![1]) : 3;
    return this.int(sign * high, high);
  }

  tensor(type: ElementType, dims: readonly number[], values: Values = "finite"): TensorDef {
    const size = dims.reduce((a, b) => a * b, 1);
    return tensorOf(
      type,
      dims,
      this.list(size, () => this.number(type, values)),
    );
  }
}

/** A tensor of these values. */
export function tensorOf(
  type: ElementType,
  dims: readonly number[],
  values: readonly number[],
): TensorDef {
  const name = "";
  if (type === "int64") return { name, type, dims, data: BigInt64Array.from(values, BigInt) };
  if (type === "uint64") return { name, type, dims, data: BigUint64Array.from(values, BigInt) };
  if (type === "int16") return { name, type, dims, data: Int16Array.from(values) };
  if (type === "uint16") return { name, type, dims, data: Uint16Array.from(values) };
  return { name, type, dims, data: toHost(dtypeOf(type), Float64Array.from(values)) };
}

export const int64s = (values: readonly number[]): TensorDef =>
  tensorOf("int64", [values.length], values);
export const int64 = (value: number): TensorDef => tensorOf("int64", [], [value]);
