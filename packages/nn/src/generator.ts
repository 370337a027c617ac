/**
 * Numbers for first values of parameters, drawn on the host from threefry2x32 over a counter. Random ops in
 * a graph do not come through here: they take a key as an operand.
 */
import { threefry2x32 } from "@kiln-ml/ir";

/** Draws numbers in sequence; the same seed gives the same sequence on every machine. */
export class Generator {
  readonly #high: number;
  readonly #low: number;
  #count = 0;
  #spare: number | undefined;

  constructor(seed: number) {
    this.#high = Math.floor(seed / 2 ** 32);
    this.#low = seed >>> 0;
  }

  /** 64 random bits. */
  pair(): [number, number] {
    return threefry2x32(this.#high, this.#low, this.#count++, 0);
  }

  /** In [0, 1), 24 bits: every value is exact in f32. */
  uniform(): number {
    return (this.pair()[0] >>> 8) / 2 ** 24;
  }

  /** Standard Gaussian, by Box and Muller's transform in its trigonometric form, two at a time. */
  normal(): number {
    if (this.#spare !== undefined) {
      const z = this.#spare;
      this.#spare = undefined;
      return z;
    }
    const [a, b] = this.pair();
    // (a + ½)/2³² is never 0, so the logarithm is finite.
    const radius = Math.sqrt(-2 * Math.log((a + 0.5) / 2 ** 32));
    const angle = (2 * Math.PI * b) / 2 ** 32;
    this.#spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }
}
