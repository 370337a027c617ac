/**
 * Splits long sums of products that give few results, weight gradients above all, into parts that
 * run side by side, and adds the parts in a second kernel.
 *
 * before:
 *   graph f(%a: f32[64,4096], %b: f32[4096,64]) {
 *     %1: f32[64,64] = dotGeneral %a %b {lhsBatch=[], rhsBatch=[], lhsContract=[1], rhsContract=[0]}
 *     return %1
 *   }
 * after:
 *   graph f(%a: f32[64,4096], %b: f32[4096,64]) {
 *     %1: f32[64,32,128] = reshape %a
 *     %2: f32[32,128,64] = reshape %b
 *     %3: f32[32,64,64] = dotGeneral %1 %2 {lhsBatch=[1], rhsBatch=[0], lhsContract=[2], rhsContract=[1]}
 *     %4: f32[64,64] = reduceSum %3 {axes=[0]}
 *     return %4
 *   }
 *
 * Sums are added in another order, so a target asks for this pass if it wants it. Parts of halves
 * are f32, so that they are not rounded. Not done for symbolic extents, for products of attentions,
 * which need no intermediate result, nor where no divisor of the sum's length gives parts of a fair
 * size.
 */
import {
  attrKey,
  isOp,
  isStatic,
  makeNode,
  type NodeOf,
  printShape,
  type Shape,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";
import { aliasRoot } from "../access.ts";
import type { Choices } from "../choices.ts";
import { findAttention } from "../fuse/attention.ts";
import { skinnyLines } from "../fuse/contraction.ts";
import { secondsOf } from "../machine/machine.ts";
import { type Product, secondsOfProduct } from "../machine/seconds.ts";
import { products } from "../machine/splits.ts";
import { card } from "../machine/webgpu.ts";
import type { Pass } from "../pass.ts";
import { nodesOf, type Program, rewriteProgram, rootsOf } from "../program.ts";
import { inDtype, partDtype } from "./split-reduce.ts";

const { leastLength, leastPart, mostParts, busyLines, partOfLines } = products;

export const splitContraction: Pass = {
  name: "split-contraction",
  reassociates: true,
  run: (program, choices) => {
    const kept = inAttention(program);
    return rewriteProgram(program, (node, before) => {
      if (kept.has(before) || (node.dtype !== "i32" && partDtype(node) !== "f32")) return node;
      if (isOp(node, "dotGeneral")) return splitDot(node, choices);
      return node.op === "convolution" ? splitConvolution(node, choices) : node;
    });
  },
};

/** The products of attentions, which are kernels together. */
function inAttention(program: Program): Set<Tensor> {
  const { all } = findAttention(nodesOf(program), new Set(rootsOf(program).map(aliasRoot)));
  return new Set(all.flatMap(({ made, sums }) => [...made, ...sums.map((s) => s.result)]));
}

/** The greatest divisor of `extent` up to `most`. */
function divisorUpTo(extent: number, most: number): number {
  for (let d = Math.floor(most); d > 1; d--) if (extent % d === 0) return d;
  return 1;
}

interface Sum extends Product {
  readonly node: Tensor;
  /** Iterations of the loop that is split. */
  readonly extent: number;
  /** Workgroups, where few lines on one side are not the work of tiles. */
  readonly lines?: number;
}

/** In how many parts a loop should run; 1 for not at all. */
function partsFor(sum: Sum, choices: Choices | undefined): number {
  const { node, extent, length, lines } = sum;
  if (length < leastLength) return 1;
  const most = Math.min(mostParts, length / leastPart);
  const parts = lines ? busyParts(sum, lines) : fastestParts(sum, most);
  const others = [parts / 4, parts / 2, parts * 2, parts * 4, 1].map((count) =>
    divisorUpTo(extent, Math.min(count, most)),
  );
  const options = [...new Set([parts, ...others])];
  if (!choices || options.length === 1) return parts;
  const operands = node.operands.map((t) => printShape(t.shape)).join(" ");
  const key = `parts ${node.op} ${node.dtype} ${operands} ${attrKey(node.attrs)}`;
  const choice = choices.among(key, options.map(String));
  choices.noteNode(choice, node);
  return Number(choice.chosen);
}

/** As many as keep a device busy with workgroups of few lines. */
const busyParts = ({ extent, length }: Sum, lines: number): number =>
  divisorUpTo(extent, Math.min(mostParts, busyLines / lines, length / partOfLines));

/** Those that take the least time, with the kernel that adds them; the fewest of equals. */
function fastestParts(sum: Sum, most: number): number {
  const { rows, columns, batch, length, extent } = sum;
  const secondsOfParts = (parts: number): number => {
    const part = { rows, columns, batch: batch * parts, length: length / parts };
    if (parts === 1) return secondsOfProduct(part, card);
    const bytes = 4 * rows * columns * batch * (2 * parts + 1);
    return secondsOfProduct(part, card) + card.launch + secondsOf({ flops: 0, bytes }, card);
  };
  let [best, least] = [1, secondsOfParts(1)];
  for (let parts = 2; parts <= most; parts++) {
    if (extent % parts !== 0) continue;
    const seconds = secondsOfParts(parts);
    if (seconds < least) [best, least] = [parts, seconds];
  }
  return best;
}

function splitDot(node: NodeOf<"dotGeneral">, choices: Choices | undefined): Tensor {
  const [lhs, rhs] = node.operands as [Tensor, Tensor];
  const axes = node.attrs;
  const [l, r] = [axes.lhsContract[0], axes.rhsContract[0]];
  const [size, left, right] = [node, lhs, rhs].map((t) => sizeOf(t.shape));
  if (l === undefined || r === undefined) return node;
  if (!isStatic(size!) || !isStatic(left!) || !isStatic(right!) || size === 0) return node;
  const extentOf = (of: readonly number[]): number =>
    of.reduce((p, axis) => p * (lhs.shape[axis] as number), 1);
  const [length, batch] = [extentOf(axes.lhsContract), extentOf(axes.lhsBatch)];
  const [m, n] = [left! / length / batch, right! / length / batch];
  const extent = lhs.shape[l] as number;
  // Few lines meet the others one by one where these run along the sum, and each is a workgroup's.
  const alongSum =
    m < n ? axes.rhsContract.includes(rhs.rank - 1) : axes.lhsContract.includes(lhs.rank - 1);
  const lineByLine = alongSum && Math.min(m, n) <= skinnyLines;
  const product = { rows: m, columns: n, batch, length };
  const lines = lineByLine ? { lines: batch * Math.max(m, n) } : {};
  const parts = partsFor({ node, extent, ...product, ...lines }, choices);
  if (parts === 1) return node;
  // The part is an axis of its own before the split one.
  const moved = (list: readonly number[], at: number, first?: number): number[] => [
    ...(first === undefined ? [] : [first]),
    ...list.map((axis) => (axis >= at ? axis + 1 : axis)),
  ];
  const partial = makeNode({
    op: "dotGeneral",
    // Converted first: that is then the same for all products of one operand.
    operands: [
      splitAxis(inDtype(lhs, partDtype(node)), l, parts),
      splitAxis(inDtype(rhs, partDtype(node)), r, parts),
    ],
    attrs: {
      lhsBatch: moved(axes.lhsBatch, l, l),
      rhsBatch: moved(axes.rhsBatch, r, r),
      lhsContract: moved(axes.lhsContract, l),
      rhsContract: moved(axes.rhsContract, r),
    },
    dtype: partDtype(node),
    shape: [parts, ...node.shape],
  });
  return sumOver(partial, 0, node);
}

/**
 * Channels in groups, the weights of each group beside one another: then the groups' results are
 * the parts.
 */
function splitConvolution(node: Tensor, choices: Choices | undefined): Tensor {
  const [x, w] = node.operands as [Tensor, Tensor];
  if (node.attrs.groups !== 1) return node;
  if (![node, x, w].every((t) => isStatic(sizeOf(t.shape)))) return node;
  const [features, channels, ...taps] = w.shape as number[];
  const [images, , ...places] = node.shape as number[];
  const product = (of: readonly number[]): number => of.reduce((a, b) => a * b, 1);
  const [columns, length] = [images! * product(places), channels! * product(taps)];
  const sum = { node, rows: features!, columns, batch: 1, length, extent: channels! };
  const parts = sizeOf(node.shape) === 0 ? 1 : partsFor(sum, choices);
  if (parts === 1) return node;
  const each = channels! / parts;
  const apart = splitAxis(w, 1, parts);
  const perm = [1, 0, ...apart.shape.slice(2).map((_, i) => i + 2)];
  const shape = perm.map((axis) => apart.shape[axis]!);
  const { dtype } = w;
  const turned = makeNode({ op: "transpose", operands: [apart], attrs: { perm }, dtype, shape });
  const weights = reshaped(turned, [parts * features!, each, ...taps]);
  const partial = makeNode({
    op: "convolution",
    operands: [x, weights].map((t) => inDtype(t, partDtype(node))),
    attrs: { ...node.attrs, groups: parts },
    dtype: partDtype(node),
    shape: [images!, parts * features!, ...places],
  });
  return sumOver(reshaped(partial, [images!, parts, features!, ...places]), 1, node);
}

const reshaped = (x: Tensor, shape: Shape): Tensor =>
  makeNode({ op: "reshape", operands: [x], attrs: {}, dtype: x.dtype, shape });

function splitAxis(x: Tensor, axis: number, parts: number): Tensor {
  const extent = x.shape[axis] as number;
  return reshaped(x, [
    ...x.shape.slice(0, axis),
    parts,
    extent / parts,
    ...x.shape.slice(axis + 1),
  ]);
}

function sumOver(x: Tensor, axis: number, { dtype, shape }: Tensor): Tensor {
  const attrs = { axes: [axis] };
  const sum = makeNode({ op: "reduceSum", operands: [x], attrs, dtype: x.dtype, shape });
  return inDtype(sum, dtype);
}
