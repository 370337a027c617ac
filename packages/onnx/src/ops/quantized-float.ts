/**
 * ONNX Runtime's ops on quantized tensors that compute in floats in between: dequantized, computed,
 * quantized again; and products with weights of few bits.
 */
import {
  add,
  concat,
  convert,
  dataLeaf,
  dimValue,
  dotGeneral,
  expandDims,
  hasHostData,
  hostDataOf,
  isFloat,
  mean,
  mul,
  quantizedOf,
  reshape,
  select,
  sigmoid,
  softmax,
  type Tensor,
  take,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { blockWords, unpack } from "../packed.ts";
import { microsoft, type Row } from "../row.ts";
import { asTensorValue, type TensorValue, typed } from "../value.ts";
import { axisOf, range, widened } from "./operands.ts";
import { beside, dequantized, saturated } from "./quantize.ts";

/** The float that input `i` stands for, with its scale and zero point behind it. */
const floatOf = (n: NodeContext, i: number): Tensor =>
  dequantized(n.tensor(i), n.tensor(i + 1).reshape([]), n.maybe(i + 2)?.reshape([]));

/** y quantized by the scale and zero point at inputs `i` and `i + 1`. */
const quantizedBy = (n: NodeContext, y: Tensor, i: number): TensorValue =>
  saturated(y.div(n.tensor(i).reshape([])), n.maybe(i + 1)?.reshape([]), n.type(0));

const binary = (op: string, f: (x: Tensor, y: Tensor) => Tensor): Row =>
  microsoft(op, (n) => quantizedBy(n, f(floatOf(n, 0), floatOf(n, 3)), 6));

const unary = (op: string, f: (x: Tensor, n: NodeContext) => Tensor): Row =>
  microsoft(op, (n) => quantizedBy(n, f(floatOf(n, 0), n), 3));

function globalMean(x: Tensor, n: NodeContext): Tensor {
  const axes = n.flag("channels_last") ? range(x.rank - 1).slice(1) : range(x.rank).slice(2);
  return mean(x, axes, { keepDims: true });
}

/** Scale and zero point of the result come first, then triples. */
function qLinearConcat(n: NodeContext): TensorValue {
  const parts = range((n.count - 2) / 3).map((i) => floatOf(n, 2 + 3 * i));
  const y = concat(parts, n.int("axis")).div(n.tensor(0).reshape([]));
  return saturated(y, n.tensor(1).reshape([]), n.type(2));
}

/** Integers of `bits` bits in bytes, as floats. */
const unpacked = (x: Tensor, bits: number): Tensor => widened(unpack(x, bits));

/** Zero points of the blocks of N rows: packed like the weights, or floats. Halfway by default. */
function zeroPoints(n: NodeContext, rows: number, blocks: number, bits: number): Tensor | number {
  const given = n.maybe(3);
  if (!given) return 2 ** (bits - 1);
  if (isFloat(given.dtype)) return reshape(widened(given), [rows, blocks, 1]);
  const bytes = Math.ceil((blocks * bits) / 8);
  const all = unpacked(reshape(given, [rows, bytes]), bits);
  return expandDims(all.sliceAxis(1, 0, blocks), 2);
}

interface NBits {
  readonly bits: number;
  readonly size: number;
  readonly K: number;
  readonly N: number;
  readonly blocks: number;
}

/** A·Wᵀ with W in words, where the file has its blocks and they are whole words of 128 bits. */
function inWords(n: NodeContext, { bits, size, K, N, blocks }: NBits): Tensor | undefined {
  const bytes = n.tensor(1);
  if ((bits !== 4 && bits !== 8) || size % 32 !== 0 || n.has(4) || !hasHostData(bytes))
    return undefined;
  const host = hostDataOf(bytes) as ArrayLike<number>;
  const shape = [N, (blocks * size * bits) / 32];
  const words = dataLeaf("u32", shape, blockWords(host, bits));
  const scales = reshape(widened(n.tensor(2)), [N, blocks]);
  const zero = zeroPoints(n, N, blocks, bits);
  const moved = typeof zero === "number" ? undefined : zero.neg().add(2 ** (bits - 1));
  const offsets = moved && reshape(moved, [N, blocks]).mul(scales);
  const a = n.tensor(0);
  const w = quantizedOf({ words, scales, offsets }, { bits, block: size }, K);
  return convert(w.product(a), a.dtype);
}

/**
 * A·Wᵀ + bias where W[N, K] is held in blocks of few bits, with a scale a block or the one that
 * g_idx names for a column.
 */
function matMulNBits(n: NodeContext): Tensor {
  const [K, N, size] = [n.int("K"), n.int("N"), n.int("block_size")];
  const bits = n.int("bits", 4);
  if (![2, 4, 8].includes(bits)) return n.fail(`bits is ${bits}, not 2, 4 or 8`);
  const blocks = Math.ceil(K / size);
  const found = inWords(n, { bits, size, K, N, blocks });
  if (found) return n.has(5) ? found.add(n.tensor(5)) : found;
  const steps = unpacked(reshape(n.tensor(1), [N, blocks, (size * bits) / 8]), bits);
  const scale = reshape(widened(n.tensor(2)), [N, blocks, 1]);
  const zero = zeroPoints(n, N, blocks, bits);
  const group = n.maybe(4)?.sliceAxis(0, 0, K);
  const columns = reshape(steps, [N, blocks * size]).sliceAxis(1, 0, K);
  const named = (t: Tensor) => take(t.squeeze([2]), group!, 1);
  const w = group
    ? columns.sub(typeof zero === "number" ? zero : named(zero)).mul(named(scale))
    : reshape(steps.sub(zero).mul(scale), [N, blocks * size]).sliceAxis(1, 0, K);
  const a = n.tensor(0);
  const y = dotGeneral(a, convert(w, a.dtype), { lhsContract: [-1], rhsContract: [1] });
  return n.has(5) ? y.add(n.tensor(5)) : y;
}

/** Rows of a table held in blocks of few bits, as floats. */
function gatherBlocks(n: NodeContext): TensorValue {
  const [bits, size] = [n.int("bits", 4), n.int("block_size", 128)];
  const packed = n.tensor(0);
  const [from, along] = [
    n.int("gather_axis", 0),
    axisOf(n, n.int("quantize_axis", 1), packed.rank),
  ];
  if (from !== 0) return n.fail(`gather_axis is ${from}, not 0`);
  const isPacked = n.type(0) === "uint8" && bits < 8;
  if (isPacked && along !== packed.rank - 1) return n.fail("quantize_axis is not the last");
  const indices = n.tensor(1);
  const rows = select(indices.less(0), indices.add(dimValue(packed.shape[0]!)), indices);
  const picked = (i: number) => take(n.tensor(i), rows);
  const floats = (t: Tensor) => (isPacked ? unpacked(t, bits) : widened(t));
  const x = floats(picked(0));
  const axis = along + indices.rank - 1;
  const scale = picked(2);
  const middle = n.type(0).startsWith("u") ? 2 ** (bits - 1) : 0;
  const zero = n.has(3) ? floats(picked(3)).sliceAxis(axis, 0, scale.shape[axis]!) : undefined;
  const spread = (t: Tensor) => beside(n, t, x, axis, size);
  const y = x.sub(zero ? spread(zero) : middle).mul(spread(widened(scale)));
  return typed(convert(y, scale.dtype), n.type(2));
}

/** Averages of windows, with AveragePool's attributes. */
function qLinearAveragePool(n: NodeContext): TensorValue {
  if (n.flag("channels_last")) return n.fail("channels_last is not supported");
  const names = ["auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"];
  const own = names.flatMap((k) => (n.hasAttribute(k) ? [[k, n.attribute(k)!] as const] : []));
  const x = typed(floatOf(n, 0), "float32");
  const [y] = n.apply("AveragePool", [x], Object.fromEntries(own));
  return quantizedBy(n, asTensorValue(y!, "AveragePool").tensor, 3);
}

export const quantizedFloatRows: readonly Row[] = [
  binary("QLinearAdd", add),
  binary("QLinearMul", mul),
  unary("QLinearSigmoid", (x) => sigmoid(x)),
  unary("QLinearLeakyRelu", (x, n) => x.maximum(0).add(x.minimum(0).mul(n.float("alpha", 0.01)))),
  unary("QLinearSoftmax", (x, n) => softmax(x, axisOf(n, n.int("axis", -1), x.rank))),
  unary("QLinearGlobalAveragePool", globalMean),
  microsoft("QLinearConcat", qLinearConcat),
  microsoft("QLinearAveragePool", qLinearAveragePool),
  microsoft("GatherBlockQuantized", gatherBlocks, { note: "Along axis 0." }),
  microsoft("MatMulNBits", matMulNBits, { note: "2, 4 and 8 bits." }),
];
