/**
 * Quantization: integers that stand for floats, q = round(x/scale) + zero point, limited to the range of the type. Scales are for the
 * whole tensor, for each index of an axis, or for blocks along an axis.
 */
import {
  convert,
  type Dim,
  dequantize,
  expandDims,
  maxOf,
  minOf,
  mulDim,
  quantize,
  quantizeDynamic,
  reshape,
  type Tensor,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { dtypeOf, narrowRange } from "../element.ts";
import type { ElementType } from "../proto/model.ts";
import { microsoft, type Row, row } from "../row.ts";
import { type TensorValue, typed } from "../value.ts";
import { elementTypeAt } from "./cast.ts";
import { axisOf, widened } from "./operands.ts";

/** A scale or zero point as it lies beside x: one element, one an index of `axis`, or one a block along it. */
export function beside(n: NodeContext, v: Tensor, x: Tensor, axis: number, block: number): Tensor {
  if (v.rank === 0) return v;
  if (v.rank === 1 && (v.shape[0] === 1 || block === 0)) {
    if (v.shape[0] === 1) return reshape(v, []);
    const at = axisOf(n, axis, x.rank);
    return reshape(v, [...v.shape, ...new Array<Dim>(x.rank - 1 - at).fill(1)]);
  }
  const at = axisOf(n, axis, x.rank);
  if (block <= 0 || v.rank !== x.rank)
    return n.fail(`a scale of rank ${v.rank} for an input of rank ${x.rank} needs block_size`);
  const shape = [...v.shape.slice(0, at + 1), block, ...v.shape.slice(at + 1)];
  const repeated = expandDims(v, at + 1).broadcastTo(shape);
  const whole = [...v.shape];
  whole[at] = mulDim(v.shape[at]!, block);
  return reshape(repeated, whole).sliceAxis(at, 0, x.shape[at]!);
}

const rangeOf = (type: ElementType): readonly [number, number] => {
  const dtype = dtypeOf(type);
  return narrowRange[type] ?? [minOf(dtype), maxOf(dtype)];
};

/** Steps in f32 as values of `type`, rounded, moved by the zero point and limited. */
export const saturated = (
  steps: Tensor,
  zero: Tensor | undefined,
  type: ElementType,
  scale: Tensor | number = 1,
): TensorValue => {
  const limits = { dtype: dtypeOf(type), range: rangeOf(type) };
  return typed(quantize(steps, scale, { ...limits, ...(zero && { zero }) }), type);
};

/** (q − zero)·scale in f32. */
export const dequantized = (q: Tensor, scale: Tensor, zero: Tensor | undefined): Tensor =>
  dequantize(q, scale, zero && { zero });

function place(n: NodeContext) {
  const [x, axis, block] = [n.tensor(0), n.int("axis", 1), n.int("block_size", 0)];
  return (t: Tensor) => beside(n, t, x, axis, block);
}

function quantizeLinear(n: NodeContext): TensorValue {
  const at = place(n);
  const named = n.int("output_dtype", 0);
  const type = named ? elementTypeAt(n, named) : n.has(2) ? n.type(2) : "uint8";
  const zero = n.maybe(2);
  return saturated(n.tensor(0), zero && at(zero), type, at(widened(n.tensor(1))));
}

function dequantizeLinear(n: NodeContext): TensorValue {
  const at = place(n);
  const zero = n.maybe(2);
  const named = n.int("output_dtype", 0);
  const type = named ? elementTypeAt(n, named) : n.type(1);
  const x = dequantized(n.tensor(0), at(n.tensor(1)), zero && at(zero));
  return typed(convert(x, dtypeOf(type)), type);
}

function dynamicQuantizeLinear(n: NodeContext): Result {
  const { values, scale, zero } = quantizeDynamic(n.tensor(0));
  return [typed(values, "uint8"), typed(scale, "float32"), typed(zero, "uint8")];
}

const note = "Not to or from 8-bit and 4-bit floats.";

export const quantizeRows: readonly Row[] = [
  row("QuantizeLinear", quantizeLinear, { note }),
  row("DequantizeLinear", dequantizeLinear, { note }),
  row("DynamicQuantizeLinear", dynamicQuantizeLinear),
  microsoft("QuantizeLinear", quantizeLinear, { note }),
  microsoft("DequantizeLinear", dequantizeLinear, { note }),
];
