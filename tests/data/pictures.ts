/** A batch of pictures for the tests of augmentations, and augmentations compiled for any batch and key. */
import { compile, random, type Tensor, tensor } from "kiln-ml";

export type Run = (
  x: Float32Array,
  shape: readonly number[],
  seed: number,
) => Promise<Float32Array>;

/** The augmentation compiled once for any batch and key. */
export function compiled(
  fn: (key: Tensor, x: Tensor) => Tensor,
  form: readonly (number | string)[],
  target: "js" | "wasm" = "js",
): Run {
  const program = compile((x: Tensor, seed: Tensor) => fn(random.key(seed), x), {
    target,
    inputs: [
      { dtype: "f32", shape: form },
      { dtype: "u32", shape: [] },
    ],
  });
  return async (x, shape, seed) =>
    (await (
      await program({ data: x, shape }, tensor(seed, { dtype: "u32" }))
    ).data()) as Float32Array;
}

export const image = (n: number, c: number, h: number, w: number): Float32Array =>
  Float32Array.from({ length: n * c * h * w }, (_, i) => ((i * 37) % 101) / 101 + 0.005);

/** A picture, read with zeros around it. */
export const pixel =
  (x: Float32Array, c: number, h: number, w: number) =>
  (n: number, k: number, i: number, j: number): number =>
    i < 0 || j < 0 || i >= h || j >= w ? 0 : x[((n * c + k) * h + i) * w + j]!;

export const close = (a: ArrayLike<number>, b: ArrayLike<number>, most = 1e-5): boolean =>
  a.length === b.length && Array.from(a).every((v, i) => Math.abs(v - b[i]!) <= most);

export const [n, c, h, w] = [24, 2, 5, 6] as [number, number, number, number];
export const size = c * h * w;
export const x = image(n, c, h, w);
export const at = pixel(x, c, h, w);

export function sampleOf(
  value: (k: number, i: number, j: number) => number,
  height = h,
  width = w,
) {
  const out = new Float32Array(c * height * width);
  for (let k = 0; k < c; k++)
    for (let i = 0; i < height; i++)
      for (let j = 0; j < width; j++) out[(k * height + i) * width + j] = value(k, i, j);
  return out;
}
