/**
 * Distances in units in the last place, of f32 and f64.
 */

const float = new Float64Array(1);
const bits = new BigInt64Array(float.buffer);
const single = new Float32Array(float.buffer);
const singleBits = new Int32Array(float.buffer);

/** The place of a float among all of its width in order; ±0 are one. */
function place(x: number, dtype: "f32" | "f64"): bigint {
  if (dtype === "f32") {
    single[0] = x;
    const b = singleBits[0]!;
    return BigInt(b < 0 ? -(b & 0x7fffffff) : b);
  }
  float[0] = x;
  const b = bits[0]!;
  return b < 0n ? -(b & 0x7fffffffffffffffn) : b;
}

/** How many floats `got` is from `wanted`. Infinite where only one is NaN. */
export function ulpsApart(got: number, wanted: number, dtype: "f32" | "f64"): number {
  if (Object.is(got, wanted) || got === wanted) return 0;
  if (Number.isNaN(got) || Number.isNaN(wanted)) return Number.POSITIVE_INFINITY;
  const distance = place(got, dtype) - place(wanted, dtype);
  return Number(distance < 0n ? -distance : distance);
}

/**
 * How far `got`, an f32, is from a value known in double precision, in units of the last place of the latter. Infinite where
 * only one is NaN, or where zeros differ in sign.
 */
export function ulpsFrom(got: number, exact: number): number {
  const wanted = Math.fround(exact);
  if (Object.is(got, wanted)) return 0;
  if (Number.isNaN(got) || Number.isNaN(wanted) || got === wanted) return Number.POSITIVE_INFINITY;
  if (!Number.isFinite(got) || !Number.isFinite(wanted)) return ulpsApart(got, wanted, "f32");
  const unit = Math.max(2 ** -149, 2 ** (Math.floor(Math.log2(Math.abs(exact))) - 23));
  return Math.abs(got - exact) / unit;
}
