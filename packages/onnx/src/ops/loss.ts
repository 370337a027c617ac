/**
 * Losses over classes: negative log-likelihood and softmax cross-entropy, with class weights and a
 * class that is ignored.
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

/**
 * Of log-probabilities [N, C, …], classes [N, …] and weights [C]. The ignored class need not be a
 * class: class 0 is read for it, and neither its logarithm nor its weight counts.
 */
function negativeLogLikelihood(n: NodeContext, logs: Tensor): Tensor {
  const target = n.tensor(1);
  const ignored = n.hasAttribute("ignore_index") && target.equal(n.int("ignore_index"));
  const label = ignored ? select(ignored, 0, target) : target;
  const counted = (x: Tensor): Tensor => (ignored ? select(ignored, 0, x) : x);
  const picked = squeeze(takeAlongAxis(logs, expandDims(label, 1), 1), 1).neg();
  const given = n.has(2) ? take(widened(n.tensor(2)), label) : undefined;
  const losses = counted(given ? picked.mul(given) : picked);
  const reduction = n.string("reduction", "mean");
  if (reduction === "none") return losses;
  const total = losses.sum();
  if (reduction === "sum") return total;
  if (reduction !== "mean") return n.fail(`reduction is "${reduction}", not none, sum or mean`);
  if (!given && !ignored) return losses.mean();
  return total.div(counted(given ?? full(target.shape, 1, logs.dtype)).sum());
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
