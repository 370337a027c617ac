/**
 * Augmentations that move what a picture shows: flips, crops, and affine maps. Each draws for every sample by itself, from a key: the
 * same key, the same pictures. They are graph, so they run in the step, on whatever the step runs.
 */
import {
  checkOptions,
  checkTensor,
  concat,
  dimValue,
  gather,
  iota,
  type OptionNames,
  random,
  type Tensor,
} from "@kiln-ml/ir";
import { checkRange, perSample, pictures, wholePerSample } from "./draws.ts";

export interface FlipOptions {
  /** How likely a sample is flipped, default ½. */
  readonly p?: number;
  /** Left to right is the default; "height" is upside down. */
  readonly axis?: "width" | "height";
}

const flipOptions: OptionNames<FlipOptions> = { p: 1, axis: 1 };

/** Mirrors each sample with probability p. x: float[n, c, h, w]. */
export function flip(key: Tensor, x: Tensor, options: FlipOptions = {}): Tensor {
  const { p = 0.5, axis = "width" } = checkOptions("flip", options, flipOptions);
  pictures("flip", x);
  checkRange("flip", "p", p, 0, 1);
  const turned = random.bernoulli(key, p, [x.shape[0]!, 1, 1, 1]);
  return turned.where(x.reverse(axis === "width" ? [3] : [2]), x);
}

/** Pictures x at whole places rows and columns, i32[n, h′, w′]; 0 where a place is outside. */
function at(x: Tensor, rows: Tensor, columns: Tensor): Tensor {
  const [n, , h, w] = x.shape;
  const place = rows.shape;
  const sample = iota([n!, 1, 1], 0, "i32").broadcastTo(place);
  // [n, h′, w′, c]: gathered axes come first.
  const found = gather(x, [sample, rows, columns], [0, 2, 3]).transpose([0, 3, 1, 2]);
  const inside = rows
    .greaterEqual(0)
    .and(rows.less(dimValue(h!)))
    .and(columns.greaterEqual(0))
    .and(columns.less(dimValue(w!)));
  return inside.expandDims(1).where(found, 0);
}

export interface CropOptions {
  /** Zeros around the picture before it is cut, on each side. */
  readonly padding?: number;
  /** Height and width of the result; those of the picture by default. */
  readonly size?: number | readonly [height: number, width: number];
}

const cropOptions: OptionNames<CropOptions> = { padding: 1, size: 1 };

/**
 * A part of each picture, with zeros around it, at a place drawn evenly: x float[n, c, h, w] → [n, c, *size]. `padding` 4 is what
 * CIFAR's recipes take. Heights and widths are numbers, the batch may be a symbol. Throws GraphError for a part that does not fit.
 */
export function randomCrop(key: Tensor, x: Tensor, options: CropOptions = {}): Tensor {
  const { padding = 0, size } = checkOptions("randomCrop", options, cropOptions);
  const [h, w] = pictures("randomCrop", x).slice(2).map(Number) as [number, number];
  const [height, width] = typeof size === "number" ? [size, size] : (size ?? [h, w]);
  checkRange("randomCrop", "height", height, 1, h + 2 * padding);
  checkRange("randomCrop", "width", width, 1, w + 2 * padding);
  const [a, b] = random.split(key, 2) as [Tensor, Tensor];
  const batch = x.shape[0]!;
  const start = (from: Tensor, extent: number, part: number): Tensor =>
    wholePerSample(from, x, -padding, extent + padding - part).reshape([batch, 1, 1]);
  const rows = start(a, h, height).add(iota([1, height, width], 1));
  const columns = start(b, w, width).add(iota([1, height, width], 2));
  return at(x, rows, columns);
}

/**
 * Pictures under affine maps: element (i, j) of the result is x at m·(j − cx, i − cy, 1) + (cx, cy), where (cx, cy) is the middle and m
 * the two rows of a sample's map. Bilinear; 0 outside.
 *
 * x: float[n, c, h, w], maps: float[n, 2, 3] from places of the result to places of x, in pixels → float[n, c, h, w]. Jaderberg et al.
 * 2015, with pixels in place of −1 … 1.
 */
export function warp(x: Tensor, maps: Tensor): Tensor {
  const [n, , h, w] = pictures("warp", x);
  checkTensor("warp", maps);
  const middle = (extent: typeof h): Tensor => dimValue(extent, "f32").sub(1).mul(0.5);
  const [cy, cx] = [middle(h), middle(w)];
  const dy = iota([1, h, w], 1).convert("f32").sub(cy);
  const dx = iota([1, h, w], 2).convert("f32").sub(cx);
  const m = (row: number, column: number): Tensor =>
    maps.slice([0, row, column], [n, row + 1, column + 1]);
  const px = m(0, 0).mul(dx).add(m(0, 1).mul(dy)).add(m(0, 2)).add(cx);
  const py = m(1, 0).mul(dx).add(m(1, 1).mul(dy)).add(m(1, 2)).add(cy);
  const [x0, y0] = [px.floor(), py.floor()];
  const [fx, fy] = [px.sub(x0).expandDims(1), py.sub(y0).expandDims(1)];
  const corner = (down: number, right: number): Tensor =>
    at(x, y0.convert("i32").add(down), x0.convert("i32").add(right));
  const above = corner(0, 0).add(fx.mul(corner(0, 1).sub(corner(0, 0))));
  const below = corner(1, 0).add(fx.mul(corner(1, 1).sub(corner(1, 0))));
  return above.add(fy.mul(below.sub(above))).convert(x.dtype);
}

export interface AffineOptions {
  /** Turned by up to so many degrees, either way; 0 by default. */
  readonly degrees?: number;
  /** Moved by up to this part of the width and the height, either way; 0 by default. */
  readonly translate?: number;
  /** Made larger by a factor from the first to the second; [1, 1] by default. */
  readonly scale?: readonly [least: number, most: number];
  /** Sheared along the width by up to so many degrees, either way; 0 by default. */
  readonly shear?: number;
}

const affineOptions: OptionNames<AffineOptions> = { degrees: 1, translate: 1, scale: 1, shear: 1 };

/** A random rotation, shift, scaling and shear of each picture about its middle, by `warp`. x: float[n, c, h, w]. */
export function affine(key: Tensor, x: Tensor, options: AffineOptions = {}): Tensor {
  const {
    degrees = 0,
    translate = 0,
    scale = [1, 1],
    shear = 0,
  } = checkOptions("affine", options, affineOptions);
  const [, , h, w] = pictures("affine", x);
  checkRange("affine", "degrees", degrees, 0, 180);
  checkRange("affine", "translate", translate, 0, 1);
  checkRange("affine", "shear", shear, 0, 89);
  checkRange("affine", "scale", scale[0], Number.MIN_VALUE, scale[1]);
  const keys = random.split(key, 5);
  const draw = (i: number, low: number, high: number): Tensor =>
    perSample(keys[i]!, x, low, high).reshape([x.shape[0]!, 1, 1]);
  const radians = (i: number, most: number): Tensor => draw(i, -1, 1).mul((most * Math.PI) / 180);
  const angle = radians(0, degrees);
  const [cos, sin] = [angle.cos(), angle.sin()];
  const tilt = radians(1, shear);
  const tan = tilt.sin().div(tilt.cos());
  const inverse = draw(2, scale[0], scale[1]).reciprocal();
  const shift = (i: number, extent: typeof h): Tensor =>
    draw(i, -translate, translate).mul(dimValue(extent, "f32"));
  const [tx, ty] = [shift(3, w), shift(4, h)];
  // The inverse of: shear, scale, turn, move. With R⁻¹ = [cos, sin; −sin, cos] and S⁻¹ = [1, −tan; 0, 1].
  const a = cos.add(tan.mul(sin)).mul(inverse);
  const b = sin.sub(tan.mul(cos)).mul(inverse);
  const c = sin.neg().mul(inverse);
  const d = cos.mul(inverse);
  const e = a.mul(tx).add(b.mul(ty)).neg();
  const f = c.mul(tx).add(d.mul(ty)).neg();
  return warp(x, concat([concat([a, b, e], 2), concat([c, d, f], 2)], 1));
}
