/**
 * Slopes of functions that end flat. A half has too few digits to tell by y how near it is to its end, and a rounded square is a
 * poor exponent: the slope of a half is computed in f32 from x, and rounded once.
 */
import { isHalf } from "../../dtype.ts";
import type { Tensor } from "../../node.ts";

type Slope = (g: Tensor, y: Tensor, x?: Tensor) => [Tensor];

/** g·f′ by y and x, or of halves by f′ of x in f32. */
const slopeOf =
  (usual: Slope, wide: (x: Tensor) => Tensor): Slope =>
  (g, y, x) => {
    if (!isHalf(x!.dtype)) return usual(g, y, x);
    const product = g.convert("f32").mul(wide(x!.convert("f32")));
    return [product.convert(x!.dtype)];
  };

/** 1 − tanh² x = 4·σ(2x)·σ(−2x). */
export const tanhSlope = slopeOf(
  (g, y) => [g.mul(y.mul(y).neg().add(1))],
  (x) => x.mul(2).sigmoid().mul(x.mul(-2).sigmoid()).mul(4),
);

/** σ(x)·(1 − σ(x)) = σ(x)·σ(−x). */
export const sigmoidSlope = slopeOf(
  (g, y) => [g.mul(y).mul(y.neg().add(1))],
  (x) => x.sigmoid().mul(x.neg().sigmoid()),
);

const bell = (x: Tensor): Tensor =>
  x
    .mul(x)
    .neg()
    .exp()
    .mul(2 / Math.sqrt(Math.PI));

/** 2/√π·e^(−x²). */
export const erfSlope = slopeOf((g, _y, x) => [g.mul(bell(x!))], bell);
