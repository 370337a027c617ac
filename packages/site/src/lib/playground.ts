/** What programs of the playground draw with: pictures and lines beside the console. */
import type { Tensor } from "kiln-ml";
import { type Pixels, pictureOf } from "../play/picture.ts";
import { post } from "../play/post.ts";

/** Adds a value to the line of that name, under the console. */
export function plot(name: string, value: number): void {
  post({ kind: "plot", name, value: Number(value) });
}

/**
 * Shows numbers in [0, 1] as a picture: [h, w] gray, [h, w, 3] colours, [n, h, w] a grid of n. A picture of the same name is
 * replaced.
 */
export async function show(name: string, x: Tensor | Pixels): Promise<void> {
  const pixels = "dtype" in x ? { data: (await x.data()) as Float32Array, shape: x.shape } : x;
  post({ kind: "picture", name, picture: pictureOf(pixels as Pixels) });
}
