/**
 * Pictures that examples write: rows of images of values from 0 to 1, as PNG.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { data } from "kiln-ml";

/** Where examples put what they make; the runner names a folder that it removes. */
export const outputs = process.env.KILN_EXAMPLE_OUT ?? "runs/examples";

/** Writes `count` images of size × size, side by side in `columns`, and returns the path. */
export async function writeGrid(
  name: string,
  pixels: ArrayLike<number>,
  size: number,
  columns: number,
): Promise<string> {
  const count = pixels.length / (size * size);
  const rows = Math.ceil(count / columns);
  const grid = new Uint8Array(rows * size * columns * size);
  for (let i = 0; i < pixels.length; i++) {
    const [image, at] = [Math.floor(i / (size * size)), i % (size * size)];
    const y = Math.floor(image / columns) * size + Math.floor(at / size);
    const x = (image % columns) * size + (at % size);
    grid[y * columns * size + x] = 255 * Math.min(1, Math.max(0, pixels[i]!));
  }
  return writePicture(name, { data: grid, shape: [rows * size, columns * size, 1] });
}

export async function writePicture(name: string, picture: data.Picture): Promise<string> {
  mkdirSync(outputs, { recursive: true });
  const path = join(outputs, name);
  writeFileSync(path, await data.encodePng(picture));
  return path;
}
