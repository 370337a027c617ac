/**
 * Recognises pools: a maximum or a sum over all windows of an image [N, C, D…], perhaps padded. Gives nothing for any
 * other reduction, which the caller then writes as one.
 */
import { type Dim, isFloat, isStatic, type Tensor } from "@kiln-ml/ir";
import { isPlain } from "./padding.ts";
import type { RowContext } from "./row.ts";

interface Pool {
  readonly image: Tensor;
  readonly attributes: Readonly<Record<string, readonly number[]>>;
  readonly size: readonly number[];
  readonly dilation: readonly number[];
}

const pooled: readonly string[] = ["f16", "f32", "f64", "bf16"];

/** The pool that a reduction of windows is, where the padding's value is `neutral`. */
function poolOf(node: Tensor, neutral: number): Pool | undefined {
  const windows = node.operands[0]!;
  const size = windows.attrs.size as readonly Dim[] | undefined;
  if (windows.op !== "windows" || !size || !pooled.includes(node.dtype)) return undefined;
  const n = size.length;
  const axes = node.attrs.axes as readonly number[];
  const over = axes.length === n && axes.every((a, i) => a === n + 2 + i);
  if (windows.shape.length !== 2 * n + 2 || !over || !size.every(isStatic)) return undefined;
  const from = windows.operands[0]!;
  const sides = from.op === "pad" ? paddingOf(from, neutral, size as readonly number[]) : undefined;
  const dilation = windows.attrs.dilation as readonly number[];
  const attributes = {
    kernel_shape: size as readonly number[],
    strides: windows.attrs.stride as readonly number[],
    ...(sides ? { pads: sides } : {}),
    ...(dilation.some((d) => d !== 1) ? { dilations: dilation } : {}),
  };
  const image = sides ? from.operands[0]! : from;
  return { image, attributes, size: size as readonly number[], dilation };
}

/** Amounts of a pad of the spatial axes that a pool takes: less than the window. */
function paddingOf(pad: Tensor, neutral: number, size: readonly number[]): number[] | undefined {
  const fill = pad.operands[1]!;
  const [low, high] = [pad.attrs.low as readonly Dim[], pad.attrs.high as readonly Dim[]];
  const interior = pad.attrs.interior as readonly number[];
  const fits =
    fill.op === "constant" &&
    Object.is(fill.attrs.value, neutral) &&
    interior.every((k) => k === 0) &&
    [...low.slice(0, 2), ...high.slice(0, 2)].every((d) => d === 0) &&
    isPlain(low) &&
    isPlain(high);
  if (!fits) return undefined;
  const amounts = [...low.slice(2), ...high.slice(2)] as number[];
  return amounts.every((d, i) => d < size[i % size.length]!) ? amounts : undefined;
}

export function maxPool(c: RowContext): string | undefined {
  const pool = poolOf(c.node, -Infinity);
  return pool && c.b.op("MaxPool", [c.nameOf(pool.image)], pool.attributes);
}

/** The sum of each window: its mean times its size. Of dilated windows only opset 19 has the mean. */
export function averagePool(c: RowContext): string | undefined {
  const mean = meanPool(c, c.node);
  if (!mean) return undefined;
  const size = mean.size.reduce((n, k) => n * k, 1);
  return c.b.op("Mul", [mean.name, c.b.scalar(size, c.node.dtype)]);
}

function meanPool(c: RowContext, sum: Tensor) {
  const pool = isFloat(sum.dtype) ? poolOf(sum, 0) : undefined;
  if (!pool || pool.dilation.some((d) => d !== 1)) return undefined;
  const attributes = { ...pool.attributes, count_include_pad: 1 };
  return { name: c.b.op("AveragePool", [c.nameOf(pool.image)], attributes), size: pool.size };
}

/** The mean of each window, if that is what a division is. */
export function dividedPool(c: RowContext): string | undefined {
  const [sum, divisor] = c.node.operands as [Tensor, Tensor];
  if (sum.op !== "reduceSum" || divisor.op !== "broadcastInDim") return undefined;
  const { op, attrs } = divisor.operands[0]!;
  const size = sum.operands[0]!.attrs.size as readonly Dim[] | undefined;
  const whole = size?.reduce<number>((n, k) => n * (isStatic(k) ? k : Number.NaN), 1);
  if (op !== "constant" || attrs.value !== whole) return undefined;
  return meanPool(c, sum)?.name;
}
