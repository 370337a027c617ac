/**
 * Rotations of queries and keys by where tokens stand, each token at a position of its own. Halves
 * of a head turn together, as in the files of Hugging Face; pairs side by side, as in llama2.c, are
 * brought to that order when weights are read.
 */
import { concat, type Tensor, tensor } from "kiln-ml/ir";
import type { DecoderConfig } from "./config.ts";

/**
 * The angle a position turns each pair by: of Su et al. 2021, stretched as the config says. Where
 * that goes by the length of texts, it is the `room` that there is for them: keys that stand in a
 * cache turn no more.
 */
export function rates(config: DecoderConfig, isLocal: boolean, room: number): Float32Array {
  const { rotaryWidth, theta, localTheta, ropeScaling, localScaling } = config;
  const base = isLocal ? localTheta : theta;
  const stretched = isLocal ? localScaling : ropeScaling;
  return Float32Array.from({ length: rotaryWidth / 2 }, (_, i) => {
    const rate = base ** ((-2 * i) / rotaryWidth);
    if (!stretched) return rate;
    const { type, factor, low, high, original, factors } = stretched;
    if (factors) return rate / (room > original ? factors.long : factors.short)[i]!;
    if (type === "linear") return rate / factor;
    // Llama 3.1: short waves stay, long ones are stretched, those between are mixed.
    const turns = (original * rate) / (2 * Math.PI);
    const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)));
    return (1 - kept) * (rate / factor) + kept * rate;
  });
}

/** The sines and cosines of a step: f32[B, T, 1, d / 2] each. */
export interface Turn {
  readonly sin: Tensor;
  readonly cos: Tensor;
}

/** positions i32[B, T] → how far each turns. */
export function turnOf(positions: Tensor, rate: Float32Array, gain: number): Turn {
  const angle = positions.convert("f32").expandDims(-1).mul(tensor(rate)).expandDims(2);
  const [sin, cos] = [angle.sin(), angle.cos()];
  return gain === 1 ? { sin, cos } : { sin: sin.mul(gain), cos: cos.mul(gain) };
}

/** x: f32[B, T, heads, d] → the same, its first elements turned. */
export function turned(x: Tensor, { sin, cos }: Turn): Tensor {
  const [width, half] = [x.shape.at(-1) as number, sin.shape.at(-1) as number];
  const part = (from: number, to: number) =>
    x.slice([0, 0, 0, from], [...x.shape.slice(0, 3), to] as never);
  const [a, b] = [part(0, half), part(half, 2 * half)];
  const both = [a.mul(cos).sub(b.mul(sin)), b.mul(cos).add(a.mul(sin))];
  return concat(2 * half < width ? [...both, part(2 * half, width)] : both, -1);
}
