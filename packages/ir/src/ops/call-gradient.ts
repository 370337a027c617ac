/**
 * Gradients of calls that have a rule of their own: of one that is computed again, and of one whose rule the user wrote. Apart from
 * the record, so that a page without gradients does without them.
 */
import { isNonNegative, subDim } from "../dim.ts";
import { isFloat } from "../dtype.ts";
import { bug, GraphError } from "../errors.ts";
import type { Graph, Tensor } from "../node.ts";
import type { Pullback } from "../op.ts";
import { sizeOf } from "../shape.ts";
import { apply, filled } from "./apply.ts";
import { replaceNodes } from "./control.ts";
import { convert } from "./elementwise/convert.ts";
import { broadcastInDim, pad, reshape, slice } from "./movement.ts";

/** Cotangents of the operands of a call. */
export function callVjp(
  cotangents: readonly (Tensor | undefined)[],
  node: Tensor,
  active: readonly boolean[],
  pullback: Pullback,
): readonly (Tensor | undefined)[] {
  const { gradient } = node.attrs;
  if (gradient === "recompute") return recomputed(cotangents, node, active, pullback);
  if (gradient === "custom") return ruled(cotangents, node, active);
  if (gradient === "closed") return closed(cotangents, node, active, pullback);
  return bug("grad", `a call with the gradient ${String(gradient)}`);
}

/** A function whose gradient has a formula: of cotangents, one for each result, of the results and of the arguments. */
export interface ClosedForm {
  /** How calls of it are told from others. */
  readonly name: string;
  body(...xs: Tensor[]): readonly Tensor[];
  /** Right for batches of arguments too. */
  gradient(gs: readonly Tensor[], ys: readonly Tensor[], ...xs: Tensor[]): readonly Tensor[];
}

/** Those that have been called. */
export const closedForms: Map<string, ClosedForm> = new Map();

/**
 * By the formula, whose parts may have formulas again. A call that was read from text may have none here, and is differentiated like
 * its body.
 */
function closed(
  cotangents: readonly (Tensor | undefined)[],
  node: Tensor,
  active: readonly boolean[],
  pullback: Pullback,
): readonly (Tensor | undefined)[] {
  const graph = node.regions[0]!;
  const form = closedForms.get(String(node.attrs.name));
  if (!form) return ofBody(cotangents, node, active, pullback, node.operands);
  const given = cotangents.map((g, i) => g ?? zeroOf(graph.results[i]!));
  const results = node.results!.map((type, index) => apply("result", [node], { index }, type));
  return form.gradient(given, results, ...node.operands);
}

/** The results of the graph for these operands. */
export const bodyFor = (
  graph: Graph,
  operands: readonly Tensor[],
  roots: readonly Tensor[] = graph.results,
): Tensor[] => replaceNodes(roots, new Map(graph.params.map((p, i) => [p, operands[i]!] as const)));

/**
 * The body again, of operands that wait for a cotangent: so nothing of it is one with the first computation, and it begins when
 * the backward pass has come to it. Parameters are there in any case, and products read them as they lie.
 */
function recomputed(
  cotangents: readonly (Tensor | undefined)[],
  node: Tensor,
  active: readonly boolean[],
  pullback: Pullback,
): (Tensor | undefined)[] {
  const arrived = cotangents.find((g) => g !== undefined)!;
  const whole = node.operands.every((t) => t.op === "param");
  const again = node.operands.map((t) =>
    t.op === "param" && !whole ? t : afterArrival(t, arrived),
  );
  return ofBody(cotangents, node, active, pullback, again);
}

/** The gradient of the body at these operands. */
function ofBody(
  cotangents: readonly (Tensor | undefined)[],
  node: Tensor,
  active: readonly boolean[],
  pullback: Pullback,
  operands: readonly Tensor[],
): (Tensor | undefined)[] {
  const graph = node.regions[0]!;
  const wanted = graph.params.flatMap((p, i) => (active[i] && isFloat(p.dtype) ? [i] : []));
  const xs = wanted.map((i) => graph.params[i]!);
  const parts = pullback(graph.results, cotangents, xs);
  const whole = parts.map((g, k) => g ?? zeroOf(xs[k]!));
  const made = bodyFor(graph, operands, whole);
  const out: (Tensor | undefined)[] = node.operands.map(() => undefined);
  for (const [k, i] of wanted.entries()) if (parts[k]) out[i] = made[k];
  return out;
}

const zeroOf = (t: Tensor): Tensor => filled(0, t.dtype, t.shape);

/** t, after the first element of `arrived`, or after nothing where that has none. */
function afterArrival(t: Tensor, arrived: Tensor): Tensor {
  const size = sizeOf(arrived.shape);
  const some = isNonNegative(subDim(size, 1));
  const flat = reshape(arrived, [size]);
  const first = slice(some ? flat : pad(flat, 0, 0, 1), [0], [1]);
  const token = convert(reshape(first, []), t.dtype);
  return apply("after", [t, broadcastInDim(token, t.shape, [])]);
}

/** What the user's rule gives for the cotangents, the results and the operands. */
function ruled(
  cotangents: readonly (Tensor | undefined)[],
  node: Tensor,
  active: readonly boolean[],
): (Tensor | undefined)[] {
  const [forward, rule] = node.regions as [Graph, Graph];
  const own = rule.results.length;
  const captured = node.operands.findIndex((t, i) => i >= own && active[i] && isFloat(t.dtype));
  if (captured >= 0) {
    const { op, attrs } = node.operands[captured]!;
    throw new GraphError(
      `customVjp: the function reads ${String(attrs.name ?? op)} from outside, toward which its rule gives no gradient\n  make it an argument of the function, or read it through stopGradient`,
    );
  }
  const given = cotangents.map((g, i) => g ?? zeroOf(forward.results[i]!));
  const results = bodyFor(forward, node.operands);
  const parts = bodyFor(rule, [...given, ...results, ...node.operands]);
  return node.operands.map((t, i) => (i < own && isFloat(t.dtype) ? parts[i] : undefined));
}
