/**
 * Constant folding: what depends on constants alone is computed now, by the reference evaluator.
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
 * Elementwise ops on uniform constants fold at any size, other ops up to 64 elements, and only into uniform
 * constants: a folded value never grows the artifact. Never folds random bits or data.
 */
import {
  evaluate,
  isElementwise,
  isStatic,
  opRecord,
  sizeOf,
  type Tensor,
  type Value,
} from "@kiln-ml/ir";
import type { Pass } from "../pass.ts";
import { rewriteProgram } from "../program.ts";
import { replaceBy } from "../rules/match.ts";
import { uniform, uniformValue } from "../rules/uniform.ts";

const maxElements = 64;

export const fold: Pass = {
  name: "fold",
  run(program) {
    const known = new Map<Tensor, Value>();
    return rewriteProgram(program, (node) => {
      const folded = foldElementwise(node) ?? node;
      return foldSmall(folded, known) ?? folded;
    });
  },
};

/** All operands uniform: one element says it all, and the shape may be symbolic. */
function foldElementwise(node: Tensor): Tensor | undefined {
  if (!node.operands.length || !isElementwise(node)) return undefined;
  const values = node.operands.map(uniformValue);
  if (values.includes(undefined)) return undefined;
  const scalars = node.operands.map((t, i) => uniform(values[i]!, t.dtype, []));
  const one = replaceBy({ ...node, shape: [] } as unknown as Tensor, node.op, scalars, node.attrs);
  return uniform(evaluate([one])[0]!.data[0]!, node.dtype, node.shape);
}

/** Follows small known values through any op; replaces the node where its elements turn out equal. */
function foldSmall(node: Tensor, known: Map<Tensor, Value>): Tensor | undefined {
  const value = evaluateSmall(node, known);
  if (!value) return undefined;
  known.set(node, value);
  const first = value.data[0] ?? 0;
  if (uniformValue(node) !== undefined || !value.data.every((x) => Object.is(x, first)))
    return undefined;
  const folded = uniform(first, node.dtype, node.shape);
  known.set(folded, value);
  return folded;
}

function evaluateSmall(node: Tensor, known: ReadonlyMap<Tensor, Value>): Value | undefined {
  const record = opRecord(node.op);
  if (!node.shape.every(isStatic) || Number(sizeOf(node.shape)) > maxElements) return undefined;
  if (node.regions.length || node.results) return undefined;
  const value = uniformValue(node);
  if (value !== undefined) return filled(node, value);
  if (record.family === "source" && node.op !== "constant" && node.op !== "iota") return undefined;
  if (!node.operands.every((t) => known.has(t))) return undefined;
  return evaluate([node], { inputs: new Map(node.operands.map((t) => [t, known.get(t)!])) })[0];
}

/** A uniform node as a value. Its shape is static. */
function filled(node: Tensor, value: number): Value {
  const shape = node.shape as readonly number[];
  return { dtype: node.dtype, shape, data: new Float64Array(Number(sizeOf(shape))).fill(value) };
}
