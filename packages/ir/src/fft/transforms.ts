/** Transforms along one axis, over `fourier`. */
import { isStatic } from "../dim.ts";
import { checkOptions, type OptionNames, ShapeError } from "../errors.ts";
import type { Tensor } from "../node.ts";
import { checkTensor } from "../ops/apply.ts";
import { movedim } from "../ops/composite/rearrange.ts";
import { expandDims, reshape } from "../ops/movement.ts";
import { checkAxis, printShape } from "../shape.ts";
import { checkComplex } from "./complex.ts";
import { fourier, type TransformOptions } from "./fourier.ts";

export interface FourierOptions {
  /** Which axis, of those before the pair of a complex tensor; the last by default. */
  readonly axis?: number;
  /** Length of the line, cut or filled up with zeros; that of the axis by default. */
  readonly n?: number;
}

const names: OptionNames<FourierOptions> = { axis: 1, n: 1 };

/**
 * Xₖ = Σ_j xⱼ·e^(−2πi·jk/n) along an axis, of a complex tensor. z: [..., n, 2] → the same, f32 or
 * f64; halves are computed in f32. A line whose length has factors is one product a factor
 * beyond 256. `torch.fft.fft`, `numpy.fft.fft`.
 *
 * Throws ShapeError if z is not complex, or the length is a symbol and `n` is not given.
 *
 * @example
 *   fft.fft(fft.complex(tensor([1, 0, 0, 0]))) // [[1,0],[1,0],[1,0],[1,0]]
 */
export const fft = (z: Tensor, options: FourierOptions = {}): Tensor =>
  along("fft", z, options, { inverse: false, onesided: false });

/**
 * xⱼ = 1/n · Σ_k Xₖ·e^(2πi·jk/n): undoes `fft`. `torch.fft.ifft`.
 *
 * @param z Complex numbers, […, 2].
 * @example
 *   fft.ifft(tensor([[4, 0], [0, 0], [0, 0], [0, 0]])) // [[1, 0], [1, 0], [1, 0], [1, 0]]
 */
export const ifft = (z: Tensor, options: FourierOptions = {}): Tensor =>
  along("ifft", z, options, { inverse: true, onesided: false });

/**
 * `fft` of a real tensor, the half of it that says all: [..., n] → [..., ⌊n/2⌋ + 1, 2].
 * `torch.fft.rfft`, `numpy.fft.rfft`.
 *
 * @param x Real numbers, […, n].
 * @example
 *   fft.rfft(tensor([1, 1, 1, 1])) // [[4,0],[0,0],[0,0]]
 */
export function rfft(x: Tensor, options: FourierOptions = {}): Tensor {
  checkTensor("rfft", x);
  return along("rfft", expandDims(x, -1), options, { inverse: false, onesided: true });
}

/**
 * The real tensor of a half spectrum: [..., ⌊n/2⌋ + 1, 2] → [..., n], n = 2·(bins − 1) unless
 * given. `torch.fft.irfft`.
 *
 * @param z Complex numbers, […, 2].
 * @example
 *   fft.irfft(fft.rfft(tensor([1, 2, 3]), {}), { n: 3 }) // [1,2,3]
 */
export function irfft(z: Tensor, options: FourierOptions = {}): Tensor {
  const y = along("irfft", z, options, { inverse: true, onesided: true });
  return reshape(y, y.shape.slice(0, -1));
}

function along(op: string, z: Tensor, given: FourierOptions, how: TransformOptions): Tensor {
  if (op !== "rfft") checkComplex(op, z);
  const { axis = -1, n } = checkOptions(op, given, names);
  if (z.rank < 2)
    throw new ShapeError(`${op}: a scalar has no axis to transform\n  give it a line of numbers`);
  const a = checkAxis(op, axis, z.rank - 1);
  const extent = z.shape[a]!;
  if (n === undefined && !isStatic(extent))
    throw new ShapeError(
      `${op}: the length of axis ${a} of ${printShape(z.shape)} is a symbol\n  give n, or transform an axis of known length`,
    );
  const own = how.inverse && how.onesided ? 2 * (Number(extent) - 1) : Number(extent);
  const length = n ?? own;
  if (!Number.isInteger(length) || length < 1)
    throw new ShapeError(`${op}: the length must be a whole number from 1, got ${length}`);
  const last = z.rank - 2;
  return movedim(fourier(movedim(z, a, last), length, how), last, a);
}
