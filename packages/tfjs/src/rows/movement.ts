/** Rows of kernels that move elements, or make them from attributes alone. */
import {
  type BatchToSpaceNDAttrs,
  type BroadCastToAttrs,
  backend_util,
  type CastAttrs,
  type ConcatAttrs,
  type DepthToSpaceAttrs,
  type ExpandDimsAttrs,
  type FillAttrs,
  type LinSpaceAttrs,
  type MirrorPadAttrs,
  type OneHotAttrs,
  type PackAttrs,
  type PadV2Attrs,
  type RangeAttrs,
  type ReverseAttrs,
  type SliceAttrs,
  type SpaceToBatchNDAttrs,
  type SplitVAttrs,
  type StridedSliceAttrs,
  slice_util,
  type TileAttrs,
  type TransposeAttrs,
  type UnpackAttrs,
  util,
} from "@tensorflow/tfjs-core";
import type { Dtype, Tensor } from "kiln-ml/ir";
import * as ir from "kiln-ml/ir";
import type { Operands, Rows } from "../row.ts";
import { dtypes } from "../value.ts";
import { shapeOf } from "./operand.ts";
import { axesOf } from "./reduce.ts";

/** Towards zero, as integers are stored; NaN is 0. */
function cast({ x }: Operands, { dtype }: CastAttrs): Tensor | undefined {
  const to = dtypes[dtype];
  return to && x!.convert(to);
}

function concat(operands: Operands, { axis }: ConcatAttrs): Tensor | undefined {
  const list = Object.values(operands);
  const shapes = list.map(shapeOf);
  backend_util.assertParamsConsistent(shapes, axesOf(list[0]!, axis)[0]!);
  const filled = list.filter((x) => util.sizeFromShape(shapeOf(x)) > 0);
  const [along] = axesOf(list[0]!, axis);
  return filled.length > 1 ? ir.concat(filled, along) : filled.length ? filled[0] : undefined;
}

function slice({ x }: Operands, { begin, size }: SliceAttrs): Tensor {
  const like = { shape: shapeOf(x!) } as never;
  const [start = [], extents = []] = slice_util.parseSliceParams(like, begin, size);
  slice_util.assertParamsValid(like, start, extents);
  const limit = start.map((s, i) => s + extents[i]!);
  return ir.slice(x!, start, limit);
}

function stridedSlice({ x }: Operands, attrs: StridedSliceAttrs): Tensor {
  const info = slice_util.sliceInfo(
    shapeOf(x!),
    attrs.begin,
    attrs.end,
    attrs.strides,
    attrs.beginMask,
    attrs.endMask,
    attrs.ellipsisMask,
    attrs.newAxisMask,
    attrs.shrinkAxisMask,
  );
  if (info.isIdentity) return ir.reshape(x!, info.finalShape);
  const { begin, strides } = info;
  const extents = slice_util.computeOutShape(begin, info.end, strides);
  // From the other end where the stride is negative.
  const back = strides.flatMap((s, i) => (s < 0 ? [i] : []));
  const turned = back.length ? ir.reverse(x!, back) : x!;
  const start = begin.map((b, i) => (strides[i]! < 0 ? shapeOf(x!)[i]! - 1 - b : b));
  const step = strides.map(Math.abs);
  const from = start.map((s, i) => (extents[i]! > 0 ? s : 0));
  const limit = from.map((s, i) => (extents[i]! > 0 ? s + (extents[i]! - 1) * step[i]! + 1 : s));
  return ir.reshape(ir.slice(turned, from, limit, step), info.finalShape);
}

function split({ x }: Operands, { numOrSizeSplits, axis }: SplitVAttrs): Tensor[] {
  const [along] = axesOf(x!, axis);
  const sizes = backend_util.prepareSplitSize(x as never, numOrSizeSplits, along);
  return ir.split(x!, sizes, along);
}

function unpack({ value }: Operands, { axis }: UnpackAttrs): Tensor[] {
  const [along] = axesOf(value!, axis);
  const count = shapeOf(value!)[along!]!;
  return Array.from({ length: count }, (_, i) => ir.take(value!, i, along));
}

function padded({ x }: Operands, { paddings, constantValue }: PadV2Attrs): Tensor {
  const [low, high] = [paddings.map((p) => p[0]), paddings.map((p) => p[1])];
  const value = x!.dtype === "bool" ? ir.constant(constantValue !== 0, "bool") : constantValue;
  return ir.pad(x!, value, low, high);
}

/** The elements beside an edge, in reverse: without the edge itself for "reflect". */
function mirrored({ x }: Operands, { paddings, mode }: MirrorPadAttrs): Tensor {
  const edge = mode === "reflect" ? 1 : 0;
  return paddings.reduce((t, [low, high], axis) => {
    const extent = shapeOf(t)[axis]!;
    const part = (from: number, to: number) =>
      to > from ? [ir.reverse(ir.sliceAxis(t, axis, from, to), axis)] : [];
    const [before, after] = [part(edge, low + edge), part(extent - high - edge, extent - edge)];
    return before.length + after.length ? ir.concat([...before, t, ...after], axis) : t;
  }, x!);
}

function fill(_: Operands, { shape, value, dtype }: FillAttrs): Tensor | undefined {
  const to = dtypes[dtype ?? util.inferDtype(value)];
  return to && typeof value !== "string" ? ir.full(shape, value, to) : undefined;
}

/** A list of numbers that the program holds. */
const held = (values: readonly number[], dtype: Dtype): Tensor =>
  ir.tensor(dtype === "f32" ? Float32Array.from(values) : Int32Array.from(values), { dtype });

function range(_: Operands, { start, stop, step, dtype }: RangeAttrs): Tensor | undefined {
  const values = steps(start, stop, step);
  return values.length ? held(values, dtypes[dtype]!) : undefined;
}

function steps(start: number, stop: number, step: number): number[] {
  const towards = (start < stop && step < 0) || (stop < start && step > 1);
  if (start === stop || towards) return [];
  const by = stop < start && step === 1 ? -1 : step;
  const values = [start];
  const count = Math.abs(Math.ceil((stop - start) / by));
  for (let i = 1; i < count; i++) values.push(values[i - 1]! + by);
  return values;
}

function linSpace(_: Operands, { start, stop, num }: LinSpaceAttrs): Tensor {
  const by = (stop - start) / (num - 1);
  const values = [start];
  for (let i = 1; i < num; i++) values.push(values[i - 1]! + by);
  return held(values, "f32");
}

function oneHot({ indices }: Operands, attrs: OneHotAttrs): Tensor {
  const { depth, onValue, offValue, dtype } = attrs;
  const to = dtypes[dtype ?? "float32"]!;
  // By places and not by indices, of which negative ones would count from the end.
  const shape = [...shapeOf(indices!), depth];
  const places = ir.iota(shape, shape.length - 1, indices!.dtype === "f32" ? "f32" : "i32");
  const flags = ir.equal(places, ir.expandDims(indices!, -1));
  return ir.select(flags, ir.full(flags.shape, onValue, to), ir.full(flags.shape, offValue, to));
}

function diag({ x }: Operands): Tensor {
  const size = util.sizeFromShape(shapeOf(x!));
  const y = ir.reshape(ir.diag(ir.reshape(x!, [size])), [...shapeOf(x!), ...shapeOf(x!)]);
  return y.convert(x!.dtype);
}

function depthToSpace({ x }: Operands, { blockSize: b, dataFormat }: DepthToSpaceAttrs): Tensor {
  const last = dataFormat === "NHWC";
  const nhwc = last ? x! : ir.transpose(x!, [0, 2, 3, 1]);
  const [n, h, w, c] = shapeOf(nhwc) as [number, number, number, number];
  const blocks = ir.reshape(nhwc, [n, h, w, b, b, c / (b * b)]);
  const spread = ir.transpose(blocks, [0, 1, 3, 2, 4, 5]);
  const y = ir.reshape(spread, [n, h * b, w * b, c / (b * b)]);
  return last ? y : ir.transpose(y, [0, 3, 1, 2]);
}

function batchToSpace({ x }: Operands, { blockShape, crops }: BatchToSpaceNDAttrs): Tensor {
  const prod = blockShape.reduce((a, b) => a * b, 1);
  const shape = shapeOf(x!);
  const reshaped = backend_util.getReshaped(shape, blockShape, prod);
  const perm = backend_util.getPermuted(reshaped.length, blockShape.length);
  const joined = backend_util.getReshapedPermuted(shape, blockShape, prod);
  const begin = backend_util.getSliceBeginCoords(crops, blockShape.length);
  const size = backend_util.getSliceSize(joined, crops, blockShape.length);
  const y = ir.reshape(ir.transpose(ir.reshape(x!, reshaped), perm), joined);
  // The list of places ends with one axis behind the blocks; those after it are whole.
  const start = joined.map((_, i) => begin[i] ?? 0);
  return ir.slice(
    y,
    start,
    start.map((b, i) => b + (size[i] ?? joined[i]!)),
  );
}

function spaceToBatch({ x }: Operands, { blockShape, paddings }: SpaceToBatchNDAttrs): Tensor {
  const prod = blockShape.reduce((a, b) => a * b, 1);
  const rest = shapeOf(x!).length - 1 - blockShape.length;
  const all = [[0, 0], ...paddings, ...Array.from({ length: rest }, () => [0, 0])];
  const wide = ir.pad(
    x!,
    0,
    all.map((p) => p[0]!),
    all.map((p) => p[1]!),
  );
  const shape = shapeOf(wide);
  const reshaped = backend_util.getReshaped(shape, blockShape, prod, false);
  const perm = backend_util.getPermuted(reshaped.length, blockShape.length, false);
  const joined = backend_util.getReshapedPermuted(shape, blockShape, prod, false);
  return ir.reshape(ir.transpose(ir.reshape(wide, reshaped), perm), joined);
}

// biome-ignore format: one kernel a row
export const movement: Rows = {
  Cast:        cast,
  Reshape:     ({ x }: Operands, { shape }: { shape: number[] }) => ir.reshape(x!, shape),
  ExpandDims:  ({ input }: Operands, { dim }: ExpandDimsAttrs) => ir.expandDims(input!, dim),
  Transpose:   ({ x }: Operands, { perm }: TransposeAttrs) => ir.transpose(x!, perm),
  Concat:      concat,
  Slice:       slice,
  StridedSlice: stridedSlice,
  SplitV:      split,
  Pack:        (operands: Operands, { axis }: PackAttrs) => ir.stack(Object.values(operands), axis),
  Unpack:      unpack,
  Tile:        ({ x }: Operands, { reps }: TileAttrs) => ir.tile(x!, reps),
  PadV2:       padded,
  MirrorPad:   mirrored,
  Reverse:     ({ x }: Operands, { dims }: ReverseAttrs) => ir.reverse(x!, axesOf(x!, dims)),
  FlipLeftRight: ({ image }: Operands) => ir.reverse(image!, 2),
  BroadcastTo: ({ x }: Operands, { shape }: BroadCastToAttrs) => ir.broadcastTo(x!, shape),
  OnesLike:    ({ x }: Operands) => ir.onesLike(x!),
  ZerosLike:   ({ x }: Operands) => ir.zerosLike(x!),
  Fill:        fill,
  Range:       range,
  LinSpace:    linSpace,
  OneHot:      oneHot,
  Diag:        diag,
  DepthToSpace: depthToSpace,
  BatchToSpaceND: batchToSpace,
  SpaceToBatchND: spaceToBatch,
};
