/** Contractions as MatMul and Conv, gather and scatter as their ONNX namesakes with indices brought into range. */
import {
  type Dim,
  type DotAxes,
  dotAxes,
  dotGeneral,
  isFloat,
  isStatic,
  lhsFree,
  mulDim,
  pad,
  reshape,
  rhsFree,
  type Shape,
  subDim,
  type Tensor,
  transpose,
  windows,
} from "@kiln-ml/ir";
import { elementTypeOf } from "../../element.ts";
import type { Builder } from "../builder.ts";
import { isPlain, padded } from "../padding.ts";
import type { Row, RowContext } from "../row.ts";

const product = (dims: readonly Dim[]): Dim => dims.reduce<Dim>(mulDim, 1);
const pick = (t: Tensor, axes: readonly number[]): Dim[] => axes.map((a) => t.shape[a]!);

/** The operand as [batch…, rows, columns]. */
function matrices(
  b: Builder,
  t: Tensor,
  name: string,
  batch: readonly number[],
  rows: readonly number[],
  columns: readonly number[],
): string {
  const moved = b.transpose(name, [...batch, ...rows, ...columns]);
  const from = [...pick(t, batch), ...pick(t, rows), ...pick(t, columns)];
  return b.reshape(moved, from, [
    ...pick(t, batch),
    product(pick(t, rows)),
    product(pick(t, columns)),
  ]);
}

const dotGeneralRow: Row = (c) => {
  const { b, node } = c;
  const [lhs, rhs] = node.operands as [Tensor, Tensor];
  const d = dotAxes(node.attrs);
  const to = ({ i8: "int32", u8: "int32" } as const)[node.dtype as "i8"];
  const [x, y] = to ? [b.cast(c.x(0), to), b.cast(c.x(1), to)] : [c.x(0), c.x(1)];
  const result = multiplied(b, lhs, rhs, d, x, y, node.shape);
  return to ? b.cast(result, elementTypeOf(node.dtype)) : result;
};

function multiplied(
  b: Builder,
  lhs: Tensor,
  rhs: Tensor,
  d: DotAxes,
  x: string,
  y: string,
  shape: Shape,
): string {
  const [free, other] = [lhsFree(lhs, d), rhsFree(rhs, d)];
  const last = d.lhsContract.length === 1 && d.lhsContract[0] === lhs.rank - 1;
  // MatMul repeats a matrix over all leading axes of the other operand.
  if (d.lhsBatch.length === 0 && last && other.length === 1 && free.length >= 1)
    return b.op("MatMul", [x, b.transpose(y, [...d.rhsContract, ...other])]);
  const product1 = b.op("MatMul", [
    matrices(b, lhs, x, d.lhsBatch, free, d.lhsContract),
    matrices(b, rhs, y, d.rhsBatch, d.rhsContract, other),
  ]);
  const whole = [...pick(lhs, d.lhsBatch), product(pick(lhs, free)), product(pick(rhs, other))];
  return b.reshape(product1, whole, shape);
}

/** Conv is of floats: a convolution of integers is a product of windows and kernels. */
function asProduct(node: Tensor): Tensor {
  const [x, w] = node.operands as [Tensor, Tensor];
  const { attrs } = node;
  const spatial = (name: string): readonly never[] => attrs[name] as readonly never[];
  const interior = (attrs.lhsDilation as readonly number[]).map((k) => k - 1);
  const around = [
    [0, 0, ...spatial("low")],
    [0, 0, ...spatial("high")],
    [0, 0, ...interior],
  ] as const;
  const placed = windows(pad(x, 0, ...around), {
    size: w.shape.slice(2),
    stride: spatial("stride"),
    dilation: spatial("rhsDilation"),
  });
  const groups = Number(attrs.groups);
  const n = x.rank - 2;
  const perGroup = w.shape[1]!;
  const lhs = reshape(placed, [x.shape[0]!, groups, perGroup, ...placed.shape.slice(2)]);
  const rhs = reshape(w, [groups, -1, ...w.shape.slice(1)]);
  const kernel = upTo(n);
  const product = dotGeneral(lhs, rhs, {
    lhsBatch: [1],
    rhsBatch: [0],
    lhsContract: [2, ...kernel.map((i) => 3 + n + i)],
    rhsContract: [2, ...kernel.map((i) => 3 + i)],
  });
  // [G, N, place…, O] → [N, G, O, place…].
  const order = [1, 0, n + 2, ...kernel.map((i) => 2 + i)];
  return reshape(transpose(product, order), node.shape);
}

/** Dilation of x is zeros between its elements; amounts that Conv does not take are padded before it. */
const convolution: Row = (c) => {
  const { b, node } = c;
  const [x, w] = node.operands as [Tensor, Tensor];
  if (!isFloat(node.dtype)) return c.write(asProduct(node));
  const [low, high] = [c.dims("low"), c.dims("high")];
  const dilation = c.ints("lhsDilation");
  const direct = isPlain(low) && isPlain(high) && dilation.every((k) => k === 1);
  const sides = {
    low: [0, 0, ...low],
    high: [0, 0, ...high],
    interior: [0, 0, ...dilation.map((k) => k - 1)],
  };
  const image = direct
    ? c.x(0)
    : padded(b, { name: c.x(0), shape: x.shape }, b.scalar(0, node.dtype), sides).name;
  const kernel = w.shape.slice(2);
  return b.op("Conv", [image, c.x(1)], {
    ...(kernel.every(isStatic) ? { kernel_shape: kernel as readonly number[] } : {}),
    strides: c.ints("stride"),
    pads: direct ? ([...low, ...high] as number[]) : new Array<number>(2 * low.length).fill(0),
    dilations: c.ints("rhsDilation"),
    group: Number(node.attrs.groups),
  });
};

/** An index as int64, within 0 … extent − 1. ONNX refuses what is outside, and counts negative ones from the end. */
function clamped(c: RowContext, index: Tensor, extent: Dim): string {
  const { b } = c;
  const name = c.nameOf(index);
  if (index.op === "constant" && isStatic(extent)) {
    const value = Number(index.attrs.value);
    return b.int(Math.max(0, Math.min(value, extent - 1)));
  }
  const last = isStatic(extent) ? b.int(extent - 1) : b.dimScalar(subDim(extent, 1));
  return b.op("Max", [b.op("Min", [b.toInt64(name), last]), b.int(0)]);
}

/** Indices side by side in a last axis, as GatherND and ScatterND take them. */
const stacked = (b: Builder, indices: readonly string[], rank: number): string =>
  b.op(
    "Concat",
    indices.map((i) => b.unsqueeze(i, [rank])),
    { axis: rank },
  );

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const others = (rank: number, axes: readonly number[]): number[] =>
  upTo(rank).filter((i) => !axes.includes(i));

const gather: Row = (c) => {
  const { b, node } = c;
  const [x, ...indices] = node.operands as [Tensor, ...Tensor[]];
  const axes = c.ints("axes");
  const rank = indices[0]!.rank;
  const places = indices.map((t, k) => clamped(c, t, x.shape[axes[k]!]!));
  if (places.length > 1) {
    const moved = b.transpose(c.x(0), [...axes, ...others(x.rank, axes)]);
    return b.op("GatherND", [moved, stacked(b, places, rank)]);
  }
  const [axis] = axes as [number];
  const picked = b.op("Gather", [c.x(0), places[0]!], { axis });
  // [D…, S…, E…] → [S…, D…, E…].
  const front = upTo(rank).map((i) => axis + i);
  return b.transpose(picked, [...front, ...others(node.rank, front)]);
};

/** An index as int64; `extent` where it is outside, which is a place that is cut off afterwards. */
function inside(c: RowContext, index: Tensor, extent: Dim): string {
  const { b } = c;
  const wide = b.toInt64(c.nameOf(index));
  const end = b.dimScalar(extent);
  const below = b.op("Less", [wide, b.int(0)]);
  return b.op("Where", [below, end, b.op("Min", [wide, end])]);
}

/** ScatterND into a tensor that is one longer along the indexed axes, where updates go that are to be dropped. */
const scatter: Row = (c) => {
  const { b, node } = c;
  const [x, , ...indices] = node.operands as [Tensor, Tensor, ...Tensor[]];
  const axes = c.ints("axes");
  const perm = [...axes, ...others(x.rank, axes)];
  const shape = perm.map((p) => x.shape[p]!);
  const places = indices.map((t, k) => inside(c, t, x.shape[axes[k]!]!));
  const ends = [...shape.map(() => 0), ...shape.map((_, i) => (i < axes.length ? 1 : 0))];
  const zero = b.scalar(0, node.dtype);
  const longer = b.op("Pad", [b.transpose(c.x(0), perm), b.ints(ends), zero]);
  const mode = String(node.attrs.mode);
  const at = stacked(b, places, indices[0]!.rank);
  const attributes = mode === "set" ? {} : { reduction: mode };
  const scattered = b.op("ScatterND", [longer, at, c.x(1)], attributes);
  const leading = upTo(axes.length);
  const cut = b.slice(
    scattered,
    leading,
    leading.map(() => 0),
    shape.slice(0, axes.length),
  );
  return b.transpose(
    cut,
    upTo(x.rank).map((i) => perm.indexOf(i)),
  );
};

export const contractions: Readonly<Record<string, Row>> = {
  dotGeneral: dotGeneralRow,
  convolution,
  gather,
  scatter,
};
