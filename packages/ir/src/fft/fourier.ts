/**
 * The discrete Fourier transform as products with matrices of cosines and sines: one product for
 * short lines, and, where a long line's length has factors, one for each factor with twiddles in
 * between. Lengths must be numbers.
 */
import { isStatic } from "../dim.ts";
import type { Tensor } from "../node.ts";
import { inFloat32 } from "../ops/composite/in-float32.ts";
import { dotGeneral } from "../ops/contraction.ts";
import { pad, reshape, sliceAxis, transpose } from "../ops/movement.ts";
import { tensor } from "../ops/source.ts";

/** Longer lines are split, where their length has factors. */
const direct = 256;

/** e^(sign·2πi·jk/n) as pairs: [rows, columns, 2]. */
function roots(rows: number, columns: number, n: number, sign: number): Float64Array {
  const out = new Float64Array(rows * columns * 2);
  for (let j = 0; j < rows; j++)
    for (let k = 0; k < columns; k++) {
      const angle = (2 * Math.PI * ((j * k) % n)) / n;
      out[(j * columns + k) * 2] = Math.cos(angle);
      out[(j * columns + k) * 2 + 1] = sign * Math.sin(angle);
    }
  return out;
}

/** Numbers in the dtype of what they are multiplied with, which is f32 or f64. */
const table = (values: Float64Array, shape: readonly number[], { dtype }: Tensor): Tensor =>
  tensor(dtype === "f64" ? values : Float32Array.from(values), { shape });

/**
 * The matrix [n, 2, bins, 2] that takes a complex line to its spectrum; of a real line, [n, 1,
 * bins, 2].
 */
function spectrumMatrix(n: number, bins: number, sign: number, parts: 1 | 2, like: Tensor): Tensor {
  const w = roots(n, bins, n, sign);
  if (parts === 1) return table(w, [n, 1, bins, 2], like);
  const out = new Float64Array(n * 2 * bins * 2);
  for (let j = 0; j < n; j++)
    for (let k = 0; k < bins; k++) {
      const [re, im] = [w[(j * bins + k) * 2]!, w[(j * bins + k) * 2 + 1]!];
      out.set([re, im], ((j * 2 + 0) * bins + k) * 2);
      out.set([-im, re], ((j * 2 + 1) * bins + k) * 2);
    }
  return table(out, [n, 2, bins, 2], like);
}

/** x[…, n, parts] → [..., bins, 2]. */
function product(x: Tensor, matrix: Tensor): Tensor {
  return dotGeneral(x, matrix, { lhsContract: [x.rank - 2, x.rank - 1], rhsContract: [0, 1] });
}

/** The greatest divisor of n that is no greater than its root. */
function divisor(n: number): number {
  let d = Math.floor(Math.sqrt(n));
  while (n % d !== 0) d--;
  return d;
}

/** Σ_j x[…, j] e^(sign·2πi·jk/n) for all k: x[…, n, 2] → [..., n, 2]. */
function transformed(x: Tensor, n: number, sign: number): Tensor {
  const a = n > direct ? divisor(n) : 1;
  if (a === 1) return product(x, spectrumMatrix(n, n, sign, 2, x));
  const b = n / a;
  const lead = x.shape.slice(0, -2);
  const at = lead.length;
  const swap = [...lead.map((_, i) => i), at + 1, at, at + 2];
  // Line j = b·p + q: over p first, for each q.
  const columns = transpose(reshape(x, [...lead, a, b, 2]), swap);
  const first = transformed(columns, a, sign);
  const turned = multiplied(first, table(roots(b, a, n, sign), [b, a, 2], x));
  const second = transformed(transpose(turned, swap), b, sign);
  // [a, b] holds frequency p + a·q.
  return reshape(transpose(second, swap), [...lead, n, 2]);
}

/** The product of complex numbers in the last axis; w is broadcast to z. */
function multiplied(z: Tensor, w: Tensor): Tensor {
  const part = (t: Tensor, i: number) => sliceAxis(t, -1, i, i + 1);
  const [a, b] = [part(z, 0), part(z, 1)];
  const [c, d] = [part(w, 0), part(w, 1)] as [Tensor, Tensor];
  const zero: number[] = z.shape.map(() => 0);
  const one = zero.map((_, i) => (i === z.rank - 1 ? 1 : 0));
  const re = a.mul(c).sub(b.mul(d));
  const im = a.mul(d).add(b.mul(c));
  return pad(re, 0, zero, one).add(pad(im, 0, one, zero));
}

export interface TransformOptions {
  /** e^(+2πi…), divided by n. */
  readonly inverse: boolean;
  /** Only the places up to ⌊n/2⌋, of real lines. */
  readonly onesided: boolean;
}

/** x[…, m, parts] with m made n, by cropping or by zeros. */
function fitted(x: Tensor, n: number): Tensor {
  const axis = x.rank - 2;
  const m = x.shape[axis]!;
  const high = x.shape.map((_, i) => (i === axis && isStatic(m) ? n - m : 0));
  return high[axis] === 0
    ? x
    : pad(
        x,
        0,
        high.map(() => 0),
        high,
      );
}

/**
 * The spectrum of x[…, m, 1 or 2] over n places; the inverse is divided by n. A onesided inverse
 * gives a real line. No counterpart in PyTorch: `fft`, `rfft` and their inverses are made of it.
 *
 * @param x A line of real numbers or pairs, […, m, 1 or 2].
 * @param n Places of the transform.
 * @example
 *   const line = tensor([[1], [1], [1], [1]]);
 *   fft.fourier(line, 4, { inverse: false, onesided: true }) // [[4, 0], [0, 0], [0, 0]]
 */
export const fourier = (x: Tensor, n: number, options: TransformOptions): Tensor =>
  inFloat32([x], (wide) => spectrum(wide, n, options));

function spectrum(x: Tensor, n: number, options: TransformOptions): Tensor {
  const { inverse, onesided } = options;
  const half = Math.floor(n / 2) + 1;
  if (inverse && onesided) return realLine(fitted(x, half), n);
  const line = fitted(x, n);
  const sign = inverse ? 1 : -1;
  const real = x.shape[x.rank - 1] === 1;
  let y: Tensor;
  if (n <= direct) {
    const matrix = spectrumMatrix(n, onesided ? half : n, sign, real ? 1 : 2, x);
    y = product(line, matrix);
  } else {
    const none = x.shape.map(() => 0);
    const widened = real
      ? pad(
          line,
          0,
          none,
          none.map((_, i) => (i === x.rank - 1 ? 1 : 0)),
        )
      : line;
    const all = transformed(widened, n, sign);
    y = onesided ? sliceAxis(all, -2, 0, half) : all;
  }
  return inverse ? y.mul(1 / n) : y;
}

/** A real line of n from the half of its spectrum: [..., n/2 + 1, 2] → [..., n, 1]. */
function realLine(x: Tensor, n: number): Tensor {
  const half = Math.floor(n / 2) + 1;
  if (n > direct && divisor(n) > 1) {
    // The other half is the conjugate, in reverse order.
    const rest = sliceAxis(x, -2, 1, n - half + 1).reverse(x.rank - 2);
    const conjugate = rest.mul(table(Float64Array.of(1, -1), [2], x));
    const axis = x.rank - 2;
    const none = x.shape.map(() => 0);
    const move = (low: number, high: number) => [
      none.map((_, i) => (i === axis ? low : 0)),
      none.map((_, i) => (i === axis ? high : 0)),
    ];
    const [l1, h1] = move(0, n - half);
    const [l2, h2] = move(half, 0);
    const whole = pad(x, 0, l1!, h1!).add(pad(conjugate, 0, l2!, h2!));
    return sliceAxis(transformed(whole, n, 1), -1, 0, 1).mul(1 / n);
  }
  const out = new Float64Array(half * 2 * n);
  for (let k = 0; k < half; k++) {
    const weight = (k === 0 || 2 * k === n ? 1 : 2) / n;
    for (let t = 0; t < n; t++) {
      const angle = (2 * Math.PI * ((k * t) % n)) / n;
      out[(k * 2 + 0) * n + t] = weight * Math.cos(angle);
      out[(k * 2 + 1) * n + t] = -weight * Math.sin(angle);
    }
  }
  return product(x, table(out, [half, 2, n, 1], x));
}
