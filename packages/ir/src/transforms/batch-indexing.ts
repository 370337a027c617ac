/**
 * Gather and scatter over a batch. Where the indices have one, the place in the batch is one more index, of an axis of its own.
 */

import { claimIndices, claimOf } from "../claim.ts";
import type { Dim } from "../dim.ts";
import type { Tensor } from "../node.ts";
import { apply, numbersOf } from "../ops/apply.ts";
import { behind, type Lane, moveAxis, spread } from "./lanes.ts";

/** The indices with the batch as first axis, and before them the number of the place in the batch. */
function withPlace(indices: readonly Lane[], size: Dim): Tensor[] {
  const all = indices.map((l) => spread(l, size));
  const place = apply("iota", [], { axis: 0 }, { dtype: "i32", shape: all[0]!.shape });
  return [place, ...all];
}

/** What was said of the indices holds of those of a batch. */
function claimed(node: Tensor, made: Tensor): Tensor {
  const claim = claimOf(node);
  return claim ? claimIndices(made, claim) : made;
}

export function batchedGather(node: Tensor, lanes: readonly Lane[], size: Dim): Tensor {
  const [x, ...indices] = lanes as [Lane, ...Lane[]];
  const axes = numbersOf(node.attrs.axes);
  if (!indices.some((i) => i.batched)) {
    const places = indices.map((i) => i.tensor);
    const y = apply("gather", [x.tensor, ...places], { axes: behind(axes) });
    return moveAxis(claimed(node, y), places[0]!.rank, 0);
  }
  if (!x.batched) {
    const places = indices.map((i) => spread(i, size));
    return claimed(node, apply("gather", [x.tensor, ...places], { axes: [...axes] }));
  }
  const places = withPlace(indices, size);
  return claimed(node, apply("gather", [x.tensor, ...places], { axes: [0, ...behind(axes)] }));
}

export function batchedScatter(node: Tensor, lanes: readonly Lane[], size: Dim): Tensor {
  const [x, updates, ...indices] = lanes as [Lane, Lane, ...Lane[]];
  const axes = numbersOf(node.attrs.axes);
  const { mode } = node.attrs;
  const [to, from] = [spread(x, size), spread(updates, size)];
  if (indices.some((i) => i.batched)) {
    const operands = [to, from, ...withPlace(indices, size)];
    return claimed(node, apply("scatter", operands, { axes: [0, ...behind(axes)], mode: mode! }));
  }
  const places = indices.map((i) => i.tensor);
  // The batch comes after the axes of the indices, before those that the updates share with x.
  const moved = moveAxis(from, 0, places[0]!.rank);
  const attrs = { axes: behind(axes), mode: mode! };
  return claimed(node, apply("scatter", [to, moved, ...places], attrs));
}
