/** What the playground gives its programs to draw with (packages/site/src/lib/playground.ts). */
declare module "playground" {
  import type { Tensor } from "kiln-ml";

  /** Adds a value to the line of that name. */
  export function plot(name: string, value: number): void;
  /** Shows numbers in [0, 1]: [h, w] gray, [h, w, 3] colours, [n, h, w] a grid. */
  export function show(
    name: string,
    x: Tensor | { readonly data: ArrayLike<number>; readonly shape: readonly number[] },
  ): Promise<void>;
}
