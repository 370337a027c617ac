/** Complex tensors: real and imaginary parts side by side in a last axis of 2. */
import { ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { checkTensor } from "../ops/apply.ts";
import { hypot } from "../ops/composite/numeric.ts";
import { zerosLike } from "../ops/create.ts";
import { atan2 } from "../ops/elementwise/binary.ts";
import { take } from "../ops/gather.ts";
import { stack } from "../ops/join.ts";
import { printShape } from "../shape.ts";

/** Throws unless z is complex. */
export function checkComplex(op: string, z: Tensor): void {
  checkTensor(op, z);
  if (z.shape.at(-1) !== 2)
    throw new ShapeError(
      `${op}: a complex tensor has a last axis of 2, got ${printShape(z.shape)}\n  make one with fft.complex(re, im)`,
    );
}

/**
 * re + i·im as one tensor of rank one more; im is 0 if left out. `torch.complex`,
 * `torch.view_as_real`.
 *
 * @param re Real parts.
 * @param im Imaginary parts, of the same shape; 0 by default.
 * @example
 *   fft.complex(tensor([1, 2]), tensor([3, 4])) // [[1, 3], [2, 4]]; 1 + 3i, 2 + 4i
 *   fft.complex(tensor([5])) // [[5, 0]]
 */
export const complex = (re: Tensor, im?: Tensor): Tensor => stack([re, im ?? zerosLike(re)], -1);

/**
 * The real part: [..., 2] → [...]. `torch.real`.
 *
 * @param z Complex numbers, […, 2].
 * @example
 *   fft.real(tensor([[1, 3], [2, 4]])) // [1, 2]
 */
export const real = (z: Tensor): Tensor => part("real", z, 0);

/**
 * The imaginary part: [..., 2] → [...]. `torch.imag`.
 *
 * @param z Complex numbers, […, 2].
 * @example
 *   fft.imag(tensor([[1, 3], [2, 4]])) // [3, 4]
 */
export const imag = (z: Tensor): Tensor => part("imag", z, 1);

/**
 * √(re² + im²): [..., 2] → [...]. The slope at 0 is 0. `torch.abs` of a complex tensor.
 *
 * @param z Complex numbers, […, 2].
 * @example
 *   fft.magnitude(tensor([[3, 4]])) // [5]
 */
export const magnitude = (z: Tensor): Tensor =>
  hypot(part("magnitude", z, 0), part("magnitude", z, 1));

/**
 * The angle from the real axis, in (−π, π]: [..., 2] → [...]. `torch.angle`.
 *
 * @param z Complex numbers, […, 2].
 * @example
 *   fft.angle(tensor([[1, 0], [0, 2], [-1, 0]])) // [0, π/2, π]; of 1, 2i and −1
 */
export const angle = (z: Tensor): Tensor => atan2(part("angle", z, 1), part("angle", z, 0));

/**
 * The product of complex tensors, broadcast: (a + bi)(c + di). `torch.mul` of complex tensors.
 *
 * @param x Complex numbers, […, 2].
 * @param y Complex numbers, […, 2].
 * @example
 *   fft.multiply(tensor([0, 1]), tensor([0, 1])) // [−1, 0]; i·i
 */
export function multiply(x: Tensor, y: Tensor): Tensor {
  const [a, b] = [part("multiply", x, 0), part("multiply", x, 1)];
  const [c, d] = [part("multiply", y, 0), part("multiply", y, 1)];
  return complex(a.mul(c).sub(b.mul(d)), a.mul(d).add(b.mul(c)));
}

function part(op: string, z: Tensor, i: 0 | 1): Tensor {
  checkComplex(op, z);
  return take(z, i, -1);
}
