/**
 * Constant folding: what depends on constants alone is computed now.
 *
 * before:
 *   graph f(%x: f32[N]) {
 *     %1: f32[] = constant {value=4}
 *     %2: f32[] = sqrt %1
 *     %3: f32[N] = broadcastInDim %2 {dims=[]}
 *     %4: f32[N] = div %x %3
 *     return %4
 *   }
 * after:
 *   graph f(%x: f32[N]) {
 *     %1: f32[] = constant {value=2}
 *     %2: f32[N] = broadcastInDim %1 {dims=[]}
 *     %3: f32[N] = div %x %2
 *     return %3
 *   }
 *
 * Elementwise ops on uniform constants fold at any size, movement and reductions up to 64 elements,
 * and only into uniform constants: a folded value never grows the artifact. Never folds random bits
 * or data. A tensor without elements is one too, whatever it is made of: the loop that would
 * compute it runs no times, but loads moved out of that loop would still run.
 */
import {
  evaluateElement,
  isElementwise,
  isStatic,
  opRecord,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";
import type { Pass } from "../pass.ts";
import { rewriteProgram } from "../program.ts";
import { uniform, uniformValue } from "../rules/uniform.ts";
import { searches } from "../sizes.ts";
import { type Elements, elementsOf } from "./known.ts";

export const fold: Pass = {
  name: "fold",
  run(program) {
    const known = new Map<Tensor, Elements>();
    return rewriteProgram(program, (node) => {
      const empty = isEmpty(node) ? uniform(0, node.dtype, node.shape) : undefined;
      const folded = empty ?? foldElementwise(node) ?? node;
      return foldSmall(folded, known) ?? folded;
    });
  },
};

const isEmpty = (node: Tensor): boolean =>
  node.operands.length > 0 &&
  uniformValue(node) === undefined &&
  opRecord(node.op).family !== "control" &&
  node.shape.includes(0);

/** All operands uniform: one element says it all, and the shape may be symbolic. */
function foldElementwise(node: Tensor): Tensor | undefined {
  const record = opRecord(node.op);
  if (!node.operands.length || !isElementwise(node) || !record.eval) return undefined;
  const values = node.operands.flatMap((t) => uniformValue(t) ?? []);
  if (values.length < node.operands.length) return undefined;
  const value = evaluateElement(record, node.operands[0]!.dtype, node.dtype, values);
  return uniform(value, node.dtype, node.shape);
}

/** Follows small known values; replaces the node where its elements turn out equal. */
function foldSmall(node: Tensor, known: Map<Tensor, Elements>): Tensor | undefined {
  if (!node.shape.every(isStatic) || Number(sizeOf(node.shape)) > searches.foldedElements)
    return undefined;
  const value = uniformValue(node);
  const elements =
    value === undefined
      ? elementsOf(node, known)
      : new Array<number>(Number(sizeOf(node.shape))).fill(value);
  if (!elements) return undefined;
  known.set(node, elements);
  const first = elements[0] ?? 0;
  if (value !== undefined || !elements.every((x) => Object.is(x, first))) return undefined;
  const folded = uniform(first, node.dtype, node.shape);
  known.set(folded, elements);
  return folded;
}
