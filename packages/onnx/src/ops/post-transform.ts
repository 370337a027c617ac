/**
 * What ai.onnx.ml does to scores at the end: the attribute `post_transform`.
 */
import { select, softmax, type Tensor } from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";

/** Scores [N, targets] transformed. Throws GraphError for PROBIT. */
export function transformed(n: NodeContext, y: Tensor, transform: string): Tensor {
  if (transform === "NONE") return y;
  if (transform === "SOFTMAX") return softmax(y, -1);
  if (transform === "LOGISTIC") return y.sigmoid();
  if (transform === "SOFTMAX_ZERO") {
    const e = select(y.equal(0), 0, y.sub(y.max(-1, { keepDims: true })).exp());
    return e.div(e.sum(-1, { keepDims: true }));
  }
  return n.fail(`post_transform ${transform} is not supported`);
}
