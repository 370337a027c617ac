/**
 * Measures of images: overlap of segmentations, and likeness in structure.
 */
import {
  checkOptions,
  checkTensor,
  convolution,
  GraphError,
  isStatic,
  kindOf,
  type OptionNames,
  printShape,
  ShapeError,
  type Tensor,
  tensor,
} from "@kiln-ml/ir";
import type { HostSums, Metric, MetricValue } from "../meter.ts";
import { checkSameShape, countOf, hotRows } from "./counting.ts";

export interface OverlapOptions {
  /** For output and target of one shape: foreground is what is above it, default 0.5; 0 for logits. */
  readonly threshold?: number;
  /** "macro" (the default): the mean over the classes that were seen; "none": one value a class. */
  readonly average?: "macro" | "none";
}

const overlapOptions: OptionNames<OverlapOptions> = { threshold: 1, average: 1 };

function overlap(
  name: string,
  options: OverlapOptions,
  ratio: (both: number, either: number) => number,
): Metric {
  const { threshold = 0.5, average = "macro" } = checkOptions(name, options, overlapOptions);
  return {
    name,
    mode: "max",
    batch(output, target) {
      const [guessed, actual] = foreground(name, output, target, threshold);
      const count = (t: Tensor) => t.sum(0).convert("i32");
      return { both: count(guessed.mul(actual)), sizes: count(guessed).add(count(actual)) };
    },
    value({ both, sizes }: HostSums): MetricValue {
      const each = Array.from(both!, (b, i) => (sizes![i]! ? ratio(b, sizes![i]!) : NaN));
      if (average === "none") return each;
      const seen = each.filter((v) => !Number.isNaN(v));
      return seen.length ? seen.reduce((a, b) => a + b, 0) / seen.length : NaN;
    },
  };
}

/** Pixels as rows, classes as columns, of zeros and ones; one column for masks. */
function foreground(
  name: string,
  output: Tensor,
  target: Tensor,
  threshold: number,
): readonly [Tensor, Tensor] {
  for (const t of [output, target]) checkTensor(name, t);
  if (output.rank !== target.rank) {
    const { guessed, actual } = hotRows(name, output, target, 1);
    return [guessed, actual];
  }
  checkSameShape(name, output, target);
  const column = (t: Tensor, above: number) => t.greater(above).convert("f32").reshape([-1, 1]);
  return [column(output, threshold), column(target.convert("f32"), 0.5)];
}

/**
 * 2·|A∩B| / (|A| + |B|) over all pixels of the epoch. Masks of one shape, or scores float[N, C, …] and classes i32[N, …]: by class.
 */
export const dice = (options: OverlapOptions = {}): Metric =>
  overlap("dice", options, (both, sizes) => (2 * both) / sizes);

/** |A∩B| / |A∪B|, Jaccard's index. Shapes as in `dice`. */
export const iou = (options: OverlapOptions = {}): Metric =>
  overlap("iou", options, (both, sizes) => both / (sizes - both));

export interface SsimOptions {
  /** The largest value less the smallest that an image may have, default 1. */
  readonly range?: number;
  /** Side of the Gaussian window, odd, default 11. */
  readonly window?: number;
  /** Its deviation in pixels, default 1.5. */
  readonly sigma?: number;
}

/** Σ = 1 over the window: f32[1, 1, size, size]. */
function gaussian(size: number, sigma: number): Tensor {
  const line = Array.from({ length: size }, (_, i) =>
    Math.exp(-((i - (size - 1) / 2) ** 2) / (2 * sigma * sigma)),
  );
  const total = line.reduce((a, b) => a + b, 0);
  const values = line.flatMap((a) => line.map((b) => (a * b) / total ** 2));
  return tensor(Float32Array.from(values), { shape: [1, 1, size, size] });
}

/** The mean of (2·μx·μy + c₁)(2·σxy + c₂) / ((μx² + μy² + c₁)(σx² + σy² + c₂)) over places of the window, in every image. */
function likeness(x: Tensor, y: Tensor, window: Tensor, range: number): Tensor {
  const [c1, c2] = [(0.01 * range) ** 2, (0.03 * range) ** 2];
  const local = (t: Tensor) => convolution(t, window);
  const [mx, my] = [local(x), local(y)];
  const between = local(x.mul(y)).sub(mx.mul(my));
  const spread = local(x.square()).sub(mx.square()).add(local(y.square())).sub(my.square());
  const top = mx.mul(my).mul(2).add(c1).mul(between.mul(2).add(c2));
  return top.div(mx.square().add(my.square()).add(c1).mul(spread.add(c2)));
}

/**
 * Structural similarity, the mean over images, channels and places where the window fits. Both float[N, C, H, W].
 * Wang et al. 2004, eq. 13, with its constants and window.
 */
export function ssim(options: SsimOptions = {}): Metric {
  const names: OptionNames<SsimOptions> = { range: 1, window: 1, sigma: 1 };
  const { range = 1, window: size = 11, sigma = 1.5 } = checkOptions("ssim", options, names);
  if (!Number.isInteger(size) || size < 1 || size % 2 === 0)
    throw new GraphError(`ssim: window must be odd, got ${kindOf(size)}`);
  return {
    name: "ssim",
    mode: "max",
    batch(output, target) {
      checkSameShape("ssim", output, target);
      const [h, w] = output.shape.slice(-2);
      if (output.rank !== 4 || !isStatic(h!) || !isStatic(w!) || h < size || w < size)
        throw new ShapeError(
          `ssim: needs images [N,C,H,W] of ${size} pixels or more, got ${printShape(output.shape)}\n  take a smaller window`,
        );
      const planes = (t: Tensor) => t.convert("f32").reshape([-1, 1, h, w]);
      const each = likeness(planes(output), planes(target), gaussian(size, sigma), range);
      return { sum: each.sum(), count: countOf(each) };
    },
    value: ({ sum, count }) => sum![0]! / count![0]!,
  };
}
