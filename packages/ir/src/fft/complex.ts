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

/** re + i·im as one tensor of rank one more; im is 0 if left out. `torch.complex`, `torch.view_as_real`. */
export const complex = (re: Tensor, im?: Tensor): Tensor => stack([re, im ?? zerosLike(re)], -1);

/** The real part: [..., 2] → [...]. `torch.real`. */
export const real = (z: Tensor): Tensor => part("real", z, 0);

/** The imaginary part: [..., 2] → [...]. `torch.imag`. */
export const imag = (z: Tensor): Tensor => part("imag", z, 1);

/** √(re² + im²): [..., 2] → [...]. The slope at 0 is 0. `torch.abs` of a complex tensor. */
export const magnitude = (z: Tensor): Tensor =>
  hypot(part("magnitude", z, 0), part("magnitude", z, 1));

/** The angle from the real axis, in (−π, π]: [..., 2] → [...]. `torch.angle`. */
export const angle = (z: Tensor): Tensor => atan2(part("angle", z, 1), part("angle", z, 0));

/** The product of complex tensors, broadcast: (a + bi)(c + di). */
export function multiply(x: Tensor, y: Tensor): Tensor {
  const [a, b] = [part("multiply", x, 0), part("multiply", x, 1)];
  const [c, d] = [part("multiply", y, 0), part("multiply", y, 1)];
  return complex(a.mul(c).sub(b.mul(d)), a.mul(d).add(b.mul(c)));
}

function part(op: string, z: Tensor, i: 0 | 1): Tensor {
  checkComplex(op, z);
  return take(z, i, -1);
}
