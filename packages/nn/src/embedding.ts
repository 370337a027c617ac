/**
 * A table of vectors looked up by index.
 */
import {
  checkOptions,
  DtypeError,
  isInteger,
  type OptionNames,
  type Tensor,
  take,
} from "@kiln-ml/ir";
import { type Initializer, normal } from "./init.ts";
import { Module } from "./module.ts";
import { checkCount, weight } from "./parameter.ts";

export interface EmbeddingOptions {
  readonly init?: Initializer;
}

const embeddingOptions: OptionNames<EmbeddingOptions> = { init: 1 };

/**
 * y[..., :] = weight[x[...], :].
 *
 * x: i32[S] → f32[S, width]; `weight` f32[count, width], standard Gaussian at first. An index out of range is
 * clamped. Throws DtypeError if x holds no integers.
 */
export class Embedding extends Module {
  readonly weight: Tensor;
  readonly count: number;
  readonly width: number;

  constructor(count: number, width: number, options: EmbeddingOptions = {}) {
    super();
    checkOptions("embedding", options, embeddingOptions);
    checkCount("embedding", "count", count);
    checkCount("embedding", "width", width);
    this.count = count;
    this.width = width;
    this.weight = weight("weight", [count, width], options.init ?? normal());
  }

  override forward(x: Tensor): Tensor {
    if (!isInteger(x.dtype))
      throw new DtypeError(`embedding: indices must be integers, got ${x.dtype}`);
    return take(this.weight, x, 0);
  }

  override describe(): string {
    return `${this.count} × ${this.width}`;
  }
}
