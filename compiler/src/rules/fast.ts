/**
 * Algebra that changes the last bits, or the result at ±0, ±∞ or NaN. Opt-in as a whole
 * (`simplifyFast`); each rule states when it is right. Never run by the tests that compare bits.
 */
import { isFloat, isOp, mulDim, reducedAxes } from "@kiln-ml/ir";
import { type Rule, replaceBy, rule } from "./match.ts";
import { mergeReductions } from "./structure.ts";
import { uniform, uniformValue } from "./uniform.ts";

const texts = [
  // Wrong only in the sign of a zero.
  "add(x, 0) -> x where float(x)",
  "neg(sub(x, y)) -> sub(y, x) where float(x)",
  "neg(add(x, y)) -> sub(neg(x), y) where float(x)",

  // Right for finite x.
  "mul(x, 0) -> 0 where float(x)",
  "sub(x, x) -> 0 where float(x)",
  "div(x, x) -> 1 where float(x)",
  "equal(x, x) -> true where float(x)",

  // Right to a few units in the last place, short of overflow.
  "pow(x, 0.5) -> sqrt(x) where float(x)",
  "pow(x, -0.5) -> rsqrt(x) where float(x)",
  "pow(x, 3) -> mul(mul(x, x), x) where float(x)",
  "reciprocal(sqrt(x)) -> rsqrt(x)",
  "reciprocal(reciprocal(x)) -> x",
  "div(x, sqrt(y)) -> mul(x, rsqrt(y)) where float(x)",
  "mul(x, reciprocal(y)) -> div(x, y)",
  "mul(exp(x), exp(y)) -> exp(add(x, y))",
  "exp(log(x)) -> x",
  "log(exp(x)) -> x",
];

/** x / c → x · (1/c): one rounding more, unless c is a power of two. */
const divideByConstant: Rule = {
  name: "div(x, constant) -> mul(x, 1/constant)",
  ops: ["div"],
  apply(node) {
    const c = uniformValue(node.operands[1]!);
    if (!isFloat(node.dtype) || c === undefined || !Number.isFinite(1 / c) || c === 0) return;
    return replaceBy(node, "mul", [node.operands[0]!, uniform(1 / c, node.dtype, node.shape)]);
  },
};

/** Σ over axes that were broadcast: x · n instead of n additions. */
const sumOfBroadcast: Rule = {
  name: "reduceSum(broadcastInDim(x)) -> mul(x, n)",
  ops: ["reduceSum"],
  apply(node) {
    const inner = node.operands[0]!;
    if (!isOp(inner, "broadcastInDim") || !isFloat(node.dtype)) return;
    const axes = reducedAxes(node);
    const { dims } = inner.attrs;
    const n = axes.map((a) => inner.shape[a]!).reduce(mulDim, 1);
    if (typeof n !== "number" || axes.some((a) => dims.includes(a))) return;
    const kept = dims.map((d) => d - axes.filter((a) => a < d).length);
    const x = replaceBy(node, "broadcastInDim", inner.operands, { dims: kept });
    return replaceBy(node, "mul", [x, uniform(n, node.dtype, node.shape)]);
  },
};

/** ΣΣ → Σ: the inner sum is no longer rounded. */
const sumOfSum: Rule = {
  name: "reduceSum(reduceSum(x)) -> reduceSum(x)",
  ops: ["reduceSum"],
  apply: mergeReductions,
};

/** Σ of one element: x, but for a −0, which 0 + −0 makes 0. */
const sumOfOne: Rule = {
  name: "reduceSum(x) over single elements -> reshape(x)",
  ops: ["reduceSum"],
  apply(node) {
    const x = node.operands[0]!;
    const single = reducedAxes(node).every((a) => x.shape[a] === 1);
    return single ? replaceBy(node, "reshape", [x]) : undefined;
  },
};

export const fast: readonly Rule[] = [
  ...texts.map(rule),
  divideByConstant,
  sumOfBroadcast,
  sumOfSum,
  sumOfOne,
];
