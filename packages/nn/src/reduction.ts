/**
 * How a loss over many elements becomes one number.
 */
import { GraphError, type Tensor } from "@kiln-ml/ir";

export type Reduction = "mean" | "sum" | "none";

export function reduce(losses: Tensor, reduction: Reduction = "mean"): Tensor {
  switch (reduction) {
    case "mean":
      return losses.mean();
    case "sum":
      return losses.sum();
    case "none":
      return losses;
    default:
      throw new GraphError(
        `loss: reduction must be mean, sum or none, got ${String(reduction satisfies never)}\n  leave it out for mean`,
      );
  }
}
