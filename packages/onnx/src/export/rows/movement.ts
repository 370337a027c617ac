/** Movement ops, sources that count, and concat. */
import { type Dim, mulDim, type Shape, sameDim, type Tensor } from "@kiln-ml/ir";
import { elementTypeOf } from "../../element.ts";
import { padded } from "../padding.ts";
import type { Row, RowContext, Thin } from "../row.ts";

/** The value with 1 in the axes that repeat it, and without those in front. Undefined if axes change their order. */
function thinned(c: RowContext, dims: readonly number[], shape: Shape): Thin | undefined {
  if (dims.some((d, i) => i > 0 && d < dims[i - 1]!)) return undefined;
  const operand = c.node.operands[0]!;
  const rank = c.node.shape.length;
  const first = dims[0] ?? rank;
  const added = Array.from({ length: rank - first }, (_, i) => i).filter(
    (i) => !dims.includes(first + i),
  );
  const extents = Array.from({ length: rank - first }, (_, i): Dim => {
    const k = dims.indexOf(first + i);
    return k < 0 ? 1 : shape[k]!;
  });
  return { name: c.b.unsqueeze(c.nameOf(operand), added), shape: extents };
}

const broadcastInDim: Row = (c) => {
  const { b, node, values } = c;
  const operand = node.operands[0]!;
  const dims = c.ints("dims");
  const order = dims.map((_, i) => i).sort((p, q) => dims[p]! - dims[q]!);
  if (order.some((p, i) => p !== i)) {
    const sorted = order.map((i) => dims[i]!);
    const middle = node.shape.map((_, i): Dim => {
      const k = sorted.indexOf(i);
      return k < 0 ? 1 : operand.shape[order[k]!]!;
    });
    const absent = node.shape.flatMap((_, i) => (sorted.includes(i) ? [] : [i]));
    const small = b.unsqueeze(b.transpose(c.x(0), order), absent);
    values.thin.set(node, { name: small, shape: middle });
    return b.expand(small, node.shape);
  }
  const thin = thinned(c, dims, operand.shape)!;
  values.thin.set(node, thin);
  const same = thin.shape.length === node.shape.length;
  if (same && thin.shape.every((d, i) => sameDim(d, node.shape[i]!))) return thin.name;
  return b.expand(thin.name, node.shape);
};

const iota: Row = ({ b, node, values }) => {
  const axis = Number(node.attrs.axis);
  const counted = b.cast(b.range(node.shape[axis]!), elementTypeOf(node.dtype));
  const behind = node.shape.length - 1 - axis;
  const name = b.unsqueeze(
    counted,
    Array.from({ length: behind }, (_, i) => i + 1),
  );
  const shape = [node.shape[axis]!, ...new Array<Dim>(behind).fill(1)];
  values.thin.set(node, { name, shape });
  return node.shape.length === 1 ? counted : b.expand(name, node.shape);
};

/** Element d of 0, 1, … is d: how the IR says the value of a dim. */
function countedDim(node: Tensor): Dim | undefined {
  const from = node.operands[0]!;
  const one = node.shape.length === 1 && node.shape[0] === 1;
  return one && from.op === "iota" ? (node.attrs.start as readonly Dim[])[0] : undefined;
}

const slice: Row = (c) => {
  const { b, node } = c;
  const { shape } = node.operands[0]!;
  const d = countedDim(node);
  if (d !== undefined) return b.cast(b.dim(d), elementTypeOf(node.dtype));
  const [start, limit, stride] = [c.dims("start"), c.dims("limit"), c.ints("stride")];
  const axes = shape.flatMap((extent, i) =>
    start[i] === 0 && stride[i] === 1 && sameDim(limit[i]!, extent) ? [] : [i],
  );
  const at = <T>(list: readonly T[]): T[] => axes.map((a) => list[a]!);
  return b.slice(c.x(0), axes, at(start), at(limit), at(stride));
};

const pad: Row = (c) => {
  const x = { name: c.x(0), shape: c.node.operands[0]!.shape };
  const sides = { low: c.dims("low"), high: c.dims("high"), interior: c.ints("interior") };
  return padded(c.b, x, c.x(1), sides).name;
};

/** From the last element to before the first; ends below −extent mean the first is included. */
const reverse: Row = (c) => {
  const axes = c.ints("axes");
  const [last, step] = [axes.map(() => -1), axes.map(() => -1)];
  return c.b.slice(
    c.x(0),
    axes,
    last,
    axes.map(() => -(2 ** 31)),
    step,
  );
};

/** Places o·stride + k·dilation: int64[O, K]. */
function windowPlaces(
  c: RowContext,
  count: Dim,
  size: Dim,
  stride: number,
  dilation: number,
): string {
  const { b } = c;
  const scaled = (n: Dim, by: number): string =>
    by === 1 ? b.range(n) : b.op("Mul", [b.range(n), b.int(by)]);
  return b.op("Add", [b.unsqueeze(scaled(count, stride), [1]), scaled(size, dilation)]);
}

/** Each windowed axis is gathered into two, [O, K]; then all K go to the end. */
const windows: Row = (c) => {
  const { b, node } = c;
  const [size, stride, dilation] = [c.dims("size"), c.ints("stride"), c.ints("dilation")];
  const n = size.length;
  const lead = node.shape.length - 2 * n;
  let name = c.x(0);
  for (let i = 0; i < n; i++) {
    const places = windowPlaces(c, node.shape[lead + i]!, size[i]!, stride[i]!, dilation[i]!);
    name = b.op("Gather", [name, places], { axis: lead + 2 * i });
  }
  const pairs = Array.from({ length: n }, (_, i) => lead + 2 * i);
  const front = Array.from({ length: lead }, (_, i) => i);
  return b.transpose(name, [...front, ...pairs, ...pairs.map((a) => a + 1)]);
};

const product = (dims: readonly Dim[]): Dim => dims.reduce<Dim>(mulDim, 1);

/** Col2Im of [lead, K…, O…]. */
const fold: Row = (c) => {
  const { b, node } = c;
  const { shape } = node.operands[0]!;
  const [size, extent] = [c.dims("size"), c.dims("extent")];
  const n = size.length;
  const lead = shape.length - 2 * n;
  const axes = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);
  const perm = [...axes(0, lead), ...axes(lead + n, n), ...axes(lead, n)];
  const moved = perm.map((p) => shape[p]!);
  const columns = [
    product(shape.slice(0, lead)),
    product(size),
    product(shape.slice(lead, lead + n)),
  ];
  const flat = b.reshape(b.transpose(c.x(0), perm), moved, columns);
  const attributes = {
    strides: c.ints("stride"),
    dilations: c.ints("dilation"),
    pads: new Array<number>(2 * n).fill(0),
  };
  const summed = b.op("Col2Im", [flat, b.dims(extent), b.dims(size)], attributes);
  return b.reshape(summed, [columns[0]!, 1, ...extent], node.shape);
};

export const movement: Readonly<Record<string, Row>> = {
  iota,
  reshape: (c) => c.b.reshape(c.x(0), c.node.operands[0]!.shape, c.node.shape),
  transpose: (c) => c.b.transpose(c.x(0), c.ints("perm")),
  broadcastInDim,
  slice,
  pad,
  concat: (c) => c.b.op("Concat", c.operandNames, { axis: Number(c.node.attrs.axis) }),
  reverse,
  windows,
  fold,
};
