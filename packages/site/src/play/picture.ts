/** Arrays of numbers in [0, 1] as rows of RGBA bytes. */
import type { Picture } from "./messages.ts";

export interface Pixels {
  readonly data: ArrayLike<number>;
  readonly shape: readonly number[];
}

/** Pixels between the pictures of a grid. */
const gap = 2;

/** [h, w] is gray, [h, w, 3] colours, [n, h, w] a grid of n. Throws RangeError for other shapes. */
export function pictureOf({ data, shape }: Pixels): Picture {
  const size = shape.reduce((a, b) => a * b, 1);
  const [a, b, c] = shape as [number, number, number];
  const known = shape.length === 2 || shape.length === 3;
  if (!known || size !== data.length)
    throw new RangeError(
      `show: a picture is [h,w], [h,w,3] or [n,h,w], got [${shape}] of ${data.length} values`,
    );
  if (shape.length === 2) return grid(data, 1, a, b);
  if (c === 3) return coloured(data, a, b);
  return grid(data, a, b, c);
}

function coloured(data: ArrayLike<number>, height: number, width: number): Picture {
  const rgba = new Uint8ClampedArray(4 * height * width).fill(255);
  for (let i = 0; i < height * width; i++)
    for (let channel = 0; channel < 3; channel++)
      rgba[4 * i + channel] = 255 * data[3 * i + channel]!;
  return { width, height, rgba };
}

/** `count` gray pictures in rows that make the whole about square. */
function grid(data: ArrayLike<number>, count: number, h: number, w: number): Picture {
  const columns = Math.ceil(Math.sqrt((count * h) / w));
  const rows = Math.ceil(count / columns);
  const width = columns * (w + gap) - gap;
  const height = rows * (h + gap) - gap;
  const rgba = new Uint8ClampedArray(4 * height * width);
  for (let i = 0; i < count * h * w; i++) {
    const [n, y, x] = [Math.floor(i / (h * w)), Math.floor(i / w) % h, i % w];
    const row = Math.floor(n / columns) * (h + gap) + y;
    const at = 4 * (row * width + (n % columns) * (w + gap) + x);
    rgba.fill(255 * data[i]!, at, at + 3);
    rgba[at + 3] = 255;
  }
  return { width, height, rgba };
}
