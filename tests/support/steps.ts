/**
 * What a step of a random graph may do: a table from name to a function that builds nodes on a tensor drawn
 * from the pool. A step that does not fit its operand does nothing. Operands are brought into the domain of the
 * op first, so values stay finite and moderate.
 */
import {
  type Attrs,
  type Dim,
  type Dtype,
  full,
  isFloat,
  isStatic,
  makeNode,
  opRecord,
  type ResultType,
  type Shape,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";
import type { Growth, Step } from "./leaves.ts";

export type Build = (x: Tensor, step: Step, growth: Growth) => Tensor | undefined;

function node(op: string, operands: readonly Tensor[], attrs: Attrs = {}, type?: ResultType) {
  const { dtype, shape } = opRecord(op).infer(operands, attrs, type);
  return makeNode({ op, operands, attrs, dtype, shape });
}
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const like = (x: Tensor, value: number): Tensor => full(x.shape, value, x.dtype);
const clamp = (x: Tensor, low: number, high: number): Tensor =>
  node("minimum", [node("maximum", [x, like(x, low)]), like(x, high)]);
const reshapeTo = (x: Tensor, shape: Shape) => node("reshape", [x], {}, { dtype: x.dtype, shape });
const choose = <T>(list: readonly T[], n: number): T => list[n % list.length]!;
const nonempty = (x: Tensor, axis: number): boolean =>
  isStatic(x.shape[axis]!) && x.shape[axis] !== 0;

const unaryOn = (dtype: Dtype): string[] =>
  "neg abs sign floor ceil round trunc exp exp2 expm1 log log1p log2 sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh asinh acosh atanh tanh sigmoid erf isNan isFinite not bitwiseNot"
    .split(" ")
    .filter((op) => accepts(op, [dtype]));

/** Does the record take operands of these dtypes? */
function accepts(op: string, dtypes: readonly Dtype[]): boolean {
  try {
    node(
      op,
      dtypes.map((d) => full([], 0, d)),
    );
    return true;
  } catch {
    return false;
  }
}

const memo = new Map<string, string[]>();
function unaryOps(dtype: Dtype): string[] {
  const list = memo.get(dtype) ?? unaryOn(dtype);
  memo.set(dtype, list);
  return list;
}

const unary: Build = (x, { k }) => {
  const ops = unaryOps(x.dtype);
  if (!ops.length) return undefined;
  const op = choose(ops, k[0]! + 8 * k[1]!);
  const [low, high] = opRecord(op).domain ?? [-100, 100];
  return node(op, [isFloat(x.dtype) && (low > -10 || high < 10) ? clamp(x, low, high) : x]);
};

const binary: Build = (x, { y, k }, growth) => {
  const other = growth.like(y, x.dtype, x.shape);
  const pair = k[1]! % 5 === 0 ? [x, x] : k[1]! % 2 ? [x, other] : [other, x];
  if (x.dtype === "bool") return node(choose(["and", "or", "xor"], k[0]!), pair);
  const shared = ["add", "sub", "mul", "maximum", "minimum"];
  if (isFloat(x.dtype)) {
    const op = choose([...shared, "div", "pow", "atan2"], k[0]!);
    const [a, b] = pair as [Tensor, Tensor];
    if (op === "div") return node(op, [a, node("add", [node("abs", [b]), like(b, 0.5)])]);
    if (op === "pow") return node(op, [clamp(a, 0.25, 4), clamp(b, -2, 2)]);
    return node(op, pair);
  }
  const op = choose(
    [...shared, "and", "or", "xor", "div", "rem", "shiftLeft", "shiftRight"],
    k[0]! + 8 * k[2]!,
  );
  const [a, b] = pair as [Tensor, Tensor];
  const small = node("and", [b, like(b, 7)]);
  if (op === "div" || op === "rem") return node(op, [a, node("or", [small, like(b, 1)])]);
  return node(op, op.startsWith("shift") ? [a, small] : pair);
};

const comparisons = ["equal", "notEqual", "less", "lessEqual", "greater", "greaterEqual"];
const compare: Build = (x, { y, k }, growth) =>
  x.dtype === "bool"
    ? undefined
    : node(choose(comparisons, k[0]!), [x, growth.like(y, x.dtype, x.shape)]);

const select: Build = (x, { y, k }, growth) =>
  node("select", [
    growth.like(k[0]! * 5 + 1, "bool", x.shape),
    x,
    growth.like(y, x.dtype, x.shape),
  ]);

const convert: Build = (x, { k }, growth) => {
  const to = choose(growth.dtypes, k[0]!);
  if (to === "bool") return node("notEqual", [x, like(x, 0)]);
  const fits = x.dtype === "bool" || (!isFloat(x.dtype) && isFloat(to)) || isFloat(to);
  return node("convert", [fits ? x : clamp(x, 0, 100)], {}, { dtype: to, shape: x.shape });
};

const reshape: Build = (x, { k }) => {
  const at = k[0]! % (x.rank + 1);
  const withOne: Shape = [...x.shape.slice(0, at), 1, ...x.shape.slice(at)];
  const joined: Shape =
    x.rank < 2 ? [sizeOf(x.shape)] : [sizeOf(x.shape.slice(0, 2)), ...x.shape.slice(2)];
  const squeezed = x.shape.filter((d) => d !== 1);
  const halves = x.shape.flatMap((d): Dim[] => (d === 4 ? [2, 2] : [d]));
  return reshapeTo(x, choose([withOne, joined, squeezed, halves, [sizeOf(x.shape)]], k[1]!));
};

const transpose: Build = (x, { k }) => {
  const perm = range(x.rank);
  for (const i of range(x.rank)) {
    const j = k[i % k.length]! % x.rank;
    [perm[i], perm[j]] = [perm[j]!, perm[i]!];
  }
  return node("transpose", [x], { perm });
};

const broadcast: Build = (x, { k }) => {
  if (x.rank > 3) return undefined;
  const at = k[0]! % (x.rank + 1);
  const stretched = x.shape.map((d, i) => (d === 1 && k[2]! % (i + 2) === 0 ? 3 : d));
  const shape = [...stretched.slice(0, at), 1 + (k[1]! % 3), ...stretched.slice(at)];
  const dims = range(x.rank).map((i) => (i < at ? i : i + 1));
  return node("broadcastInDim", [x], { dims }, { dtype: x.dtype, shape });
};

const slice: Build = (x, { k }) => {
  const start = x.shape.map((d, i) => (isStatic(d) && d > 1 ? k[i % k.length]! % 2 : 0));
  const cut = (d: number, i: number) =>
    d > start[i]! + 1 && k[(i + 2) % k.length]! % 3 === 0 ? 1 : 0;
  const limit = x.shape.map((d, i) => (isStatic(d) ? d - cut(d, i) : d));
  return node("slice", [x], { start, limit, stride: x.shape.map(() => 1 + (k[5]! % 2)) });
};

const pad: Build = (x, { k }) => {
  const side = (from: number) => x.shape.map((_, i) => k[(i + from) % k.length]! % 2);
  const value = full([], x.dtype === "bool" ? 0 : choose([0, 1, 0, 2], k[0]!), x.dtype);
  const interior = x.shape.map((d) => (isStatic(d) && d > 0 ? Number(k[5] === 7) : 0));
  return node("pad", [x, value], { low: side(1), high: side(2), interior });
};

const concat: Build = (x, { y, k }, growth) => {
  if (!x.rank) return undefined;
  const axis = k[0]! % x.rank;
  const other = growth.like(y, x.dtype, x.shape);
  return node("concat", k[1]! % 3 ? [x, other] : [x, other, x].slice(0, 1 + (k[2]! % 3)), { axis });
};

const reverse: Build = (x, { k }) =>
  node("reverse", [x], { axes: range(x.rank).filter((i) => k[i % k.length]! % 2) });

const pool: Build = (x, { k }) => {
  if (!x.rank || !nonempty(x, x.rank - 1) || x.dtype === "bool") return undefined;
  const size = Math.min(2, x.shape[x.rank - 1] as number);
  const w = node("windows", [x], { size: [size], stride: [1 + (k[0]! % 2)], dilation: [1] });
  return node(choose(["reduceMax", "reduceSum", "reduceMin"], k[1]!), [w], { axes: [x.rank] });
};

const reductions = (dtype: Dtype): string[] =>
  dtype === "bool"
    ? ["reduceAny", "reduceAll"]
    : ["reduceSum", "reduceMax", "reduceMin", "reduceProd", "argMax", "argMin"];

const reduce: Build = (x, { k }) => {
  const axes = range(x.rank).filter((i) => k[i + 1]! % 2 === 0);
  const op = choose(reductions(x.dtype), k[0]!);
  const ok = axes.every((a) => nonempty(x, a) || !/^arg|Max|Min/.test(op));
  const tame = op === "reduceProd" && isFloat(x.dtype) ? clamp(x, -1.5, 1.5) : x;
  return ok ? node(op, [tame], { axes }) : undefined;
};

const cumulative: Build = (x, { k }) => {
  if (!x.rank || x.dtype === "bool") return undefined;
  const op = choose(["cumsum", "cumsum", "cummax", "cumprod", "cummin"], k[0]!);
  const tame = op === "cumprod" && isFloat(x.dtype) ? clamp(x, -1.5, 1.5) : x;
  const attrs = { axis: k[1]! % x.rank, exclusive: k[2]! % 3 === 0, reverse: k[3]! % 2 === 1 };
  const all = node(op, [tame], attrs);
  // Before the first element there is ∞, and ∞ beside the padding of a convolution is nothing on one target and NaN on another.
  const infinite = attrs.exclusive && isFloat(x.dtype) && /max|min/.test(op);
  const y = infinite ? clamp(all, -9, 9) : all;
  return k[4]! % 2 ? node("maximum", [y, x]) : y;
};

const matmul: Build = (x, { y, k }, growth) => {
  if (x.rank < 2 || x.dtype === "bool" || x.dtype === "u32") return undefined;
  const batch = range(k[2]! % 2 ? x.rank - 2 : 0);
  const contract = x.rank - 1 - (k[0]! % 2);
  const free = 1 + (k[3]! % 4);
  const inner = x.shape[contract]!;
  const tail = k[1]! % 2 ? [inner, free] : [free, inner];
  const rhs = growth.like(y, x.dtype, [...batch.map((b) => x.shape[b]!), ...tail]);
  const rhsContract = [batch.length + (k[1]! % 2 ? 0 : 1)];
  return node("dotGeneral", [x, rhs], {
    lhsBatch: batch,
    rhsBatch: batch,
    lhsContract: [contract],
    rhsContract,
  });
};

const convolution: Build = (x, { y, k }, growth) => {
  if (x.dtype !== "f32" || (x.rank !== 3 && x.rank !== 4)) return undefined;
  if (x.shape.slice(1).some((d) => !isStatic(d) || d === 0)) return undefined;
  const spatial = x.rank - 2;
  const each = (value: number) => new Array<number>(spatial).fill(value);
  const size = x.shape.slice(2).map((d) => Math.min(Number(d), 1 + (k[0]! % 3)));
  const w = growth.like(y, x.dtype, [1 + (k[1]! % 2), x.shape[1]!, ...size]);
  return node("convolution", [x, w], {
    stride: each(1 + (k[2]! % 2)),
    low: each(k[3]! % 2),
    high: each(k[4]! % 2),
    lhsDilation: each(1),
    rhsDilation: each(1),
    groups: 1,
  });
};

const gather: Build = (x, { k }, growth) => {
  if (!x.rank || x.shape.some((d) => d === 0)) return undefined;
  const index = growth.like(k[1]! * 7 + 4, "i32", [1 + (k[2]! % 3)]);
  return node("gather", [x, index], { axes: [k[0]! % x.rank] });
};

/** Sorted values, whose order is not seen: on other targets than js, equal ones may have become unequal. */
const sorting: Build = (x, { k }) => {
  if (!x.rank) return undefined;
  const axis = k[0]! % x.rank;
  const extent = x.shape[axis]!;
  const count = isStatic(extent) && k[1]! % 2 ? Math.min(extent, 1 + (k[2]! % 3)) : extent;
  const order = node("argSort", [x], { axis, count, descending: k[3]! % 2 === 1 });
  const places = range(x.rank).map((a) =>
    a === axis ? order : node("iota", [], { axis: a }, { dtype: "i32", shape: order.shape }),
  );
  return node("gather", [x, ...places], { axes: range(x.rank) });
};

/** The last axis reduced by `op` and spread back over it. */
function along(op: string, x: Tensor): Tensor {
  const kept = node(op, [x], { axes: [x.rank - 1] });
  return node("broadcastInDim", [kept], { dims: range(x.rank - 1) }, x);
}

const softmax: Build = (x) => {
  if (!x.rank || !isFloat(x.dtype) || !nonempty(x, x.rank - 1)) return undefined;
  const e = node("exp", [node("sub", [x, along("reduceMax", x)])]);
  return node("div", [e, along("reduceSum", e)]);
};

const normalize: Build = (x) => {
  if (!x.rank || !isFloat(x.dtype) || !nonempty(x, x.rank - 1)) return undefined;
  const n = like(x, Number(x.shape[x.rank - 1]));
  const centred = node("sub", [x, node("div", [along("reduceSum", x), n])]);
  const variance = node("div", [along("reduceSum", node("mul", [centred, centred])), n]);
  return node("mul", [centred, node("rsqrt", [node("add", [variance, like(x, 1e-3)])])]);
};

const iota: Build = (x, { k }) =>
  x.rank && x.dtype !== "bool"
    ? node("add", [x, node("iota", [], { axis: k[0]! % x.rank }, x)])
    : undefined;

const twice: Build = (x, { k }) => {
  const op = x.dtype === "bool" ? "xor" : choose(["add", "mul", "sub", "maximum"], k[0]!);
  return node(op, [x, x]);
};

export const steps: Readonly<Record<string, Build>> = {
  unary,
  binary,
  compare,
  select,
  convert,
  reshape,
  transpose,
  broadcast,
  slice,
  pad,
  concat,
  reverse,
  reduce,
  cumulative,
  matmul,
  convolution,
  pool,
  gather,
  sorting,
  softmax,
  normalize,
  iota,
  twice,
};
