/**
 * Quantized tensors as values of a graph: steps of 4 or 8 bits in words of 32, with a scale for
 * each block of the last axis. What reads one de-quantizes it in its own loop: nothing here is ever
 * stored as floats. A product in blocks of integers is found by the schedules.
 */
import { type Dim, isStatic } from "../../dim.ts";
import {
  checkOptions,
  DtypeError,
  GraphError,
  type OptionNames,
  ShapeError,
} from "../../errors.ts";
import { kindOf } from "../../kind.ts";
import type { Tensor } from "../../node.ts";
import { printShape, sameShape } from "../../shape.ts";
import { checkTensor } from "../apply.ts";
import { dotGeneral } from "../contraction.ts";
import { select } from "../elementwise/compare.ts";
import { bitcast, convert } from "../elementwise/convert.ts";
import { concat } from "../join.ts";
import { reshape } from "../movement.ts";
import { constant, iota } from "../source.ts";
import { clamp } from "./arithmetic.ts";

export interface BlockFormat {
  /** Of a step: 4 or 8. */
  readonly bits: 4 | 8;
  /** Elements that share a scale, a multiple of 32; default 32. */
  readonly block?: number;
}

export interface QuantizedOptions extends BlockFormat {
  /**
   * Blocks that are not even about 0 get an offset each, which uses all steps; default false. Zero
   * itself is then off by up to half a step.
   */
  readonly zeroPoint?: boolean;
}

/** The parts of a quantized tensor [..., n] in blocks. */
export interface QuantizedParts {
  /** u32[..., n′ · bits / 32], n′ the multiple of the block from n on. */
  readonly words: Tensor;
  /** Floats [..., n′ / block]. */
  readonly scales: Tensor;
  /** What is added to elements, floats like the scales; nothing where blocks are even about 0. */
  readonly offsets?: Tensor | undefined;
}

export interface QuantizedProductOptions {
  /**
   * "i8" rounds the other operand to 8 bits in blocks as well, with the scale of each: products are
   * of integers then, which is faster. Its gradient is nothing. Default "f32".
   */
  readonly activations?: "f32" | "i8";
}

const formatOptions: OptionNames<BlockFormat> = { bits: 1, block: 1 };
const quantizedOptions: OptionNames<QuantizedOptions> = { ...formatOptions, zeroPoint: 1 };
const productOptions: OptionNames<QuantizedProductOptions> = { activations: 1 };

/** Words that lie side by side hold neighbours: element 4·i + j of sixteen is byte i of word j. */
const lanes = 4;
const defaultBlock = 32;

function formatOf(op: string, { bits, block = defaultBlock }: BlockFormat): Required<BlockFormat> {
  if (bits !== 4 && bits !== 8)
    throw new GraphError(
      `${op}: bits is ${String(bits)}, not 4 or 8\n  take 4 for a half a byte an element`,
    );
  if (!Number.isInteger(block) || block <= 0 || block % 32 !== 0)
    throw new GraphError(
      `${op}: block is ${block}, not a multiple of 32\n  take 32, 64 or 128: words hold whole blocks`,
    );
  return { bits, block };
}

/** The structure of words: groups of four, bytes low and high halves of them, and lanes. */
const axesOf = (bits: 4 | 8): readonly number[] => (bits === 4 ? [2, 4, lanes] : [4, lanes]);
const elementsOf = (bits: 4 | 8): number => axesOf(bits).reduce((a, b) => a * b);

/** Where the steps of a shape [..., (half,) byte, lane] begin in their words, as i32. */
function firstBits(shape: readonly Dim[], bits: 4 | 8): Tensor {
  const byte = iota(shape, shape.length - 2).mul(8);
  return bits === 8 ? byte : byte.add(iota(shape, shape.length - 3).mul(4));
}

/**
 * A tensor w[..., n] in steps of few bits: w = step · scale + offset, with a scale and perhaps an
 * offset for each block of the last axis. Steps are signed and lie in words of 32 bits.
 * `torch.ao.quantization`'s per-block tensors.
 *
 * @param parts Words, scales and perhaps offsets, as `quantizedOf` takes them.
 * @param format Bits of a step and elements of a block.
 * @param shape The shape [..., n] that it stands for.
 * @example
 *   quantized(tensor([[1, -2, 3, 0.5]]), { bits: 8 }).shape // [1, 4]
 */
export class Quantized {
  readonly words: Tensor;
  readonly scales: Tensor;
  readonly offsets: Tensor | undefined;
  readonly bits: 4 | 8;
  readonly block: number;
  readonly shape: readonly Dim[];

  /** See `quantizedOf`. */
  constructor(parts: QuantizedParts, format: Required<BlockFormat>, shape: readonly Dim[]) {
    this.words = parts.words;
    this.scales = parts.scales;
    this.offsets = parts.offsets;
    this.bits = format.bits;
    this.block = format.block;
    this.shape = shape;
  }

  /** All of it as f32[...]: what reads that computes it in its own loop. */
  dequantize(): Tensor {
    const before = this.shape.slice(0, -1);
    const n = this.shape.at(-1) as number;
    const whole = this.#padded();
    return whole.shape.at(-1) === n ? whole : whole.sliceAxis(before.length, 0, n);
  }

  /** With whole blocks. */
  #padded(): Tensor {
    const { bits, block } = this;
    const before = this.shape.slice(0, -1);
    const blocks = this.scales.shape.at(-1) as number;
    const inside = axesOf(bits);
    const outer = [...before, blocks, block / elementsOf(bits)];
    const words = reshape(this.words, [...outer, ...inside.slice(1).map(() => 1), lanes]);
    const shape = [...outer, ...inside];
    const spread = bitcast(words, "i32").broadcastTo(shape);
    const up = firstBits(shape, bits)
      .neg()
      .add(32 - bits);
    const steps = convert(spread.shiftLeft(up).shiftRight(32 - bits), "f32");
    const each = (t: Tensor): Tensor =>
      reshape(convert(t, "f32"), [...before, blocks, 1, ...inside.map(() => 1)]);
    const scaled = steps.mul(each(this.scales));
    const w = this.offsets ? scaled.add(each(this.offsets)) : scaled;
    return reshape(w, [...before, blocks * block]);
  }

  /**
   * x·wᵀ: x f32[..., n], w of [out, n] → f32[..., out].
   *
   * Throws ShapeError where the last axes differ, or w has not two axes.
   *
   * @example
   *   const w = quantized(ones([3, 64]), { bits: 8 });
   *   w.product(ones([2, 64])).shape // [2, 3]
   */
  product(x: Tensor, options: QuantizedProductOptions = {}): Tensor {
    const op = "quantized product";
    checkTensor(op, x);
    const { activations = "f32" } = checkOptions(op, options, productOptions);
    if (activations !== "f32" && activations !== "i8")
      throw new GraphError(
        `${op}: activations is ${String(activations)}, not f32 or i8\n  take f32 where every digit counts`,
      );
    if (this.shape.length !== 2)
      throw new ShapeError(
        `${op}: weights are ${printShape(this.shape)}, not [out, in]\n  de-quantize() what has other axes`,
      );
    const n = this.shape[1] as number;
    if (x.rank === 0 || x.shape.at(-1) !== n)
      throw new ShapeError(
        `${op}: the last axis of ${printShape(x.shape)} is not ${n}, as that of ${printShape(this.shape)}\n  give as many features as the weights have`,
      );
    const w = this.#padded();
    const more = (w.shape[1] as number) - n;
    const wide = convert(x, "f32");
    const rest = constant(0, "f32").broadcastTo([...x.shape.slice(0, -1), more]);
    const long = more === 0 ? wide : concat([wide, rest], -1);
    const lhs =
      activations === "i8" ? quantized(long, { bits: 8, block: this.block }).dequantize() : long;
    return dotGeneral(lhs, w, { lhsContract: [-1], rhsContract: [1] });
  }
}

/**
 * A quantized tensor of parts that are there already, as weights in a file.
 *
 * words u32[..., n′ · bits / 32], scales and offsets floats [..., n′ / block] → of shape [..., n],
 * n′ the next multiple of the block. In each run of 128 bits, element 16·h + 4·i + j is the half h
 * (4 bits, the low one first) of byte i of word j. Throws ShapeError where extents differ,
 * DtypeError for words that are not u32 and scales that are not floats, GraphError for a format
 * that is not built. No counterpart in PyTorch.
 *
 * @param parts Words, scales and perhaps offsets.
 * @param options Bits of a step and elements of a block.
 * @param inputs The extent n of the last axis.
 * @example
 *   const [words, scales] = [tensor(new Uint32Array(8)), tensor([0.5])];
 *   quantizedOf({ words, scales }, { bits: 8 }, 32).dequantize().shape // [32]
 */
export function quantizedOf(
  parts: QuantizedParts,
  options: BlockFormat,
  inputs: number,
): Quantized {
  const op = "quantizedOf";
  const format = formatOf(op, checkOptions(op, options, formatOptions));
  const { words, scales, offsets } = parts;
  checkTensor(op, words);
  checkTensor(op, scales);
  if (words.dtype !== "u32")
    throw new DtypeError(
      `${op}: words are ${words.dtype}, not u32\n  bitcast bytes that lie in fours`,
    );
  const blocks = Math.ceil(inputs / format.block);
  const before = words.shape.slice(0, -1);
  const due = [...before, (blocks * format.block * format.bits) / 32];
  if (!sameShape(words.shape, due))
    throw new ShapeError(
      `${op}: words are ${printShape(words.shape)}, those of ${inputs} elements ${printShape(due)}\n  fill the last block with zeros`,
    );
  for (const [name, t] of [
    ["scales", scales],
    ["offsets", offsets],
  ] as const) {
    if (t === undefined) continue;
    checkTensor(op, t);
    if (t.dtype !== "f32" && t.dtype !== "f16")
      throw new DtypeError(`${op}: ${name} are ${t.dtype}, not f32 or f16\n  convert them`);
    if (!sameShape(t.shape, [...before, blocks]))
      throw new ShapeError(
        `${op}: ${name} are ${printShape(t.shape)}, blocks ${printShape([...before, blocks])}\n  give one for each block of ${format.block}`,
      );
  }
  return new Quantized(parts, format, [...before, inputs]);
}

/**
 * w in steps of 4 or 8 bits, with a scale for each block of the last axis.
 *
 * w: float[..., n] → a `Quantized` of the same shape, whose error is at most half a scale, a whole
 * one in 4 bits without a zero point, where the largest element decides the sign of the scale. It
 * has no gradient for w. Throws ShapeError for a w whose last axis is not known.
 * No counterpart in PyTorch.
 *
 * @example
 *   quantized(tensor([[1, -2, 3, 0.5]]), { bits: 8 }).dequantize().shape // [1, 4]
 */
export function quantized(w: Tensor, options: QuantizedOptions): Quantized {
  const op = "quantized";
  checkTensor(op, w);
  if (options === undefined || options === null)
    throw new GraphError(`${op}: options are ${kindOf(options)}\n  say { bits: 4 } or { bits: 8 }`);
  const { zeroPoint = false, ...rest } = checkOptions(op, options, quantizedOptions);
  const format = formatOf(op, rest);
  const n = w.shape.at(-1);
  if (n === undefined || !isStatic(n) || n === 0)
    throw new ShapeError(
      `${op}: the last axis of ${printShape(w.shape)} has no blocks\n  it must have a known extent`,
    );
  const { bits, block } = format;
  const before = w.shape.slice(0, -1);
  const blocks = Math.ceil(n / block);
  const more = blocks * block - n;
  const wide = convert(w, "f32");
  // The last element again, not zero, which would widen the range of a block that has an offset.
  const last = wide.sliceAxis(w.rank - 1, n - 1, n).broadcastTo([...before, more]);
  const long = more === 0 ? wide : concat([wide, last], -1);
  const x = reshape(long, [...before, blocks, block]);
  const { steps, scales, offsets } = zeroPoint ? unevenSteps(x, bits) : evenSteps(x, bits);
  return new Quantized({ words: packed(steps, before, bits), scales, offsets }, format, w.shape);
}

interface Steps {
  /** i32, in the range of signed integers of so many bits. */
  readonly steps: Tensor;
  readonly scales: Tensor;
  readonly offsets?: Tensor;
}

/** Of 0 no step is taken, whatever the scale. */
const stepsOf = (x: Tensor, scale: Tensor, low: number, high: number): Tensor =>
  convert(clamp(x.div(select(scale.equal(0), 1, scale)).round(), low, high), "i32");

/**
 * The element that is furthest from 0 is the lowest step in 4 bits, which has one more below 0
 * than above; in 8 bits the steps of −127 … 127 are even.
 */
function evenSteps(x: Tensor, bits: 4 | 8): Steps {
  const most = x.abs().max([-1], { keepDims: true });
  const isNegative = x.min([-1], { keepDims: true }).neg().equal(most);
  const scale = bits === 8 ? most.div(127) : select(isNegative, most, most.neg()).div(8);
  const low = bits === 8 ? -127 : -8;
  return {
    steps: stepsOf(x, scale, low, -low - (bits === 8 ? 0 : 1)),
    scales: scale.squeeze([-1]),
  };
}

/** All steps, from the least element to the greatest. */
function unevenSteps(x: Tensor, bits: 4 | 8): Steps {
  const half = 2 ** (bits - 1);
  const least = x.min([-1], { keepDims: true });
  const scale = x
    .max([-1], { keepDims: true })
    .sub(least)
    .div(2 ** bits - 1);
  const steps = stepsOf(x.sub(least), scale, 0, 2 ** bits - 1).sub(half);
  const offsets = least.add(scale.mul(half)).squeeze([-1]);
  return { steps, scales: scale.squeeze([-1]), offsets };
}

/** Steps i32[..., blocks, block] in words: a sum over what share one. */
function packed(steps: Tensor, before: readonly Dim[], bits: 4 | 8): Tensor {
  const inside = axesOf(bits);
  const count = (steps.shape.at(-1) as number) * (steps.shape.at(-2) as number);
  const shape = [...before, count / elementsOf(bits), ...inside];
  const low = bitcast(reshape(steps, shape), "u32").and(2 ** bits - 1);
  const placed = low.shiftLeft(bitcast(firstBits(shape, bits), "u32"));
  const axes = inside.slice(1).map((_, i) => -2 - i);
  return reshape(placed.sum(axes), [...before, (count * bits) / 32]);
}
