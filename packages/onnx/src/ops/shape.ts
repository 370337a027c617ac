/**
 * Ops about shapes: they read extents, or give the same elements another shape. Extents may be symbolic everywhere.
 */
import {
  broadcastInDim,
  broadcastShapes,
  broadcastTo,
  checkAxes,
  checkAxis,
  type Dim,
  dimValue,
  exactQuotient,
  isStatic,
  mulDim,
  printShape,
  reshape,
  sizeOf,
  squeeze,
  stack,
  type Tensor,
  transpose,
  zeros,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";

/** Extents as a tensor of rank 1, which may be empty. */
export const extentsTensor = (shape: readonly Dim[]): Tensor =>
  shape.length ? stack(shape.map((d) => dimValue(d))) : zeros([0], "i32");

function shapeOf(n: NodeContext): Tensor {
  const { shape, rank } = n.tensor(0);
  const clamp = (i: number) => Math.max(0, Math.min(rank, i < 0 ? i + rank : i));
  return extentsTensor(shape.slice(clamp(n.int("start", 0)), clamp(n.int("end", rank))));
}

/** 0 copies an extent of x; −1 is what the others leave. Copied extents cancel, so that they may be 0 or symbolic. */
function reshaped(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const wanted = n.dims(1);
  const copied = wanted.map((d, i) => d === 0 && !n.flag("allowzero") && i < x.rank);
  const target = wanted.map((d, i) => (copied[i] ? x.shape[i]! : d));
  const open = wanted.indexOf(-1);
  if (open < 0) return reshape(x, target);
  const left = sizeOf(x.shape.filter((_, i) => !copied[i]));
  const taken = sizeOf(target.filter((_, i) => i !== open && !copied[i]));
  const rest = exactQuotient(left, taken);
  if (rest === undefined) return reshape(x, target);
  return reshape(
    x,
    target.map((d, i) => (i === open ? rest : d)),
  );
}

function flattened(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const axis = n.int("axis", 1);
  const at = axis < 0 ? axis + x.rank : axis;
  return reshape(x, [sizeOf(x.shape.slice(0, at)), sizeOf(x.shape.slice(at))]);
}

/** Axes: an attribute before opset 13, an input since; undefined where there are none. */
export function axesOf(n: NodeContext, input: number, since = 13): readonly number[] | undefined {
  if (n.opset >= since) return n.has(input) ? n.numbers(input) : undefined;
  return n.hasAttribute("axes") ? n.ints("axes") : undefined;
}

/** Without axes, all extents of 1 go: then symbols do not tell the rank of the result. */
function squeezed(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const axes = axesOf(n, 1);
  if (!axes && !x.shape.every(isStatic))
    return n.fail(`no axes are given, and the shape ${printShape(x.shape)} has symbols`);
  return squeeze(x, axes);
}

function unsqueezed(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const given = axesOf(n, 1) ?? n.fail("axes are missing");
  const rank = x.rank + given.length;
  const axes = checkAxes("unsqueeze", given, rank);
  const rest = [...x.shape];
  return reshape(
    x,
    Array.from({ length: rank }, (_, i) => (axes.includes(i) ? 1 : rest.shift()!)),
  );
}

/** Each repeated axis is broadcast beside itself and joined with its copies. */
function tiled(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const repeats = n.dims(1);
  if (repeats.length !== x.rank) n.fail(`${repeats.length} repeats for a tensor of rank ${x.rank}`);
  const spread: Dim[] = [];
  const place: number[] = [];
  for (const [i, d] of x.shape.entries()) {
    if (repeats[i] !== 1) spread.push(repeats[i]!);
    place.push(spread.length);
    spread.push(d);
  }
  return reshape(
    broadcastInDim(x, spread, place),
    x.shape.map((d, i) => mulDim(d, repeats[i]!)),
  );
}

function expanded(n: NodeContext): Tensor {
  const x = n.tensor(0);
  return broadcastTo(x, broadcastShapes("expand", x.shape, n.dims(1)));
}

/** [N, C·b², H, W] → [N, C, H·b, W·b]; the block's axes stand before the channels (DCR) or after. */
function depthToSpace(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const [batch, channels, h, w] = x.shape as [Dim, Dim, Dim, Dim];
  const b = n.int("blocksize");
  const c = exactQuotient(channels, b * b) ?? n.fail(`blocks of ${b}² do not divide the channels`);
  const first = n.string("mode", "DCR") === "DCR";
  const parts = reshape(x, first ? [batch, b, b, c, h, w] : [batch, c, b, b, h, w]);
  const order = first ? [0, 3, 4, 1, 5, 2] : [0, 1, 4, 2, 5, 3];
  return reshape(transpose(parts, order), [batch, c, mulDim(h, b), mulDim(w, b)]);
}

function spaceToDepth(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const [batch, c, height, width] = x.shape as [Dim, Dim, Dim, Dim];
  const b = n.int("blocksize");
  const [h, w] = [height, width].map(
    (d) => exactQuotient(d, b) ?? n.fail(`blocks of ${b} do not divide the image`),
  ) as [Dim, Dim];
  const parts = reshape(x, [batch, c, h, b, w, b]);
  return reshape(transpose(parts, [0, 3, 5, 1, 2, 4]), [batch, mulDim(c, b * b), h, w]);
}

/** The elements as one axis. */
export const flat = (x: Tensor): Tensor => reshape(x, [sizeOf(x.shape)]);

/** A tensor of one element as one of rank 0. */
export function scalar(n: NodeContext, i: number): Tensor {
  const x = n.tensor(i);
  if (x.shape.some((d) => !isStatic(d) || d !== 1)) n.fail(`input ${i} has more than one element`);
  return reshape(x, []);
}

export const shapeRows: readonly Row[] = [
  row("Shape", shapeOf, { type: "int64" }),
  row("Size", (n) => dimValue(sizeOf(n.tensor(0).shape)), { type: "int64" }),
  row("Reshape", reshaped),
  row("Flatten", flattened),
  row("Squeeze", squeezed),
  row("Unsqueeze", unsqueezed),
  row("Transpose", (n) => {
    const x = n.tensor(0);
    const perm = n.hasAttribute("perm") ? n.ints("perm") : undefined;
    return transpose(
      x,
      perm?.map((p) => checkAxis("transpose", p, x.rank)),
    );
  }),
  row("Expand", expanded),
  row("Tile", tiled),
  row("DepthToSpace", depthToSpace),
  row("SpaceToDepth", spaceToDepth),
];
