/**
 * Keys for random numbers, kept as state: at every run of a compiled function other ones.
 */
import { assign, iota, param, type Tensor } from "@kiln-ml/ir";
import { drawKey } from "./init.ts";
import { Module } from "./module.ts";
import { checkCount } from "./parameter.ts";

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
    if (options.seed !== undefined) checkCount("keyStream", "seed", options.seed, 0);
    const first = options.seed === undefined ? drawKey() : [options.seed, 0];
    this.key = param(Uint32Array.from(first), { name: "key", trainable: false });
  }

  /** u32[2]. */
  next(): Tensor {
    // A node of its own: the parameter itself would be read as what is assigned to it below.
    const key = this.key.stopGradient();
    // iota(2) is (0, 1): the counter is the second word.
    assign(this.key, key.add(iota([2], 0, "u32")));
    return key;
  }

  override forward(): Tensor {
    return this.next();
  }
}
