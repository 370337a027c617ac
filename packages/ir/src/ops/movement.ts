/**
 * Movement: ops whose result elements are operand elements at other coordinates. Here only the two that
 * broadcasting inserts.
 */

import { ShapeError } from "../errors.ts";
import { makeNode, type Tensor } from "../node.ts";
import { defineOp, type OpRecord } from "../op.ts";
import { inferReshape, printShape, type Shape, sameShape } from "../shape.ts";

const reshapeRecord: OpRecord = defineOp({
  name: "reshape",
  family: "movement",
  infer: (_operands, _attrs, node) => node!,
});

export function reshape(x: Tensor, shape: Shape): Tensor {
  const to = inferReshape("reshape", x.shape, shape);
  if (sameShape(x.shape, to)) return x;
  return makeNode({ op: reshapeRecord.name, operands: [x], attrs: {}, dtype: x.dtype, shape: to });
}

const broadcastRecord: OpRecord = defineOp({
  name: "broadcastInDim",
  family: "movement",
  infer: (_operands, _attrs, node) => node!,
});

export function broadcastInDim(x: Tensor, shape: Shape, dims: readonly number[]): Tensor {
  if (dims.length !== x.rank)
    throw new ShapeError(`broadcastInDim: dims [${dims}] do not fit ${printShape(x.shape)}`);
  if (sameShape(x.shape, shape)) return x;
  return makeNode({
    op: broadcastRecord.name,
    operands: [x],
    attrs: { dims },
    dtype: x.dtype,
    shape,
  });
}
