/**
 * The operands of a contraction as a CPU schedule reads them. The input of a padded or dilated
 * convolution is first copied with its zeros in place: then every index is a sum of multiples of
 * the loops, nothing needs a guard, and what was fused into the input is computed once an element
 * and not once a tap.
 *
 * Why a copy: a guard in the packing loop costs a comparison and a select a tap and keeps the loop
 * out of lanes; the copy costs one pass over the input, a ninth of the reads of a 3×3 window.
 */
import {
  addDim,
  ceilDiv,
  type Dim,
  maxDim,
  minDim,
  mulDim,
  offsetOf,
  opOf,
  sizeOf,
  subDim,
} from "@kiln-ml/ir";
import { isLeaf } from "../../access.ts";
import { type ContractionOperand, type Loop, makeLoop } from "../../fuse/group.ts";
import { constant, load } from "../../kernel/expr.ts";
import type { Expr, LoopKind, Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { indexName } from "../../kernel/names.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { decode, nest, renamed, totalOf } from "../../lower/loops.ts";
import { elementOf } from "../../lower/naive.ts";
import { inDtype, sumDtype, type Values } from "../../lower/value.ts";
import { isAffine } from "./affine.ts";

export interface Operand {
  /** The element at the loops' values under a renaming. */
  value(block: Values, rename: Rename): Expr;
  /** What must run before, as a phase; empty if nothing. */
  readonly before: readonly Stmt[];
}

/**
 * Both operands; that of a convolution with zeros around or between its elements by way of a copy.
 */
export function operandsOf(context: LoweringContext): { a: Operand; b: Operand } {
  const c = context.group.contraction!;
  const padded = context.group.anchor!.op === "convolution" && worthCopy(context);
  return { a: plain(c.a), b: padded ? copied(context) : plain(c.b) };
}

/** An operand as it lies. */
export const plain = (o: ContractionOperand): Operand => ({
  value: (block, rename) => inDtype(elementOf(block, o, rename), sumDtype(o.operand.dtype)),
  before: [],
});

/**
 * A copy pays where places would have to be checked, or where what is fused into the input is
 * computed per tap.
 */
function worthCopy(context: LoweringContext): boolean {
  const { b, k } = context.group.contraction!;
  if (b.when.length > 0) return true;
  const taps = k.slice(1).some((l) => l.extent !== 1);
  return taps && !isLeaf(b.operand) && !context.outside(b.operand);
}

interface Axis {
  /** Place in the padded input, and how many there are. */
  readonly place: Dim;
  readonly extent: Dim;
  readonly low: Dim;
  readonly dilation: number;
  readonly source: Dim;
}

function axesOf(context: LoweringContext): Axis[] {
  const t = opOf(context.group.anchor!, "convolution");
  const c = context.group.contraction!;
  const { stride, low, lhsDilation, rhsDilation } = t.attrs;
  const loops = [...c.m, ...c.n, ...c.batch];
  return c.k.slice(1).map((tap, i) => {
    const out = loops.find((l) => l.name === indexName(`y${i}`))!;
    const reach = mulDim(subDim(tap.extent, 1), rhsDilation[i]!);
    return {
      place: addDim(mulDim(out.at, stride[i]!), mulDim(tap.at, rhsDilation[i]!)),
      extent: addDim(addDim(mulDim(subDim(out.extent, 1), stride[i]!), reach), 1),
      low: low[i]!,
      dilation: lhsDilation[i]!,
      source: t.operands[0]!.shape[i + 2]!,
    };
  });
}

function copied(context: LoweringContext): Operand {
  const { b } = context.group.contraction!;
  const axes = axesOf(context);
  const [images, channels] = b.operand.shape as [Dim, Dim];
  const shape = [images, channels, ...axes.map((x) => x.extent)];
  const { dtype } = b.operand;
  const name = context.buffers.scratch("padded", dtype, sizeOf(shape));
  const coords = [b.coords[0]!, b.coords[1]!, ...axes.map((x) => x.place)];
  const planes = [makeLoop("image", images), makeLoop("channel", channels)];
  const unit = makeLoop("unit", totalOf(planes));
  const base = mulDim(unit.at, sizeOf(axes.map((x) => x.extent)));
  const [image, channel] = planes.map((l) => l.at) as [Dim, Dim];
  return {
    value: (_, rename) => load(name, dtype, renamed([offsetOf(shape, coords)], rename)[0]!),
    before: [
      { kind: "comment", text: "the input with its zeros" },
      ...nest([unit], "parallel", [
        ...decode(planes, unit.at),
        ...fillPlane(context, { name, base, image, channel }, axes),
      ]),
    ],
  };
}

/** One plane of the input with its zeros, in private memory: where it is worth a copy. */
export function privatePlane(context: LoweringContext) {
  if (!worthCopy(context)) return undefined;
  const { b } = context.group.contraction!;
  const axes = axesOf(context);
  const shape = axes.map((x) => x.extent);
  const [name, { dtype }] = ["plane", b.operand];
  const array: Stmt = { kind: "array", name, dtype, size: sizeOf(shape), space: "private" };
  const [image, channel] = b.coords as [Dim, Dim];
  const index = offsetOf(
    shape,
    axes.map((x) => x.place),
  );
  return {
    array,
    fill: fillPlane(context, { name, base: 0, image, channel }, axes),
    value: (_: Values, rename: Rename): Expr => load(name, dtype, renamed([index], rename)[0]!),
  };
}

interface Plane {
  readonly name: string;
  readonly base: Dim;
  readonly image: Dim;
  readonly channel: Dim;
}

/** Fills a plane with zeros, then puts its elements in their places. */
function fillPlane(context: LoweringContext, plane: Plane, axes: readonly Axis[]): Stmt[] {
  const { operand } = context.group.contraction!.b;
  const shape = axes.map((x) => x.extent);
  const zero = makeLoop("z", sizeOf(shape));
  const none = constant(operand.dtype, 0);
  const clear = nest([zero], "simd", [
    { kind: "store", to: plane.name, index: addDim(plane.base, zero.at), value: none },
  ]);
  const loops = axes.map((x, i) => ({ ...makeLoop(`x${i}`, x.source), axis: x }));
  const block = openBlock(context);
  const value = block.at(operand, [plane.image, plane.channel, ...loops.map((l) => l.at)]);
  const to = loops.map((l) => addDim(mulDim(l.at, l.axis.dilation), l.axis.low));
  const index = addDim(plane.base, offsetOf(shape, to));
  block.body.push({ kind: "store", to: plane.name, index, value });
  const last = loops.at(-1)!;
  const lane = last.axis.dilation === 1 && isAffine(block.body, last.name) ? "simd" : "serial";
  const copy = loops.reduceRight<readonly Stmt[]>(
    (body, l) => [along(l, l === last ? lane : "serial", body)],
    block.body,
  );
  return [...clear, ...copy];
}

/** The elements along one axis whose places lie inside. */
function along(l: Loop & { axis: Axis }, loop: LoopKind, body: readonly Stmt[]): Stmt {
  const { low, dilation, extent, source } = l.axis;
  const start = maxDim(0, ceilDiv(subDim(0, low), dilation));
  const end = minDim(source, maxDim(0, ceilDiv(subDim(extent, low), dilation)));
  // A loop of one iteration has no variable; it still must not run where its element lies outside.
  return {
    kind: "loop",
    name: l.name,
    extent: end,
    ...(start === 0 ? {} : { start }),
    loop,
    body,
  };
}
