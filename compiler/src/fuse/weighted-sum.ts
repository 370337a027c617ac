/**
 * Reads a product as a sum of lines of one operand, weighted by the other: Σ over queries or keys
 * of weights·columns, where weights are [batch…, queries, keys]. And a product as scores of that
 * shape. Both may have their axes in any order. Decides nothing.
 */
import { isStatic, opOf, type Shape, sameShape, type Tensor, topologicalOrder } from "@kiln-ml/ir";
import { attention } from "../machine/products.ts";

export interface WeightedSum {
  readonly result: Tensor;
  readonly weights: Tensor;
  /** What is summed, and which operand of the product it is. */
  readonly other: Tensor;
  readonly otherSide: "a" | "b";
  /** The axis of the weights that the sum runs along. */
  readonly along: number;
  /** For each axis of the result the axis of the weights that it is; −1 for the columns. */
  readonly axes: readonly number[];
  readonly columns: number;
}

interface Side {
  readonly of: Tensor;
  readonly batch: readonly number[];
  readonly contract: readonly number[];
}

/** The operands of a dotGeneral with their axes. */
export function sidesOf(t: Tensor): [Side, Side] {
  const { lhsBatch, rhsBatch, lhsContract, rhsContract } = opOf(t, "dotGeneral").attrs;
  const [lhs, rhs] = t.operands as [Tensor, Tensor];
  return [
    { of: lhs, batch: lhsBatch, contract: lhsContract },
    { of: rhs, batch: rhsBatch, contract: rhsContract },
  ];
}

/** The axes of an operand that are neither batch nor summed. */
export const freeOf = ({ of, batch, contract }: Side): number[] =>
  of.shape
    .map((_, axis) => axis)
    .filter((axis) => !batch.includes(axis) && !contract.includes(axis));

/** `t` with operand `weights` (0 or 1) as weights, if it is such a sum. */
export function readWeightedSum(t: Tensor, weights: number): WeightedSum | undefined {
  if (t.op !== "dotGeneral" || t.dtype !== "f32" || t.operands[0] === t.operands[1])
    return undefined;
  const sides = sidesOf(t);
  const [own, other] = weights === 0 ? sides : [sides[1], sides[0]];
  const { rank } = own.of;
  const [along] = own.contract;
  const [free, columns] = [freeOf(own), freeOf(other)];
  if (own.contract.length !== 1 || free.length !== 1 || columns.length !== 1) return undefined;
  if (along! < rank - 2 || free[0]! < rank - 2) return undefined;
  const count = other.of.shape[columns[0]!]!;
  if (own.of.dtype !== "f32" || other.of.dtype !== "f32") return undefined;
  if (!isStatic(count) || count > attention.mostTerms || count === 0) return undefined;
  return {
    result: t,
    weights: own.of,
    other: other.of,
    otherSide: weights === 0 ? "b" : "a",
    along: along!,
    axes: [...own.batch, ...(weights === 0 ? [free[0]!, -1] : [-1, free[0]!])],
    columns: count,
  };
}

/**
 * Σ q·k of few terms, of shape `space`: a of the queries and b of the keys, each with axes in any
 * order.
 */
export function isScoreProduct(t: Tensor, space: Shape): boolean {
  if (t.op !== "dotGeneral" || t.dtype !== "f32" || !sameShape(t.shape, space)) return false;
  if (t.operands.some((o) => o.dtype !== "f32")) return false;
  const [lhs, rhs] = sidesOf(t);
  const terms = lhs.of.shape[lhs.contract[0]!]!;
  return (
    lhs.contract.length === 1 &&
    freeOf(lhs).length === 1 &&
    freeOf(rhs).length === 1 &&
    isStatic(terms) &&
    terms <= attention.mostTerms
  );
}

/** True if `t` is made of `of`, or is it. A node is made after its operands. */
export const isMadeOf = (t: Tensor, of: Tensor): boolean =>
  topologicalOrder([t], (n) => n.id <= of.id).includes(of);
