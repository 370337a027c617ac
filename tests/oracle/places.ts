/** The oracle's ops that move elements: each result is an element of an operand, chosen by its coordinates (StableHLO, ONNX). */
import type { Array_, Num } from "./number.ts";

export type Attributes = Readonly<Record<string, unknown>>;
export type Place = (
  at: readonly number[],
  x: readonly Array_[],
  attrs: Attributes,
  shape: readonly number[],
) => Num;

export const list = (v: unknown): readonly number[] => v as readonly number[];

/** All coordinates of a shape, the last axis fastest. */
export function everywhere(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>(
    (all, n) => all.flatMap((at) => Array.from({ length: n }, (_, i) => [...at, i])),
    [[]],
  );
}

export function offsetIn(shape: readonly number[], at: readonly number[]): number {
  let [offset, step] = [0, 1];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    offset += at[axis]! * step;
    step *= shape[axis]!;
  }
  return offset;
}

export const get = (x: Array_, at: readonly number[]): Num => x.data[offsetIn(x.shape, at)]!;

export const isIn = (shape: readonly number[], at: readonly number[]): boolean =>
  at.every((c, i) => Number.isInteger(c) && c >= 0 && c < shape[i]!);

/** Coordinates with those at some axes given by one list, and the others by another. */
export function laid(
  rank: number,
  axes: readonly number[],
  there: readonly number[],
  elsewhere: readonly number[],
): number[] {
  const left = [...elsewhere];
  return Array.from({ length: rank }, (_, axis) =>
    axes.includes(axis) ? there[axes.indexOf(axis)]! : left.shift()!,
  );
}

export const places: Readonly<Record<string, Place>> = {
  reshape: (at, [x], _a, shape) => x!.data[offsetIn(shape, at)]!,
  transpose: (at, [x], { perm }) => {
    const from: number[] = [];
    for (const [i, p] of list(perm).entries()) from[p] = at[i]!;
    return get(x!, from);
  },
  broadcastInDim: (at, [x], { dims }) =>
    get(
      x!,
      x!.shape.map((n, k) => (n === 1 ? 0 : at[list(dims)[k]!]!)),
    ),
  slice: (at, [x], { start, stride }) =>
    get(
      x!,
      at.map((c, i) => list(start)[i]! + c * list(stride)[i]!),
    ),
  pad: (at, [x, fill], { low, interior }) => {
    const from = at.map((c, i) => (c - list(low)[i]!) / (1 + list(interior)[i]!));
    return isIn(x!.shape, from) ? get(x!, from) : fill!.data[0]!;
  },
  concat: (at, all, { axis }) => {
    const a = Number(axis);
    let left = at[a]!;
    for (const x of all) {
      if (left < x.shape[a]!) return get(x, at.with(a, left));
      left -= x.shape[a]!;
    }
    throw new Error("concat: no operand");
  },
  reverse: (at, [x], { axes }) =>
    get(
      x!,
      at.map((c, i) => (list(axes).includes(i) ? x!.shape[i]! - 1 - c : c)),
    ),
  windows: (at, [x], { stride, dilation }) => {
    const n = list(stride).length;
    const lead = x!.shape.length - n;
    return get(
      x!,
      x!.shape.map((_, k) =>
        k < lead
          ? at[k]!
          : at[k]! * list(stride)[k - lead]! + at[k + n]! * list(dilation)[k - lead]!,
      ),
    );
  },
  gather: (at, [x, ...indices], attrs) => {
    const axes = list(attrs.axes);
    const rank = indices[0]!.shape.length;
    if (axes.some((a) => x!.shape[a] === 0)) return typeof x!.data[0] === "bigint" ? 0n : 0;
    const there = indices.map((v, k) => {
      const i = Number(get(v, at.slice(0, rank)));
      return Math.min(Math.max(i, 0), x!.shape[axes[k]!]! - 1);
    });
    return get(x!, laid(x!.shape.length, axes, there, at.slice(rank)));
  },
};
