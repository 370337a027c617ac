/** Augmentations that change what pictures and signals hold: colours, holes, noise, shifts in time, and mixtures of two samples. */
import {
  checkOptions,
  checkTensor,
  dimValue,
  GraphError,
  gather,
  iota,
  lerp,
  type OptionNames,
  printShape,
  random,
  ShapeError,
  type Tensor,
} from "@kiln-ml/ir";
import { checkBatch, checkRange, perSample, pictures, wholePerSample } from "./draws.ts";

/** Bytes as an image folder has them, u8[n, h, w, c] → f32[n, c, h, w] from 0 to 1. */
export function fromBytes(x: Tensor): Tensor {
  checkTensor("fromBytes", x);
  if (x.rank !== 4)
    throw new ShapeError(
      `fromBytes: needs [n, height, width, channels], got ${printShape(x.shape)}`,
    );
  return x.convert("f32").div(255).transpose([0, 3, 1, 2]);
}

export interface ColorOptions {
  /** Each is a factor drawn from 1 − v to 1 + v; 0 by default. */
  readonly brightness?: number;
  readonly contrast?: number;
  readonly saturation?: number;
}

const colorOptions: OptionNames<ColorOptions> = { brightness: 1, contrast: 1, saturation: 1 };

/** Grey by the weights of Rec. 601, [n, 1, h, w]; what has not three channels is grey already. */
function greyOf(x: Tensor): Tensor {
  if (x.shape[1] !== 3) return x.mean(1, { keepDims: true });
  const channel = (i: number): Tensor =>
    x.slice([0, i, 0, 0], [x.shape[0]!, i + 1, x.shape[2]!, x.shape[3]!]);
  return channel(0).mul(0.299).add(channel(1).mul(0.587)).add(channel(2).mul(0.114));
}

/**
 * x·b, then from the mean of its grey by c, then from its grey by s, with factors b, c, s drawn for each sample; kept in 0 … 1.
 *
 * x: float[n, c, h, w] from 0 to 1. The order is fixed.
 */
export function colorJitter(key: Tensor, x: Tensor, options: ColorOptions = {}): Tensor {
  const {
    brightness = 0,
    contrast = 0,
    saturation = 0,
  } = checkOptions("colorJitter", options, colorOptions);
  pictures("colorJitter", x);
  const keys = random.split(key, 3);
  const factor = (i: number, what: string, most: number): Tensor => {
    checkRange("colorJitter", what, most, 0, 1);
    return perSample(keys[i]!, x, 1 - most, 1 + most);
  };
  const bright = x.mul(factor(0, "brightness", brightness)).clamp(0, 1);
  const mean = greyOf(bright).mean([1, 2, 3], { keepDims: true });
  const contrasted = lerp(mean, bright, factor(1, "contrast", contrast)).clamp(0, 1);
  const grey = greyOf(contrasted);
  return lerp(grey, contrasted, factor(2, "saturation", saturation))
    .clamp(0, 1)
    .convert(x.dtype);
}

/** bool[n, 1, h, w]: a rectangle in each picture, its middle at a pixel drawn evenly, cut off where it reaches outside. */
function box(key: Tensor, x: Tensor, height: Tensor, width: Tensor): Tensor {
  const [n, , h, w] = pictures("box", x);
  const [a, b] = random.split(key, 2) as [Tensor, Tensor];
  const within = (from: Tensor, extent: typeof h, axis: number, size: Tensor): Tensor => {
    const u = random.uniform(from, [n, 1, 1, 1]);
    const start = u.mul(dimValue(extent, "f32")).floor().sub(size.mul(0.5).floor());
    const place = iota(axis === 2 ? [1, 1, extent, 1] : [1, 1, 1, extent], axis).convert("f32");
    return place.greaterEqual(start).and(place.less(start.add(size)));
  };
  return within(a, h, 2, height).and(within(b, w, 3, width));
}

export interface CutoutOptions {
  /** Side of the square, in pixels. */
  readonly size: number;
  /** What it is filled with, default 0. */
  readonly value?: number;
}

const cutoutOptions: OptionNames<CutoutOptions> = { size: 1, value: 1 };

/** A square of each picture is blank: its middle at a pixel drawn evenly. x: float[n, c, h, w]. DeVries & Taylor 2017. */
export function cutout(key: Tensor, x: Tensor, options: CutoutOptions): Tensor {
  const { size, value = 0 } = checkOptions("cutout", options, cutoutOptions);
  pictures("cutout", x);
  checkRange("cutout", "size", size, 1, 2 ** 20);
  const side = dimValue(Math.round(size), "f32");
  return box(key, x, side, side).where(value, x);
}

/** Normal noise of standard deviation `std` on every element, default 0.1. x: float of any shape. */
export function noise(key: Tensor, x: Tensor, options: { readonly std?: number } = {}): Tensor {
  checkTensor("noise", x);
  const { std = 0.1 } = checkOptions("noise", options, { std: 1 });
  checkRange("noise", "std", std, 0, Number.MAX_VALUE);
  return x.add(random.normal(key, x.shape).mul(std).convert(x.dtype));
}

export interface TimeShiftOptions {
  /** Steps by which a sample is shifted at most, either way. */
  readonly most: number;
  /** Whether what leaves at one end comes in at the other; else zeros do. False by default. */
  readonly wrap?: boolean;
}

const timeShiftOptions: OptionNames<TimeShiftOptions> = { most: 1, wrap: 1 };

/** Each signal earlier or later by a number of steps drawn evenly, all of its channels alike. x: float[n, channels, steps]. */
export function timeShift(key: Tensor, x: Tensor, options: TimeShiftOptions): Tensor {
  const { most, wrap = false } = checkOptions("timeShift", options, timeShiftOptions);
  checkBatch("timeShift", x, 3, "[n, channels, steps]");
  const [n, , t] = x.shape as [(typeof x.shape)[0] & {}, unknown, (typeof x.shape)[0] & {}];
  if (!Number.isInteger(most))
    throw new GraphError(`timeShift: most must be an integer, got ${most}`);
  checkRange("timeShift", "most", most, 0, typeof t === "number" ? t : 2 ** 24);
  const shift = wholePerSample(key, x, -most, most).reshape([n, 1]);
  const place = iota([1, t], 1).sub(shift);
  const steps = dimValue(t);
  // One turn more, as the remainder of a negative place is negative.
  const from = wrap ? place.add(steps).rem(steps) : place;
  const sample = iota([n, 1], 0).broadcastTo(from.shape);
  const moved = gather(x, [sample, from], [0, 2]).transpose([0, 2, 1]);
  if (wrap) return moved;
  const inside = place.greaterEqual(0).and(place.less(steps));
  return inside.expandDims(1).where(moved, 0);
}

export interface MixOptions {
  /** Of the Beta(α, α) that the shares are drawn from, default 1: the smaller, the less is mixed. */
  readonly alpha?: number;
}

const mixOptions: OptionNames<MixOptions> = { alpha: 1 };

/**
 * Beta(α, α), of the shape of one sample each. With X of Beta(α + 1, α + 1) = ½ + ½·√(1 − u^(2/(2α + 1)))·cos 2πv (Ulrich 1984), and gammas
 * of α being those of α + 1 times a uniform to the power 1/α: logit = ln X/(1 − X) + (ln s − ln t)/α.
 */
function beta(key: Tensor, x: Tensor, alpha: number): Tensor {
  const keys = random.split(key, 4);
  // u in (0, 1]: its logarithm is taken.
  const u = keys.map((k) => perSample(k, x, 0, 1).neg().add(1));
  const radius = u[0]!
    .pow(2 / (2 * alpha + 1))
    .neg()
    .add(1)
    .maximum(0)
    .sqrt();
  const half = radius.mul(u[1]!.mul(2 * Math.PI).cos()).mul(0.5);
  // Kept off 0 and 1, where rounding may put it.
  const middle = half.add(0.5).clamp(2 ** -24, 1 - 2 ** -24);
  const logit = middle.log().sub(middle.neg().add(1).log());
  return logit.add(u[2]!.log().sub(u[3]!.log()).div(alpha)).sigmoid();
}

/** The samples in an order of which none is at its own place: turned by 1 … n − 1 places, drawn evenly. */
function partners(key: Tensor, n: Tensor["shape"][number]): Tensor {
  const count = dimValue(n, "f32");
  const turn = random
    .uniform(key, [])
    .mul(count.sub(1))
    .floor()
    .add(1)
    .minimum(count.sub(1).maximum(0));
  return iota([n], 0).add(turn.convert("i32")).rem(dimValue(n));
}

const rowsAt = (x: Tensor, order: Tensor): Tensor => gather(x, [order], [0]);

function checkTargets(op: string, x: Tensor, y: Tensor): void {
  for (const t of [x, y]) checkTensor(op, t);
  if (y.rank !== 2 || y.shape[0] !== x.shape[0])
    throw new ShapeError(
      `${op}: targets must be float[n, classes] for ${printShape(x.shape)}, got ${printShape(y.shape)}\n  mix what oneHot makes of labels`,
    );
}

/**
 * λ·x + (1 − λ)·x′ and the same of the targets, x′ another sample of the batch and λ of Beta(α, α), drawn for each sample.
 *
 * x: float[n, …], y: float[n, classes]. Zhang et al. 2018.
 */
export function mixup(
  key: Tensor,
  x: Tensor,
  y: Tensor,
  options: MixOptions = {},
): [Tensor, Tensor] {
  const { alpha = 1 } = checkOptions("mixup", options, mixOptions);
  checkRange("mixup", "alpha", alpha, 1e-3, 1e3);
  checkTargets("mixup", x, y);
  const [a, b] = random.split(key, 2) as [Tensor, Tensor];
  const share = beta(a, x, alpha);
  const order = partners(b, x.shape[0]!);
  const own = share.reshape([x.shape[0]!, 1]);
  return [
    lerp(rowsAt(x, order), x, share).convert(x.dtype),
    lerp(rowsAt(y, order), y, own).convert(y.dtype),
  ];
}

/**
 * A rectangle of each picture is that of another of the batch: sides √(1 − λ) of the picture's, λ of Beta(α, α), cut off at the edges.
 * Targets are mixed by the area that is left.
 *
 * x: float[n, c, h, w], y: float[n, classes]. Yun et al. 2019.
 */
export function cutmix(
  key: Tensor,
  x: Tensor,
  y: Tensor,
  options: MixOptions = {},
): [Tensor, Tensor] {
  const { alpha = 1 } = checkOptions("cutmix", options, mixOptions);
  const [n, , h, w] = pictures("cutmix", x);
  checkRange("cutmix", "alpha", alpha, 1e-3, 1e3);
  checkTargets("cutmix", x, y);
  const [a, b, c] = random.split(key, 3) as [Tensor, Tensor, Tensor];
  const side = beta(a, x, alpha).neg().add(1).sqrt();
  const sized = (extent: typeof h): Tensor => side.mul(dimValue(extent, "f32")).round();
  const hole = box(b, x, sized(h), sized(w));
  const order = partners(c, n);
  const own = hole.convert("f32").mean([1, 2, 3]).neg().add(1).reshape([n, 1]);
  return [hole.where(rowsAt(x, order), x), lerp(rowsAt(y, order), y, own).convert(y.dtype)];
}
