/**
 * Keys for random numbers, kept as state: at every run of a compiled function other ones.
 */
import { checkOptions, nextKey, type OptionNames, param, type Tensor } from "@kiln-ml/ir";
import { drawKey } from "./init.ts";
import { Module } from "./module.ts";
import { checkCount } from "./parameter.ts";

/** State of key and counter, u32[2]. Without a seed the key comes from `nn.seed`. */
export function keyState(op: string, seed: number | undefined): Tensor {
  if (seed !== undefined) checkCount(op, "seed", seed, 0);
  const first = seed === undefined ? drawKey() : [seed, 0];
  return param(Uint32Array.from(first), { name: "key", trainable: false });
}

const seedOptions: OptionNames<{ readonly seed?: number }> = { seed: 1 };

/**
 * A stream of keys: `random.normal(this.keys.next(), shape)` draws anew at every run, and at every
 * call of `next` within one.
 *
 * `key` u32[2] is a seed and a counter, which each `next` moves by one, in training or not; inside
 * of a `scan` every step has keys of its own. Goes into checkpoints, so that a run that is resumed
 * draws what it would have drawn. `flax.nnx.Rngs`.
 *
 * @param options `seed` fixes the draws.
 * @example
 *   const keys = new nn.KeyStream({ seed: 0 });
 *   const draw = compile(() => random.uniform(keys.next(), [2]));
 *   (await draw()).equal(await draw()) // [false, false]; a draw of its own at every run
 */
export class KeyStream extends Module {
  readonly key: Tensor;

  constructor(options: { readonly seed?: number } = {}) {
    super([options]);
    checkOptions("keyStream", options, seedOptions);
    this.key = keyState("keyStream", options.seed);
  }

  /** u32[2]. */
  next(): Tensor {
    return nextKey(this.key);
  }

  override forward(): Tensor {
    return this.next();
  }
}
