/**
 * Takes sums of whole tensors that are added up, as of the squares of all gradients, as one sum
 * over the tensors laid end to end: each kernel reads a few of them, in parts that keep a device
 * busy, and one more joins what they found.
 *
 * before:
 *   graph f(%a: f32[2,3], %b: f32[4], %c: f32[5]) {
 *     %1: f32[] = reduceSum %a {axes=[0, 1]}
 *     %2: f32[] = reduceSum %b {axes=[0]}
 *     %3: f32[] = add %1 %2
 *     %4: f32[] = reduceSum %c {axes=[0]}
 *     %5: f32[] = add %3 %4
 *     return %5
 *   }
 * after:
 *   graph f(%a: f32[2,3], %b: f32[4], %c: f32[5]) {
 *     %1: f32[6] = reshape %a
 *     %2: f32[15] = concat %1 %b %c {axis=0}
 *     %3: f32[] = reduceSum %2 {axes=[0]}
 *     return %3
 *   }
 *
 * Long ones end in zeros, so that any length falls into equal parts. Parts of halves are f32, as in
 * split-reduce. Terms are added in another order, so a target asks for this pass if it wants it.
 * Not done for fewer than three sums, which may run along with each other, for sums that have other
 * readers, nor for symbolic extents.
 */
import { constant, isStatic, makeNode, sizeOf, type Tensor } from "@kiln-ml/ir";
import { longSums } from "../machine/splits.ts";
import type { Pass } from "../pass.ts";
import { nodesOf, type Program, rewriteProgram, rootsOf } from "../program.ts";
import { build } from "../rules/match.ts";
import { inDtype, partDtype } from "./split-reduce.ts";

const fewest = 3;
/** Tensors that every device lets a kernel bind. */
const usual = 8;
const { leastElements, mostParts: usualParts } = longSums;

export const joinSums: Pass = {
  name: "join-sums",
  reassociates: true,
  // One for the result, and one for what else is read with it.
  run: (program, _choices, bindings = usual) =>
    join(program, Math.max(2, Math.min(bindings, usual) - 2)),
};

interface Terms {
  readonly sums: readonly Tensor[];
  readonly others: readonly Tensor[];
}

/** `most` tensors are summed by one kernel. */
function join(program: Program, most: number): Program {
  const found = termsOf(program);
  if (found.size === 0) return program;
  const rebuilt = new Map<Tensor, Tensor>();
  return rewriteProgram(program, (node, before) => {
    const terms = found.get(before);
    const result = terms ? inOne(terms, rebuilt, most) : node;
    rebuilt.set(before, result);
    return result;
  });
}

function inOne(
  { sums, others }: Terms,
  rebuilt: ReadonlyMap<Tensor, Tensor>,
  most: number,
): Tensor {
  const { dtype } = sums[0]!;
  const wide = partDtype(sums[0]!);
  const flat = sums.map((t) => endToEnd(inDtype(rebuilt.get(t)!.operands[0]!, wide)));
  const all = build("reduceSum", [joined(partsOf(flat, most))], { axes: [0] });
  return others.reduce((sum, t) => build("add", [sum, rebuilt.get(t)!]), inDtype(all, dtype));
}

/** What additions of enough sums add up, by the last of them. */
function termsOf(program: Program): Map<Tensor, Terms> {
  const nodes = nodesOf(program);
  const readers = new Map<Tensor, Tensor[]>(nodes.map((t) => [t, []]));
  for (const t of nodes) for (const o of t.operands) readers.get(o)!.push(t);
  const roots = new Set(rootsOf(program));
  const isAdd = (t: Tensor): boolean => t.op === "add" && t.rank === 0;
  const sole = (t: Tensor): boolean => readers.get(t)!.length === 1 && !roots.has(t);
  const isInner = (t: Tensor): boolean => isAdd(t) && sole(t) && isAdd(readers.get(t)![0]!);
  const found = new Map<Tensor, Terms>();
  for (const node of nodes) {
    if (!isAdd(node) || isInner(node)) continue;
    const terms: Tensor[] = [];
    const left = [node];
    for (let t = left.pop(); t; t = left.pop())
      if (t === node || isInner(t)) left.push(...[...t.operands].reverse());
      else terms.push(t);
    const isSum = (t: Tensor): boolean =>
      t.op === "reduceSum" && sole(t) && isStatic(sizeOf(t.operands[0]!.shape));
    const sums = terms.filter(isSum);
    if (sums.length >= fewest) found.set(node, { sums, others: terms.filter((t) => !isSum(t)) });
  }
  return found;
}

const lengthOf = (operands: readonly Tensor[]): number =>
  operands.reduce((sum, t) => sum + (t.shape[0] as number), 0);

/**
 * What one kernel sums: the operands, or the sums of parts of so few of them that a kernel reads
 * them all.
 */
function partsOf(operands: readonly Tensor[], most: number): readonly Tensor[] {
  if (operands.length <= most && lengthOf(operands) < leastElements) return operands;
  const chunks = Math.ceil(operands.length / most);
  const per = Math.ceil(operands.length / chunks);
  return partsOf(
    Array.from({ length: chunks }, (_, i) => sumOfParts(operands.slice(i * per, (i + 1) * per))),
    most,
  );
}

function sumOfParts(operands: readonly Tensor[]): Tensor {
  const length = lengthOf(operands);
  const parts = length < leastElements ? 1 : usualParts;
  // In fours, as a device reads.
  const each = Math.ceil(length / parts / 4) * 4;
  const lack = each * parts - length;
  const { dtype } = operands[0]!;
  const all = joined(lack > 0 ? [...operands, zeros(lack, dtype)] : operands);
  return build("reduceSum", [reshaped(all, [parts, each])], { axes: [1] });
}

const zeros = (size: number, dtype: Tensor["dtype"]): Tensor =>
  makeNode({
    op: "broadcastInDim",
    operands: [constant(0, dtype)],
    attrs: { dims: [] },
    dtype,
    shape: [size],
  });

const reshaped = (x: Tensor, shape: readonly number[]): Tensor =>
  makeNode({ op: "reshape", operands: [x], attrs: {}, dtype: x.dtype, shape });

/** All elements on one axis. */
const endToEnd = (x: Tensor): Tensor =>
  x.rank === 1 ? x : reshaped(x, [sizeOf(x.shape) as number]);

/**
 * One after the other, in halves, of which a kernel that may bind fewer tensors has some stored.
 */
function joined(operands: readonly Tensor[]): Tensor {
  if (operands.length === 1) return operands[0]!;
  const half = Math.ceil(operands.length / 2);
  const parts = [operands.slice(0, half), operands.slice(half)].map(joined);
  return build("concat", operands.length <= 3 ? operands : parts, { axis: 0 });
}
