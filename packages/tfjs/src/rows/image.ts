/**
 * Rows that resize images, with their gradients. Where to read is known when a row is applied, and
 * held by the program.
 */
import type { ResizeBilinearAttrs } from "@tensorflow/tfjs-core";
import type { Tensor } from "kiln-ml/ir";
import * as ir from "kiln-ml/ir";
import type { Operands, Rows } from "../row.ts";
import { asFloat } from "./operand.ts";

/**
 * Old places for each step to a new one; with aligned corners the outer elements stay where they
 * are.
 */
function ratio(from: number, to: number, alignCorners: boolean): number {
  return alignCorners && to > 1 ? (from - 1) / (to - 1) : from / to;
}

/** What is read for each place of a new axis: two old places, and the part of the second. */
interface Taps {
  readonly low: Int32Array;
  readonly high: Int32Array;
  readonly part: Float32Array;
}

function tapsOf(
  from: number,
  to: number,
  { alignCorners, halfPixelCenters }: ResizeBilinearAttrs,
): Taps {
  const by = ratio(from, to, alignCorners);
  const taps = {
    low: new Int32Array(to),
    high: new Int32Array(to),
    part: new Float32Array(to),
  };
  for (let i = 0; i < to; i++) {
    const at = halfPixelCenters ? by * (i + 0.5) - 0.5 : by * i;
    taps.low[i] = Math.max(0, Math.floor(at));
    taps.high[i] = Math.min(from - 1, Math.ceil(at));
    taps.part[i] = at - taps.low[i]!;
  }
  return taps;
}

function stretched(x: Tensor, axis: number, taps: Taps): Tensor {
  const [low, high] = [taps.low, taps.high].map((at) => ir.take(x, ir.tensor(at), axis));
  const shape = x.shape.map((_, i) => (i === axis ? taps.part.length : 1));
  const part = ir.tensor(taps.part, { shape });
  return ir.add(low!, ir.mul(ir.sub(high!, low!), part));
}

function bilinear(images: Tensor, attrs: ResizeBilinearAttrs): Tensor {
  const x = asFloat(images);
  const [height, width] = attrs.size;
  const [, h, w] = x.shape as number[];
  const wide = stretched(x, 2, tapsOf(w!, width, attrs));
  return stretched(wide, 1, tapsOf(h!, height, attrs));
}

function nearest(images: Tensor, attrs: ResizeBilinearAttrs): Tensor {
  const { size, alignCorners, halfPixelCenters } = attrs;
  return size.reduce((x, to, i) => {
    const from = x.shape[i + 1] as number;
    const by = ratio(from, to, alignCorners);
    const at = Int32Array.from({ length: to }, (_, place) => {
      const exact = halfPixelCenters ? by * (place + 0.5) : by * place;
      const near = alignCorners ? Math.round(exact) : Math.floor(exact);
      return Math.max(0, Math.min(from - 1, near));
    });
    return ir.take(x, ir.tensor(at), i + 1);
  }, images);
}

type Resize = (images: Tensor, attrs: ResizeBilinearAttrs) => Tensor;

const backward =
  (resize: Resize) =>
  ({ images, dy }: Operands, attrs: ResizeBilinearAttrs): Tensor | undefined => {
    if (images!.dtype !== "f32") return undefined;
    const size = dy!.shape.slice(1, 3) as [number, number];
    const y = resize(images!, { ...attrs, size, halfPixelCenters: false });
    return ir.grad(y, [images!], { cotangent: dy! })[0]!;
  };

export const image: Rows = {
  ResizeBilinear: ({ images }: Operands, attrs: ResizeBilinearAttrs) => bilinear(images!, attrs),
  ResizeNearestNeighbor: ({ images }: Operands, attrs: ResizeBilinearAttrs) =>
    nearest(images!, attrs),
  ResizeBilinearGrad: backward(bilinear),
  ResizeNearestNeighborGrad: backward(nearest),
};
