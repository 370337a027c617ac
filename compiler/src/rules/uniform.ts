/**
 * Uniform values: a rank-0 constant, or one broadcast to a shape. Simplification and folding keep
 * constants in this form only, so recognising it is a look at two nodes.
 */
import { type Dtype, makeNode, roundTo, type Shape, type Tensor } from "@kiln-ml/ir";

/** The one number that every element is, if the node is a constant or the broadcast of one. */
export function uniformValue(t: Tensor): number | undefined {
  const source = t.op === "broadcastInDim" ? t.operands[0]! : t;
  return source.op === "constant" ? Number(source.attrs.value) : undefined;
}

/** `value` in every element. */
export function uniform(value: number, dtype: Dtype, shape: Shape): Tensor {
  const scalar = makeNode({
    op: "constant",
    operands: [],
    attrs: { value: roundTo(dtype, value) },
    dtype,
    shape: [],
  });
  if (shape.length === 0) return scalar;
  return makeNode({ op: "broadcastInDim", operands: [scalar], attrs: { dims: [] }, dtype, shape });
}
