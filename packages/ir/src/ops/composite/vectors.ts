/**
 * Products and distances of vectors.
 */
import { type Dim, mulDim, sameDim } from "../../dim.ts";
import { isFloat } from "../../dtype.ts";
import { GraphError, ShapeError } from "../../errors.ts";
import type { Tensor } from "../../node.ts";
import { checkAxis, printShape } from "../../shape.ts";
import { checkTensor } from "../apply.ts";
import { broadcastOperands } from "../broadcast.ts";
import { maximum } from "../elementwise/binary.ts";
import { select } from "../elementwise/compare.ts";
import { convert } from "../elementwise/convert.ts";
import { concat } from "../join.ts";
import { expandDims, reshape, sliceAxis } from "../movement.ts";
import { max, sum } from "../reduce.ts";
import { inFloat32 } from "./in-float32.ts";

/**
 * The cross product of vectors of three along an axis. Operands broadcast → their shape. Throws
 * ShapeError unless the axis has extent 3. `torch.linalg.cross`, `numpy.cross`.
 *
 * @param x The tensor.
 * @param y The other tensor.
 * @param axis The axis of extent 3; the last by default.
 * @example
 *   cross(tensor([1, 0, 0]), tensor([0, 1, 0])) // [0, 0, 1]
 */
export function cross(x: Tensor, y: Tensor, axis = -1): Tensor {
  for (const t of [x, y]) checkTensor("cross", t);
  const [a, b] = broadcastOperands("cross", [x, y]) as [Tensor, Tensor];
  const at = checkAxis("cross", axis, a.rank);
  if (a.shape[at] !== 3)
    throw new ShapeError(`cross: axis ${at} of ${printShape(a.shape)} has not 3 elements`);
  return inFloat32([a, b], (u, v) => {
    const part = (t: Tensor, i: number) => sliceAxis(t, at, i % 3, (i % 3) + 1);
    const parts = [0, 1, 2].map((i) =>
      part(u, i + 1).mul(part(v, i + 2)).sub(part(u, i + 2).mul(part(v, i + 1))),
    ); // biome-ignore format: one line
    return concat(parts, at);
  });
}

/**
 * The Kronecker product: y[i·p + k, j·q + l] = a[i, j]·b[k, l], for any rank; the lower rank gets
 * axes of 1 in front.
 *
 * a[m, n], b[p, q] → [m·p, n·q]. `torch.kron`, `numpy.kron`.
 *
 * @param a The matrix of blocks.
 * @param b The block.
 * @example
 *   kron(eye(2), ones([1, 2])) // [[1,1,0,0],[0,0,1,1]]
 */
export function kron(a: Tensor, b: Tensor): Tensor {
  for (const t of [a, b]) checkTensor("kron", t);
  const rank = Math.max(a.rank, b.rank);
  const raised = (t: Tensor): Dim[] => [...new Array<Dim>(rank - t.rank).fill(1), ...t.shape];
  const [own, other] = [raised(a), raised(b)];
  const left = reshape(a, own.flatMap((d) => [d, 1])); // biome-ignore format: one line
  const right = reshape(b, other.flatMap((d) => [1, d])); // biome-ignore format: one line
  return reshape(
    left.mul(right),
    own.map((d, i) => mulDim(d, other[i]!)),
  );
}

/**
 * Distances of every row of x to every row of y: (Σ |xᵢ − yⱼ|ᵖ)^(1/p), of p = ∞ the largest
 * difference. Differences are taken before they are squared, so that near rows do not cancel; they
 * are not stored.
 *
 * x: float[…, n, d], y: float[…, m, d], leading axes broadcast → [..., n, m]; integers become f32.
 * The gradient is 0 where rows are equal. Throws ShapeError unless the rows are as long, GraphError
 * for p that is not above 0. `torch.cdist`.
 *
 * @param p The order of the norm, above 0; Infinity too.
 * @example
 *   const [points, centres] = [tensor([[0, 0], [3, 4]]), tensor([[0, 0], [3, 0]])];
 *   cdist(points, centres) // [[0, 3], [5, 4]]
 */
export function cdist(x: Tensor, y: Tensor, p = 2): Tensor {
  for (const t of [x, y]) checkTensor("cdist", t);
  if (x.rank < 2 || y.rank < 2 || !sameDim(x.shape[x.rank - 1]!, y.shape[y.rank - 1]!))
    throw new ShapeError(
      `cdist: x is ${printShape(x.shape)}, y is ${printShape(y.shape)}\n  they are [...,n,d] and [...,m,d]`,
    );
  if (!(p > 0)) throw new GraphError(`cdist: p is ${String(p)}, not above 0`);
  const floats = [x, y].map((t) => (isFloat(t.dtype) ? t : convert(t, "f32"))) as [Tensor, Tensor];
  return inFloat32(floats, (u, v) => {
    const d = expandDims(u, -2).sub(expandDims(v, v.rank - 2));
    if (p === 1) return sum(d.abs(), -1);
    if (p === Number.POSITIVE_INFINITY) return max(d.abs(), -1, { empty: "identity" });
    const total = sum(p === 2 ? d.mul(d) : d.abs().pow(p), -1);
    const zero = total.equal(0);
    const safe = select(zero, 1, total);
    return select(zero, 0, p === 2 ? safe.sqrt() : safe.pow(1 / p));
  });
}

/**
 * x·y/max(‖x‖·‖y‖, eps) along an axis. Operands broadcast; the axis goes. Integers become f32.
 * `F.cosine_similarity`.
 *
 * @param x The tensor.
 * @param y The other tensor.
 * @param axis The axis, negative ones from the end; the last by default.
 * @param eps The least that is divided by.
 * @example
 *   cosineSimilarity(tensor([[1, 0], [1, 1]]), tensor([1, 0])) // [1, 0.70711]
 */
export function cosineSimilarity(x: Tensor, y: Tensor, axis = -1, eps = 1e-8): Tensor {
  for (const t of [x, y]) checkTensor("cosineSimilarity", t);
  const both = broadcastOperands("cosineSimilarity", [x, y]) as [Tensor, Tensor];
  const at = checkAxis("cosineSimilarity", axis, both[0].rank);
  const floats = both.map((t) => (isFloat(t.dtype) ? t : convert(t, "f32"))) as [Tensor, Tensor];
  return inFloat32(floats, (u, v) => {
    const squares = (t: Tensor) => maximum(sum(t.mul(t), at), eps * eps);
    return sum(u.mul(v), at).mul(squares(u).mul(squares(v)).rsqrt());
  });
}
