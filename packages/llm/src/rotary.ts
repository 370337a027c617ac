/**
 * Rotations of queries and keys by where tokens stand, each token at a position of its own. Halves
 * of a head turn together, as in the files of Hugging Face; pairs side by side, as in llama2.c, are
 * brought to that order when weights are read.
 */
import { concat, type Tensor, tensor } from "kiln-ml/ir";
import type { DecoderConfig } from "./architecture.ts";

/** The angle a position turns each pair by: of Su et al. 2021, stretched as the config says. */
export function rates(config: DecoderConfig, isLocal: boolean): Float32Array {
  const { headWidth, theta, localTheta, ropeScaling } = config;
  const base = isLocal ? localTheta : theta;
  const stretched = ropeScaling && !(isLocal && localTheta !== theta) ? ropeScaling : undefined;
  return Float32Array.from({ length: headWidth / 2 }, (_, i) => {
    const rate = base ** ((-2 * i) / headWidth);
    if (!stretched) return rate;
    const { type, factor, low, high, original } = stretched;
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
export function turnOf(positions: Tensor, rate: Float32Array): Turn {
  const angle = positions.convert("f32").expandDims(-1).mul(tensor(rate)).expandDims(2);
  return { sin: angle.sin(), cos: angle.cos() };
}

/** x: f32[B, T, heads, d] → the same, turned. */
export function turned(x: Tensor, { sin, cos }: Turn): Tensor {
  const [a, b] = x.split(2, -1) as [Tensor, Tensor];
  return concat([a.mul(cos).sub(b.mul(sin)), b.mul(cos).add(a.mul(sin))], -1);
}
