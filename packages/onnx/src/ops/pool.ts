/**
 * Pools over windows and over whole images. MaxPool also gives where each maximum stood; MaxUnpool puts it back there.
 */
import {
  addDim,
  avgPool,
  ceilDiv,
  type Dim,
  dimValue,
  floorDiv,
  inFloat32,
  iota,
  maxDim,
  maxPool,
  maxPoolWithIndices,
  minDim,
  mulDim,
  pad,
  reshape,
  scatter,
  sizeOf,
  stridesOf,
  subDim,
  type Tensor,
  windows,
  zeros,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { type Row, row } from "../row.ts";
import { typed } from "../value.ts";
import { type Frame, frameOf, kernelOf } from "./frame.ts";

const spatial = (x: Tensor): number[] => x.shape.slice(2).map((_, i) => i + 2);

/** The frame with what ceil_mode adds at the end: a last window counts if it starts before the padding there. */
function poolFrame(n: NodeContext, x: Tensor): Frame {
  const extents = x.shape.slice(2);
  const frame = frameOf(n, extents, kernelOf(n, extents.length));
  if (!n.flag("ceil_mode")) return frame;
  const padding = extents.map((d, i): [Dim, Dim] => {
    const [low, high] = frame.padding[i]!;
    const [size, stride, dilation] = [frame.size[i]!, frame.stride[i]!, frame.dilation[i]!];
    const reach = (size - 1) * dilation + 1;
    const all = addDim(addDim(d, low), high);
    const started = addDim(floorDiv(subDim(addDim(d, low), 1), stride), 1);
    const count = minDim(addDim(ceilDiv(subDim(all, reach), stride), 1), started);
    const needed = addDim(mulDim(subDim(count, 1), stride), reach);
    return [low, addDim(high, maxDim(subDim(needed, all), 0))];
  });
  return { ...frame, padding };
}

/** All windows of x, with `value` around it: the axes of a window are the last. */
function windowed(x: Tensor, frame: Frame, value: number): Tensor {
  const low = [0, 0, ...frame.padding.map(([l]) => l)];
  const high = [0, 0, ...frame.padding.map(([, h]) => h)];
  const around = [...low, ...high].every((d) => d === 0) ? x : pad(x, value, low, high);
  const { size, stride, dilation } = frame;
  return windows(around, { size, stride, dilation });
}

const windowAxes = (frame: Frame): number[] => frame.size.map((_, i) => i - frame.size.length);

/** The place of each maximum in x as one number: row-major, or with the spatial axes in reverse order. */
function placesOfMax(n: NodeContext, x: Tensor, frame: Frame): Tensor {
  const { indices } = maxPoolWithIndices(x, frame);
  const [extents, strides] = [x.shape.slice(2), stridesOf(x.shape.slice(2))];
  const plane = iota(indices.shape, 0).mul(dimValue(x.shape[1]!)).add(iota(indices.shape, 1));
  const columns = n.int("storage_order", 0) === 1;
  if (!columns) return plane.mul(dimValue(sizeOf(extents))).add(indices);
  let place = plane;
  for (const [i, d] of [...extents.entries()].reverse()) {
    const high = indices.div(dimValue(strides[i]!));
    place = place.mul(dimValue(d)).add(i === 0 ? high : high.rem(dimValue(d)));
  }
  return place;
}

function maxPooled(n: NodeContext): Result {
  const x = n.tensor(0);
  const frame = poolFrame(n, x);
  const y = typed(maxPool(x, frame), n.type(0));
  return n.wants(1) ? [y, typed(placesOfMax(n, x, frame), "int64")] : y;
}

function averagePooled(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const extents = x.shape.slice(2);
  const frame = frameOf(n, extents, kernelOf(n, extents.length));
  return avgPool(x, {
    ...frame,
    ceilMode: n.flag("ceil_mode"),
    countIncludePad: n.flag("count_include_pad"),
  });
}

/** (Σ |x|^p)^(1/p) of `t` over `axes`. */
const powerNorm = (x: Tensor, p: number, axes: readonly number[], keepDims = false): Tensor =>
  inFloat32([x], (t) => {
    if (p === 1) return t.abs().sum(axes, { keepDims });
    if (p === 2) return t.mul(t).sum(axes, { keepDims }).sqrt();
    return t
      .abs()
      .pow(p)
      .sum(axes, { keepDims })
      .pow(1 / p);
  });

function lpPooled(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const frame = poolFrame(n, x);
  return powerNorm(windowed(x, frame, 0), n.int("p", 2), windowAxes(frame));
}

/** The values put where the indices say in a larger image, the rest 0. Indices count in the image that the window implies. */
function maxUnpooled(n: NodeContext): Tensor {
  const [x, index] = [n.tensor(0), n.tensor(1)];
  const extents = x.shape.slice(2);
  const frame = frameOf(n, extents, kernelOf(n, extents.length));
  const implied = extents.map((d, i) => {
    const [low, high] = frame.padding[i]!;
    const full = addDim(mulDim(subDim(d, 1), frame.stride[i]!), frame.size[i]!);
    return subDim(full, addDim(low, high));
  });
  const shape = [...x.shape.slice(0, 2), ...implied];
  const size = sizeOf(x.shape);
  const y = scatter(
    zeros([sizeOf(shape)], x.dtype),
    reshape(x, [size]),
    [reshape(index, [size])],
    [0],
    "set",
  );
  const image = reshape(y, shape);
  if (!n.has(2)) return image;
  const wanted = n.dims(2);
  const none = shape.map(() => 0);
  return pad(
    image,
    0,
    none,
    shape.map((d, i) => subDim(wanted[i]!, d)),
  );
}

const overImage = (reduce: (x: Tensor, axes: readonly number[]) => Tensor) => (n: NodeContext) =>
  reduce(n.tensor(0), spatial(n.tensor(0)));

export const poolRows: readonly Row[] = [
  row("MaxPool", maxPooled),
  row("AveragePool", averagePooled),
  row("LpPool", lpPooled),
  row(
    "GlobalMaxPool",
    overImage((x, axes) => x.max(axes, { keepDims: true })),
  ),
  row(
    "GlobalAveragePool",
    overImage((x, axes) => x.mean(axes, { keepDims: true })),
  ),
  row("GlobalLpPool", (n) => powerNorm(n.tensor(0), n.int("p", 2), spatial(n.tensor(0)), true)),
  row("MaxUnpool", maxUnpooled),
];
