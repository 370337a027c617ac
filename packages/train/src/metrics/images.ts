/**
 * Measures of images: overlap of segmentations, and likeness in structure.
 */
import {
  avgPool,
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
  /**
   * For output and target of one shape: foreground is what is above it, default 0.5; 0 for logits.
   */
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
 * 2·|A∩B| / (|A| + |B|) over all pixels of the epoch. Masks of one shape, or scores float[N, C, …]
 * and classes i32[N, …]: by class.
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

/**
 * At each place of the window in every image: how alike brightness is, (2·μx·μy + c₁)/(μx² + μy² +
 * c₁), and how alike contrast and structure are, (2·σxy + c₂)/(σx² + σy² + c₂).
 */
function likeness(x: Tensor, y: Tensor, window: Tensor, range: number): readonly [Tensor, Tensor] {
  const [c1, c2] = [(0.01 * range) ** 2, (0.03 * range) ** 2];
  const local = (t: Tensor) => convolution(t, window);
  const [mx, my] = [local(x), local(y)];
  const between = local(x.mul(y)).sub(mx.mul(my));
  const spread = local(x.square()).sub(mx.square()).add(local(y.square())).sub(my.square());
  const bright = mx.mul(my).mul(2).add(c1).div(mx.square().add(my.square()).add(c1));
  return [bright, between.mul(2).add(c2).div(spread.add(c2))];
}

const ssimNames: OptionNames<SsimOptions> = { range: 1, window: 1, sigma: 1 };

function ssimOptions(name: string, options: SsimOptions) {
  const { range = 1, window = 11, sigma = 1.5 } = checkOptions(name, options, ssimNames);
  if (!Number.isInteger(window) || window < 1 || window % 2 === 0)
    throw new GraphError(`${name}: window must be odd, got ${kindOf(window)}`);
  return { range, size: window, sigma };
}

/** Channels of both as images of their own, f32[N·C, 1, H, W]. */
function planesOf(name: string, output: Tensor, target: Tensor, least: number) {
  checkSameShape(name, output, target);
  const [h, w] = output.shape.slice(-2);
  if (output.rank !== 4 || !isStatic(h!) || !isStatic(w!) || h < least || w < least)
    throw new ShapeError(
      `${name}: needs images [N,C,H,W] of ${least} pixels or more, got ${printShape(output.shape)}\n  take a smaller window`,
    );
  const planes = (t: Tensor) => t.convert("f32").reshape([-1, 1, h, w]);
  return [planes(output), planes(target)] as const;
}

/**
 * Structural similarity, the mean over images, channels and places where the window fits. Both
 * float[N, C, H, W]. Wang et al. 2004, eq. 13, with its constants and window.
 */
export function ssim(options: SsimOptions = {}): Metric {
  const { range, size, sigma } = ssimOptions("ssim", options);
  return {
    name: "ssim",
    mode: "max",
    batch(output, target) {
      const [x, y] = planesOf("ssim", output, target, size);
      const [bright, structure] = likeness(x, y, gaussian(size, sigma), range);
      return { sum: bright.mul(structure).sum(), count: countOf(bright) };
    },
    value: ({ sum, count }) => sum![0]! / count![0]!,
  };
}

/** Exponents of the scales, the finest first: Wang et al. 2003, section 3.2. */
const scales = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333];

/**
 * Structural similarity over five scales, each of half the side: the product of structure at each,
 * and of brightness at the last, with the exponents above; the mean over images and channels. Both
 * float[N, C, H, W], of 16·(window − 1) + 1 pixels or more. Wang, Simoncelli and Bovik 2003, eq. 7;
 * a factor below 0 counts as 0, as it has no power.
 */
export function msSsim(options: SsimOptions = {}): Metric {
  const { range, size, sigma } = ssimOptions("msSsim", options);
  return {
    name: "msSsim",
    mode: "max",
    batch(output, target) {
      let [x, y] = planesOf("msSsim", output, target, 16 * (size - 1) + 1);
      const window = gaussian(size, sigma);
      const factors = scales.map((exponent, i) => {
        if (i) [x, y] = [halved(x), halved(y)];
        const [bright, structure] = likeness(x, y, window, range);
        const each = i === scales.length - 1 ? bright.mul(structure) : structure;
        return each.mean([1, 2, 3]).maximum(0).pow(exponent);
      });
      const all = factors.reduce((a, b) => a.mul(b));
      return { sum: all.sum(), count: countOf(all) };
    },
    value: ({ sum, count }) => sum![0]! / count![0]!,
  };
}

/** Means of 2 × 2 pixels; an odd row or column at the end is left out. */
const halved = (x: Tensor): Tensor => avgPool(x, { size: 2 });
