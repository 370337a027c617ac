/**
 * Keys for random numbers, kept as state: at every run of a compiled function other ones.
 */
import { assign, checkOptions, iota, type OptionNames, param, type Tensor } from "@kiln-ml/ir";
import { drawKey } from "./init.ts";
import { Module } from "./module.ts";
import { checkCount } from "./parameter.ts";

/** State of key and counter, u32[2]. Without a seed the key comes from `nn.seed`. */
export function keyState(op: string, seed: number | undefined): Tensor {
  if (seed !== undefined) checkCount(op, "seed", seed, 0);
  const first = seed === undefined ? drawKey() : [seed, 0];
  return param(Uint32Array.from(first), { name: "key", trainable: false });
}

/** From here on in the trace such state is the next key. */
export function advanceKey(state: Tensor): void {
  // iota(2) is (0, 1): the counter is the second word, and threefry makes the streams of two counts independent.
  assign(state, state.add(iota([2], 0, "u32")));
}

const seedOptions: OptionNames<{ readonly seed?: number }> = { seed: 1 };

/**
 * A stream of keys: `random.normal(this.keys.next(), shape)` draws anew at every run, and at every call of `next` within one.
 *
 * `key` u32[2] is a seed and a counter, which each `next` moves by one, in training or not. Goes into checkpoints, so that a run that is
 * resumed draws what it would have drawn.
 */
export class KeyStream extends Module {
  readonly key: Tensor;

  constructor(options: { readonly seed?: number } = {}) {
    super();
    checkOptions("keyStream", options, seedOptions);
    this.key = keyState("keyStream", options.seed);
  }

  /** u32[2]. */
  next(): Tensor {
    // A node of its own: the parameter itself would be read as what is assigned to it below.
    const key = this.key.stopGradient();
    advanceKey(this.key);
    return key;
  }

  override forward(): Tensor {
    return this.next();
  }
}
