/** A matrix of few bits as the state of a layer. */
import {
  checkOptions,
  GraphError,
  type OptionNames,
  param,
  type Quantized,
  type QuantizedOptions,
  type QuantizedProductOptions,
  quantizedOf,
  type Tensor,
} from "@kiln-ml/ir";
import { spendElements } from "./allowance.ts";
import { Module } from "./module.ts";
import { checkCount } from "./parameter.ts";

type Options = QuantizedOptions & QuantizedProductOptions;
const weightOptions: OptionNames<Options> = { bits: 1, block: 1, zeroPoint: 1, activations: 1 };

/**
 * y = x·Wᵀ, W of 4 or 8 bits in blocks of inputs, zeros at first.
 *
 * x: f32[..., in] → f32[..., out]; `words` u32[out, in′ · bits / 32], `scales` f32[out, in′ /
 * block] and, with a zero point, `offsets` of the same shape; in′ is the next multiple of the
 * block. They are buffers. Throws GraphError for a format that is not built.
 *
 * @param inputs Features of x.
 * @param outputs Features of the result.
 * @example
 *   const w = nn.holdQuantized(new nn.Linear(64, 8), { bits: 8 });
 *   w.forward(ones([5, 64])).shape // [5, 8]
 */
export class QuantizedWeight extends Module {
  readonly words: Tensor;
  readonly scales: Tensor;
  readonly offsets: Tensor | undefined;
  readonly inputs: number;
  readonly options: Options;

  constructor(outputs: number, inputs: number, options: Options) {
    super([outputs, inputs, options]);
    const { activations } = checkOptions("quantizedWeight", options, weightOptions);
    if (options === undefined)
      throw new GraphError(
        "quantizedWeight: options are undefined\n  say { bits: 4 } or { bits: 8 }",
      );
    if (activations !== undefined && activations !== "f32" && activations !== "i8")
      throw new GraphError(
        `quantizedWeight: activations is ${String(activations)}, not f32 or i8\n  take f32 where every digit counts`,
      );
    checkCount("quantizedWeight", "outputs", outputs);
    checkCount("quantizedWeight", "inputs", inputs);
    const { bits, block = 32, zeroPoint = false } = options;
    const blocks = Math.ceil(inputs / block);
    const each = (name: string) => {
      spendElements([outputs, blocks]);
      const data = new Float32Array(outputs * blocks);
      return param(data, { name, shape: [outputs, blocks], trainable: false });
    };
    const shape = [outputs, (blocks * block * bits) / 32];
    this.inputs = inputs;
    this.options = options;
    this.words = param(new Uint32Array(shape[0]! * shape[1]!), {
      name: "words",
      shape,
      dtype: "u32",
      trainable: false,
    });
    this.scales = each("scales");
    if (zeroPoint) this.offsets = each("offsets");
    this.value();
  }

  /** W as a value of a graph. */
  value(): Quantized {
    const { bits, block = 32 } = this.options;
    return quantizedOf(this, { bits, block }, this.inputs);
  }

  override forward(x: Tensor): Tensor {
    return this.value().product(x, { activations: this.options.activations ?? "f32" });
  }

  override describe(): string {
    return `${this.inputs} → ${this.words.shape[0]}, ${this.options.bits} bits`;
  }
}
