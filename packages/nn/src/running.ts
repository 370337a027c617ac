/**
 * Running statistics of normalisations: moved towards those of each batch by `assign`, or kept as
 * their mean over all batches.
 */
import { assign, inFloat32, isKept, type Tensor } from "@kiln-ml/ir";
import { checkWithin } from "./parameter.ts";

/** Share of the batch in the new statistics; null for the mean of all batches so far. */
export type Momentum = number | null;

export function checkMomentum(op: string, momentum: Momentum): Momentum {
  if (momentum !== null) checkWithin(op, "momentum", momentum, 0, 1);
  return momentum;
}

/**
 * The share of this batch, which is counted where there is no momentum: 1 / n of the n-th. A batch
 * that nothing keeps is none.
 */
export function shareOf(
  momentum: Momentum,
  batchesTracked: Tensor | undefined,
  batch: Tensor,
): number | Tensor {
  if (momentum !== null) return momentum;
  const count = batchesTracked!.add(1);
  if (isKept(batch)) assign(batchesTracked!, count);
  return count.reciprocal();
}

/** Assigns old·(1 − share) + batch·share, where anything keeps the batch. */
export function updateRunning(running: Tensor, batch: Tensor, share: number | Tensor): void {
  if (!isKept(batch)) return;
  const rest = typeof share === "number" ? 1 - share : share.neg().add(1);
  assign(
    running,
    inFloat32([running], (old) => old.mul(rest).add(batch.mul(share))),
  );
}
