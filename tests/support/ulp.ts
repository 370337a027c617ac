/**
 * Distances in units in the last place of f32.
 */

const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);

/** The place of a float among all floats in order; ±0 are one. */
function place(x: number): number {
  float[0] = x;
  const b = bits[0]!;
  return b < 0 ? -(b & 0x7fffffff) : b;
}

/**
 * How far `got`, an f32, is from a value known in double precision, in units of the last place of the latter. Infinite where
 * only one is NaN, or where zeros differ in sign.
 */
export function ulpsFrom(got: number, exact: number): number {
  const wanted = Math.fround(exact);
  if (Object.is(got, wanted)) return 0;
  if (Number.isNaN(got) || Number.isNaN(wanted) || got === wanted) return Number.POSITIVE_INFINITY;
  if (!Number.isFinite(got) || !Number.isFinite(wanted))
    return Math.abs(place(got) - place(wanted));
  const unit = Math.max(2 ** -149, 2 ** (Math.floor(Math.log2(Math.abs(exact))) - 23));
  return Math.abs(got - exact) / unit;
}
