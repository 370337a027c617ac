/**
 * Movement, and what has no operands: constants and counting. Windows and their transpose take one slice for each place of a
 * window along an axis, axis by axis, so that their number is the sum of the extents and not the product.
 */
import { type Dim, isHalf } from "@kiln-ml/ir";
import type { Builder, Ref } from "../builder.ts";
import { listOf, type Row, type Rows, range, type Site } from "../row.ts";
import { ints } from "../text.ts";

const dimsOf = ({ dim, node }: Site, name: string): number[] =>
  ((node.attrs[name] ?? []) as readonly Dim[]).map(dim);

/**
 * A slice. What is cut from an iota is counted from its start instead: the values of extents are read so, and no tensor of that
 * size is to be held.
 */
const slice: Row = (site, x) => {
  const { b, node, type } = site;
  const [start, stride] = [dimsOf(site, "start"), listOf(node.attrs.stride)];
  const source = node.operands[0]!;
  if (source.op !== "iota") return b.slice(x!, start, dimsOf(site, "limit"), stride);
  const axis = source.attrs.axis as number;
  const counted = b.iota(type.dtype, type.shape, axis);
  const steps = b.map("multiply", counted, b.like(type, stride[axis]!));
  return b.map("add", steps, b.like(type, start[axis]!));
};

interface Window {
  readonly size: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
}

const windowOf = (site: Site): Window => ({
  size: dimsOf(site, "size"),
  stride: listOf(site.node.attrs.stride),
  dilation: listOf(site.node.attrs.dilation),
});

/** x[…, D, …] → [..., O, …, size] along one axis: a slice for each place in the window. */
function windowsAlong(b: Builder, x: Ref, axis: number, count: number, w: Window, i: number): Ref {
  const [size, stride, dilation] = [w.size[i]!, w.stride[i]!, w.dilation[i]!];
  const parts = range(size).map((k) => {
    const start = x.shape.map((_, a) => (a === axis ? k * dilation : 0));
    const limit = x.shape.map((n, a) => (a === axis ? k * dilation + (count - 1) * stride + 1 : n));
    const part = b.slice(
      x,
      start,
      limit,
      x.shape.map((_, a) => (a === axis ? stride : 1)),
    );
    return b.reshape(part, [...part.shape, 1]);
  });
  return b.concat(parts, x.shape.length);
}

const windows: Row = (site, x) => {
  const w = windowOf(site);
  const lead = x!.shape.length - w.size.length;
  return w.size.reduce(
    (y, _, i) => windowsAlong(site.b, y, lead + i, site.type.shape[lead + i]!, w, i),
    x!,
  );
};

/** The transpose of `windowsAlong`: the last axis is added back to `axis`. */
function foldAlong(b: Builder, x: Ref, axis: number, extent: number, w: Window, i: number): Ref {
  const [size, stride, dilation] = [w.size[i]!, w.stride[i]!, w.dilation[i]!];
  const kept = x.shape.slice(0, -1);
  const at = (value: number) => kept.map((_, a) => (a === axis ? value : 0));
  const spread = (kept[axis]! - 1) * stride + 1;
  const parts = range(size).map((k) => {
    const start = [...kept.map(() => 0), k];
    const part = b.reshape(b.slice(x, start, [...kept, k + 1]), kept);
    const high = extent - spread - k * dilation;
    return b.pad(part, b.constant(x.dtype, 0), at(k * dilation), at(high), at(stride - 1));
  });
  return parts.reduce((sum, part) => b.map("add", sum, part));
}

const fold: Row = (site, x) => {
  const { b, type } = site;
  const w = windowOf(site);
  const lead = type.shape.length - w.size.length;
  // Halves are added up in f32 and rounded once.
  const wide = isHalf(type.dtype) ? b.convert(x!, "f32") : x!;
  const sum = range(w.size.length).reduceRight(
    (y, i) => foldAlong(b, y, lead + i, type.shape[lead + i]!, w, i),
    wide,
  );
  return b.convert(sum, type.dtype);
};

export const movement: Rows = {
  constant: ({ b, node, type }) => b.constant(type.dtype, node.attrs.value as number),
  iota: ({ b, node, type }) => b.iota(type.dtype, type.shape, node.attrs.axis as number),
  reshape: ({ b, type }, x) => b.reshape(x!, type.shape),
  transpose: ({ b, node, type }, x) =>
    b.op("transpose", [x!], type, { permutation: ints(listOf(node.attrs.perm)) }),
  broadcastInDim: ({ b, node, type }, x) => b.broadcast(x!, type.shape, listOf(node.attrs.dims)),
  slice,
  pad: (site, x, value) =>
    site.b.pad(
      x!,
      value!,
      dimsOf(site, "low"),
      dimsOf(site, "high"),
      listOf(site.node.attrs.interior),
    ),
  concat: ({ b, node }, ...xs) => b.concat(xs, node.attrs.axis as number),
  reverse: ({ b, node, type }, x) =>
    b.op("reverse", [x!], type, { dimensions: ints(listOf(node.attrs.axes)) }),
  windows,
  fold,
};
