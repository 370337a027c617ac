/**
 * 64-bit integers that a run computes are held in 32 bits: what a node gives may not fit. A node
 * whose results may leave the range gets a flag, which a run reads; most have none, as indices,
 * extents and counts cannot. A body of a loop or a branch has one result more, the number of its
 * first node that does not fit, from which those around it have their flags.
 */
import {
  any,
  concat,
  constant,
  convert,
  type Dtype,
  exp2,
  isFloat,
  maxOf,
  minOf,
  type Tensor,
  trunc,
  where,
} from "@kiln-ml/ir";
import type { NodeContext } from "./context.ts";
import type { ElementType, TensorDef } from "./proto/model.ts";
import { type Range, rangeOf, rangeOfSum } from "./ranges.ts";
import type { TensorValue } from "./value.ts";

/** A node whose results do not fit where `flag`, a bool of rank 0, holds. */
export interface Check {
  readonly where: string;
  readonly type: ElementType;
  readonly flag: Tensor;
}

export const isWide = (type: ElementType): boolean => type === "int64" || type === "uint64";

/** The message for results that do not fit. */
export const beyond = (where: string, type: ElementType): string =>
  `${where}: a result is beyond the 32 bits that hold ${type}\n  cast to float32 before, or keep the numbers small`;

/** Ops that compute integers: the inputs that are terms or factors, all of them if none are named. */
const terms: ReadonlyMap<string, readonly number[] | "all"> = new Map<string, number[] | "all">([
  ...["Add", "Sub", "Mul", "Sum", "Neg", "Abs", "Pow", "PRelu", "MatMul", "Gemm", "Einsum"].map(
    (op) => [op, "all"] as [string, "all"],
  ),
  ...[
    "ReduceSum",
    "ReduceProd",
    "ReduceSumSquare",
    "ReduceL1",
    "ReduceL2",
    "CumSum",
    "CumProd",
  ].map((op) => [op, [0]] as [string, number[]]),
]);

/** Which inputs of a node are terms of its 64-bit integer results. */
export function termsOf(n: NodeContext): readonly number[] {
  const { node, count } = n;
  if (/^Scatter(Elements|ND)$/.test(node.op) && /^(add|mul)$/.test(n.string("reduction", "none")))
    return [0, 2];
  const own = node.domain === "" ? terms.get(node.op) : undefined;
  return own === "all" ? Array.from({ length: count }, (_, i) => i) : (own ?? []);
}

/**
 * Where the elements of a node's result do not fit; undefined if they surely do. `inFloats` gives
 * the result for the same inputs in f32: what wrapped is off by a multiple of 2³², and f32 by far
 * less.
 */
export function overflowOf(
  n: NodeContext,
  { tensor, type }: TensorValue,
  inFloats: () => Tensor | undefined,
): Tensor | undefined {
  if (!isWide(type)) return undefined;
  const limits = { low: minOf(tensor.dtype), high: maxOf(tensor.dtype) };
  const { op } = n.node;
  if (op === "Cast" || op === "CastLike") return castOverflow(n.tensor(0), limits);
  if (op === "BitShift") return shiftOverflow(n, tensor);
  if (op === "Div") return quotientOverflow(n, limits);
  // The upper half of what 64 bits hold: no complement fits.
  if (op === "BitwiseNot" && type === "uint64") return tensor.equal(tensor);
  if (termsOf(n).length === 0 || fits(n, tensor, limits)) return undefined;
  const estimate = inFloats();
  return estimate && (endsInFloats(n) ? castOverflow(estimate, limits) : apart(estimate, tensor));
}

/** Whether the result is rounded from floats: what does not fit is an end of the range, and does not wrap. */
const endsInFloats = (n: NodeContext): boolean =>
  n.node.op === "ReduceL2" || (n.node.op === "Pow" && isFloat(n.tensor(1).dtype));

const within = (r: Range, limits: Range): boolean => r.low >= limits.low && r.high <= limits.high;

/** Known of sums and differences, products, and sums of all elements by the ranges of the operands. */
function fits(n: NodeContext, tensor: Tensor, limits: Range): boolean {
  const x = termsOf(n).map((i) => rangeOf(n.tensor(i)));
  const [a, b] = x;
  const grown = rangeOfSum(n.node.op, a!, b, n.tensor(0).shape);
  if (grown) return within(grown, limits);
  const size = Math.max(...x.flatMap((r) => [Math.abs(r.low), Math.abs(r.high)]));
  return n.node.op === "Sum" ? size * x.length <= limits.high : tensor.op === "constant";
}

/** Integers of the other sign do not fit either: 32 bits would hold them as other numbers. */
const castOverflow = (x: Tensor, limits: Range): Tensor | undefined => {
  const { low, high } = limits;
  if (!isFloat(x.dtype))
    return within(rangeOf(x), limits)
      ? undefined
      : rangeOf(x).low < low
        ? x.less(low)
        : x.greater(high);
  const wide = trunc(x.dtype === "f64" ? x : convert(x, "f32"));
  // NaN is not less than anything.
  return wide
    .greaterEqual(low)
    .and(wide.less(high + 1))
    .not();
};

/** The least number by −1 is one more than the greatest. */
function quotientOverflow(n: NodeContext, { low }: Range): Tensor | undefined {
  const [x, by] = [n.tensor(0), n.tensor(1)];
  const [over, under] = [rangeOf(x), rangeOf(by)];
  if (low === 0 || over.low > low || under.low > -1 || under.high < -1) return undefined;
  return x.equal(low).and(by.equal(-1));
}

function shiftOverflow(n: NodeContext, y: Tensor): Tensor | undefined {
  if (n.string("direction") !== "LEFT") return undefined;
  const [x, by] = [n.tensor(0), n.tensor(1)].map((t) => convert(t, "f32")) as [Tensor, Tensor];
  return apart(x.mul(exp2(by)), y);
}

const apart = (estimate: Tensor, y: Tensor): Tensor =>
  estimate
    .sub(convert(y, "f32"))
    .abs()
    .greater(2 ** 31);

/** One number for each check, not 0 where its node's results do not fit. */
export const flagsOf = (checks: readonly Check[]): Tensor =>
  concat(
    checks.map(({ flag }) => convert(anyOf(flag), "i32").reshape([1])),
    0,
  );

const anyOf = (flag: Tensor): Tensor => (flag.rank ? any(flag) : flag);

/** i32: the number of the first check that fails, counted from `from`; 0 where none does. */
export const codeOf = (checks: readonly Check[], from = 1): Tensor =>
  checks.reduceRight<Tensor>(
    (rest, { flag }, i) => where(anyOf(flag), constant(from + i, "i32"), rest),
    constant(0, "i32"),
  );

/** The checks of a body as one around it has them, by the code that the body gave, or gave in each trip. */
export const checksOf = (checks: readonly Check[], code: Tensor, from = 1): Check[] =>
  checks.map((c, i) => ({ ...c, flag: code.equal(from + i) }));

/** The first element of a 64-bit tensor of the file that is held as the end of the range. */
export function clipped(def: TensorDef | undefined, dtype: Dtype): bigint | undefined {
  if (!(def?.data instanceof BigInt64Array)) return undefined;
  return def.data.find((x) => x < BigInt(minOf(dtype)) || x > BigInt(maxOf(dtype)));
}
