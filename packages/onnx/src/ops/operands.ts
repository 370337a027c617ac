/**
 * What several families of ops do to their inputs first: the broadcasting of opsets before 7, and arithmetic of half floats in f32.
 */
import { convert, isFloat, reshape, type Tensor } from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";

/**
 * The two inputs of a binary op. Before opset 7 the second was aligned at attribute `axis`, if `broadcast` was set; since then
 * shapes are aligned at the last axis.
 */
export function binaryOperands(n: NodeContext): [Tensor, Tensor] {
  const [x, y] = [n.tensor(0), n.tensor(1)];
  if (n.opset >= 7 || !n.flag("broadcast") || !n.hasAttribute("axis")) return [x, y];
  const axis = n.int("axis");
  const behind = x.rank - (axis < 0 ? axis + x.rank : axis) - y.rank;
  if (behind < 0) return n.fail(`input 1 has rank ${y.rank}, too many for axis ${axis}`);
  return [x, reshape(y, [...y.shape, ...new Array<number>(behind).fill(1)])];
}

/** f16 and bf16 as f32, integers and bool too; f32 and f64 as they are. */
export const widened = (x: Tensor): Tensor =>
  x.dtype === "f64" || x.dtype === "f32" ? x : convert(x, "f32");

/** The result of `f` on the widened operand, in the operand's own dtype if that is a float. */
export function inWide(x: Tensor, f: (wide: Tensor) => Tensor): Tensor {
  const y = f(widened(x));
  return isFloat(x.dtype) ? convert(y, x.dtype) : y;
}

/** `axis` counted from the front, of `rank` axes. Throws GraphError where there is no such axis. */
export function axisOf(n: NodeContext, axis: number, rank: number): number {
  const at = axis < 0 ? axis + rank : axis;
  return Number.isInteger(at) && at >= 0 && at < Math.max(rank, 1)
    ? at
    : n.fail(`axis ${axis} is not one of the ${rank} axes`);
}

/** 0, 1, …, count − 1. */
export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
