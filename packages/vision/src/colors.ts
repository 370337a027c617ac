/**
 * Colours of images f32[N, 3, H, W] of 0 to 1 in other terms. Graph compositions, differentiable.
 */
import {
  checkTensor,
  concat,
  DtypeError,
  isFloat,
  printShape,
  ShapeError,
  select,
  type Tensor,
} from "@kiln-ml/ir";

function channels(op: string, x: Tensor): [Tensor, Tensor, Tensor] {
  checkTensor(op, x);
  if (x.rank !== 4 || x.shape[1] !== 3)
    throw new ShapeError(`${op}: images are [N,3,H,W], got ${printShape(x.shape)}`);
  if (op !== "rgbToGray" && !isFloat(x.dtype))
    throw new DtypeError(
      `${op}: images are floats of 0 to 1, got ${x.dtype}\n  convert them: x.convert("f32").div(255)`,
    );
  const part = (k: number): Tensor => x.sliceAxis(1, k, k + 1);
  return [part(0), part(1), part(2)];
}

/**
 * 0.299·R + 0.587·G + 0.114·B. x: f32[N, 3, H, W] → f32[N, 1, H, W]. ITU-R BT.601.
 * `kornia.color.rgb_to_grayscale`.
 */
export function rgbToGray(x: Tensor): Tensor {
  const [r, g, b] = channels("rgbToGray", x);
  return r.mul(0.299).add(g.mul(0.587)).add(b.mul(0.114));
}

/**
 * Hue, saturation, value, each of 0 to 1; the hue of grey is 0. x: f32[N, 3, H, W] → the same. Smith
 * 1978. `colorsys.rgb_to_hsv`, `kornia.color.rgb_to_hsv` but for its hue in radians.
 */
export function rgbToHsv(x: Tensor): Tensor {
  const [r, g, b] = channels("rgbToHsv", x);
  const value = r.maximum(g).maximum(b);
  const range = value.sub(r.minimum(g).minimum(b));
  const isGrey = range.equal(0);
  const by = select(isGrey, 1, range);
  const blue = r.sub(g).div(by).add(4);
  const green = select(value.equal(g), b.sub(r).div(by).add(2), blue);
  const sixths = select(value.equal(r), g.sub(b).div(by), green);
  const turn = sixths.div(6);
  const hue = select(isGrey, 0, turn.sub(turn.floor()));
  const saturation = range.div(select(value.equal(0), 1, value));
  return concat([hue, saturation, value], 1);
}

/**
 * What `rgbToHsv` undoes. x: f32[N, 3, H, W] → the same. `colorsys.hsv_to_rgb`,
 * `kornia.color.hsv_to_rgb` but for its hue in radians.
 */
export function hsvToRgb(x: Tensor): Tensor {
  const [hue, saturation, value] = channels("hsvToRgb", x);
  // Each colour is a trapezium over the hue: k = (n + 6h) mod 6, v − v·s·max(0, min(k, 4 − k, 1)).
  const of = (n: number): Tensor => {
    const at = hue.mul(6).add(n);
    const k = at.sub(at.div(6).floor().mul(6));
    const drop = k.minimum(k.neg().add(4)).minimum(1).maximum(0);
    return value.sub(value.mul(saturation).mul(drop));
  };
  return concat([of(5), of(3), of(1)], 1);
}
