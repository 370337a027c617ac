/**
 * A contraction on a GPU: chooses between block tiles, matrix units and, for few lines, a skinny
 * kernel; which operand's lines are the rows of a tile and which its columns, and how large tiles
 * are. Columns are the direction in which the results lie in memory, so that stores are coalesced.
 */
import { addDim, type Dim, makeNode, offsetOf, type Tensor } from "@kiln-ml/ir";
import type { Loop } from "../../fuse/group.ts";
import { strideOf } from "../../kernel/stride.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { contractionKey } from "./key.ts";
import type { Which } from "./lines.ts";
import { gpuMatrix } from "./matrix.ts";
import { gpuSkinny, otherSkinny } from "./skinny.ts";
import { accessModesOf, gpuTile } from "./tile.ts";
import { cutsOf, nameOfCut, trial } from "./tiling.ts";
import { hasNativeHalf, tileBytes, workgroupLimitsOf } from "./workgroup-limits.ts";

const few = "few lines";

/** With `guest` the product is in a kernel of others, as where it has siblings or such guests. */
export function gpuContraction(given: LoweringContext, guest = false): Scheduled {
  const { choices } = given;
  const { siblings, guests } = given.group;
  const isShared = guest || siblings.length > 0 || guests.some((g) => g.kind === "contraction");
  const skinny = gpuSkinny(given, isShared);
  const apart = siblings.map((s) => s.anchor);
  if (apart.length > 0 && !skinny) return { body: [], workgroupSize: 1, apart };
  if (skinny && (isShared || !choices)) return skinny;
  const context = asItLies(given);
  const c = context.group.contraction!;
  const rows = rowsOf(context);
  const matrices = gpuMatrix(context, rows);
  if (matrices.length > 0 && !choices) return matrices[0]![1]();
  const [m, n] = (rows === "a" ? [c.m, c.n] : [c.n, c.m]).map(totalOf) as [Dim, Dim];
  const { anchor, operandReductions } = context.group;
  const conv = anchor!.op === "convolution";
  // The steps of a convolution's window depend on their depth, which is not the same in every part.
  const mixed = !conv && operandReductions.length === 0;
  const capacity = { ...workgroupLimitsOf(context), element: tileBytes, mixed };
  const access = accessModesOf(context, trial, rows);
  const { guarded } = access;
  const [single, window] = [{ rows: access.rows.single, columns: access.columns.single }, conv];
  const widened = hasNativeHalf(context, c.a.operand.dtype);
  const singles = { ...single, guarded, window, widened };
  const [batch, length] = [totalOf(c.batch), totalOf(c.k)];
  const extents = {
    rows: m,
    columns: n,
    batch,
    length,
    epilogueTraffic: epilogueTrafficOf(context),
  };
  const cuts = cutsOf(extents, capacity, singles);
  if (!choices) return gpuTile(context, cuts[0]!, rows);
  const tiles = cuts.map((t) => [nameOfCut(t), () => gpuTile(context, t, rows)] as const);
  const ways = new Map<string, () => Scheduled>([
    ...(skinny ? [[few, () => skinny] as const] : []),
    ...matrices,
    ...(skinny ? otherSkinny(context) : []),
    ...tiles,
  ]);
  const choice = choices.among(contractionKey(context, rows, access), [...ways.keys()]);
  return { ...ways.get(choice.chosen)!(), choice };
}

/**
 * What a result's end reads and stores, in memory accesses; vectors along one side are next to
 * nothing.
 */
function epilogueTrafficOf(context: LoweringContext): number {
  const { members, anchor } = context.group;
  const size = anchor!.shape.filter((d) => d !== 1).length;
  const read = new Set<Tensor>();
  for (const t of members.keys())
    if (t !== anchor)
      for (const o of t.operands)
        if (context.outside(o) && o.shape.filter((d) => d !== 1).length >= size) read.add(o);
  return read.size + [...members.keys()].filter((t) => context.stored.has(t)).length;
}

/**
 * A product in f32 of two operands that are f16 made f32: they are brought as f16, and the sum is
 * f32 all the same.
 */
function asItLies(context: LoweringContext): LoweringContext {
  const { contraction, operandReductions } = context.group;
  const c = contraction!;
  const [a, b] = [c.a, c.b].map(({ operand }) => unwidened(context, operand));
  if (!a || !b || operandReductions.length > 0) return context;
  if (!hasNativeHalf(context, a.dtype) || !hasNativeHalf(context, b.dtype)) return context;
  const narrow = { ...c, a: { ...c.a, operand: a }, b: { ...c.b, operand: b } };
  return { ...context, group: { ...context.group, contraction: narrow } };
}

/** What is widened to f32 here, in the shape that it is read in. */
function unwidened(context: LoweringContext, t: Tensor): Tensor | undefined {
  if (t.dtype !== "f32" || context.outside(t)) return undefined;
  if (t.op === "convert") return t.operands[0];
  if (t.op !== "reshape" && t.op !== "transpose") return undefined;
  const half = unwidened(context, t.operands[0]!);
  const { op, attrs, shape } = t;
  return half && makeNode({ op, operands: [half], attrs, dtype: half.dtype, shape });
}

/** The operand along whose lines fewer stores step by one element. */
function rowsOf(context: LoweringContext): Which {
  const { m, n } = context.group.contraction!;
  const along = (loops: readonly Loop[]): number => {
    const last = loops.filter((l) => l.extent !== 1).at(-1);
    if (!last) return 0;
    return [...context.group.members].filter(([node, { coords }]) => {
      if (!context.stored.has(node)) return false;
      const index = addDim(offsetOf(node.shape, coords), context.storage(node).offset);
      return strideOf(index, last.name) === 1;
    }).length;
  };
  return along(m) > along(n) ? "b" : "a";
}
