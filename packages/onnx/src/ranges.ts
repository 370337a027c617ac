/**
 * Bounds of the integers that a tensor may hold, as far as its graph tells: places, extents,
 * comparisons, small dtypes, values of the file. Of inputs nothing is known but their dtype.
 */
import {
  isFloat,
  isMovement,
  isStatic,
  maxOf,
  maxOfDim,
  minOf,
  type Shape,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";

export interface Range {
  readonly low: number;
  readonly high: number;
}

const known = new WeakMap<Tensor, Range>();

/**
 * The bounds of an integer or bool tensor; those of its dtype where nothing else is known. A graph
 * may be as deep in integers as in floats, so that operands are looked at first, without recursion.
 */
export function rangeOf(t: Tensor): Range {
  const left = [t];
  for (let top: Tensor | undefined = t; top; top = left.at(-1)) {
    const open = known.has(top) ? [] : unknownOperands(top);
    if (open.length) left.push(...open);
    else settle(left.pop()!);
  }
  return known.get(t)!;
}

const unknownOperands = (t: Tensor): Tensor[] =>
  isFloat(t.dtype) ? [] : t.operands.filter((o) => !known.has(o));

function settle(t: Tensor): void {
  if (known.has(t)) return;
  const all = isFloat(t.dtype)
    ? { low: -Infinity, high: Infinity }
    : { low: minOf(t.dtype), high: maxOf(t.dtype) };
  const own = isFloat(t.dtype) ? all : (derived(t) ?? all);
  known.set(t, own.low < all.low || own.high > all.high ? all : own);
}

const join = (list: readonly Range[]): Range => ({
  low: Math.min(...list.map((r) => r.low)),
  high: Math.max(...list.map((r) => r.high)),
});

function derived(t: Tensor): Range | undefined {
  const operand = (i: number): Range => known.get(t.operands[i]!)!;
  if (isMovement(t)) return join(t.operands.map((_, i) => operand(i)));
  switch (t.op) {
    case "constant":
      return { low: Number(t.attrs.value), high: Number(t.attrs.value) };
    case "iota":
      return { low: 0, high: Math.max(0, maxOfDim(t.shape[Number(t.attrs.axis)]!) - 1) };
    case "convert":
      return operand(0);
    case "gather":
    case "reduceMax":
    case "reduceMin":
    case "cummax":
    case "cummin":
      return operand(0);
    case "argMax":
    case "argMin":
    case "argSort":
      return { low: 0, high: Math.max(0, maxOfDim(sizeOf(t.operands[0]!.shape)) - 1) };
    case "select":
      return join([operand(1), operand(2)]);
    case "maximum":
      return {
        low: Math.max(operand(0).low, operand(1).low),
        high: join([operand(0), operand(1)]).high,
      };
    case "minimum":
      return {
        low: join([operand(0), operand(1)]).low,
        high: Math.min(operand(0).high, operand(1).high),
      };
    case "add":
      return rangeOfSum("Add", operand(0), operand(1), t.shape);
    case "sub":
      return rangeOfSum("Sub", operand(0), operand(1), t.shape);
    case "mul":
      return rangeOfSum("Mul", operand(0), operand(1), t.shape);
    default:
      return undefined;
  }
}

/** What an op of ONNX makes of integers within these bounds; undefined for others. */
export function rangeOfSum(
  op: string,
  a: Range,
  b: Range | undefined,
  shape: Shape,
): Range | undefined {
  const size = sizeOf(shape);
  const count = isStatic(size) ? size : Infinity;
  switch (op) {
    case "Add":
      return b && { low: a.low + b.low, high: a.high + b.high };
    case "Sub":
      return b && { low: a.low - b.high, high: a.high - b.low };
    case "Mul": {
      if (!b) return undefined;
      const ends = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
      return { low: Math.min(...ends), high: Math.max(...ends) };
    }
    case "Neg":
      return { low: -a.high, high: -a.low };
    case "Abs":
      return { low: 0, high: Math.max(-a.low, a.high) };
    case "ReduceSum":
    case "CumSum":
      return {
        low: a.low < 0 ? a.low * count : 0,
        high: a.high > 0 ? a.high * count : 0,
      };
    default:
      return undefined;
  }
}
