/** How far one tensor is from another. */
import { stack, type Tensor } from "@kiln-ml/ir";
import "../eager/tensor-data.ts";

export interface TensorErrors {
  /** The largest error of an element. */
  readonly maxError: number;
  /** √(mean of squared errors). */
  readonly rmsError: number;
  /** √(mean of squares) of what is compared with. */
  readonly rms: number;
}

/**
 * How far a tensor is from another of its shape: the largest error and √(mean of squared errors),
 * beside √(mean of squares) of what it should be. Throws ShapeError where shapes do not broadcast.
 * No counterpart in PyTorch.
 *
 * @param wanted What it should be.
 * @param found What it is.
 * @example
 *   const { maxError } = await tensorErrors(tensor([1, 2]), tensor([1, 2.5]));
 *   maxError // 0.5
 */
export async function tensorErrors(wanted: Tensor, found: Tensor): Promise<TensorErrors> {
  const [w, f] = [wanted.convert("f32"), found.convert("f32")];
  const error = f.sub(w);
  const three = stack([error.abs().max(), error.square().mean().sqrt(), w.square().mean().sqrt()]);
  const [maxError, rmsError, rms] = [...(await three.data())].map(Number) as [
    number,
    number,
    number,
  ];
  return { maxError, rmsError, rms };
}
