/**
 * Losses over classes: negative log-likelihood and softmax cross-entropy, with class weights and a class that is ignored.
 */
import {
  convert,
  expandDims,
  full,
  logSoftmax,
  select,
  squeeze,
  type Tensor,
  take,
  takeAlongAxis,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { type Row, row } from "../row.ts";
import { widened } from "./operands.ts";

/** Of log-probabilities [N, C, …], classes [N, …] and weights [C]. */
function negativeLogLikelihood(n: NodeContext, logs: Tensor): Tensor {
  const target = n.tensor(1);
  const picked = squeeze(takeAlongAxis(logs, expandDims(target, 1), 1), 1).neg();
  const weight = weightsOf(n, logs, target);
  const losses = weight ? picked.mul(weight) : picked;
  const reduction = n.string("reduction", "mean");
  if (reduction === "none") return losses;
  const total = losses.sum();
  if (reduction === "sum") return total;
  if (reduction !== "mean") return n.fail(`reduction is "${reduction}", not none, sum or mean`);
  return weight ? total.div(weight.sum()) : losses.mean();
}

/** The weight of each target; 0 where it is the ignored class. Undefined if all count the same. */
function weightsOf(n: NodeContext, logs: Tensor, target: Tensor): Tensor | undefined {
  const given = n.has(2) ? take(widened(n.tensor(2)), target) : undefined;
  if (!n.hasAttribute("ignore_index")) return given;
  const ones = full(target.shape, 1, logs.dtype);
  // The ignored class need not be a class: what is gathered for it is of another one, and counts nothing.
  return select(target.equal(n.int("ignore_index")), 0, given ?? ones);
}

const inOwn = (n: NodeContext, t: Tensor): Tensor => convert(t, n.tensor(0).dtype);

function crossEntropy(n: NodeContext): Result {
  const logs = logSoftmax(widened(n.tensor(0)), 1);
  return [inOwn(n, negativeLogLikelihood(n, logs)), inOwn(n, logs)];
}

export const lossRows: readonly Row[] = [
  row("NegativeLogLikelihoodLoss", (n) => inOwn(n, negativeLogLikelihood(n, widened(n.tensor(0))))),
  row("SoftmaxCrossEntropyLoss", crossEntropy),
];
