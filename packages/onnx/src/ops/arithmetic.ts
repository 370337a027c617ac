/**
 * Arithmetic of two or more operands, with broadcasting.
 */
import {
  add,
  convert,
  div,
  isFloat,
  maximum,
  minimum,
  mul,
  select,
  sub,
  type Tensor,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { binaryOperands } from "./operands.ts";

type Op = (x: Tensor, y: Tensor) => Tensor;

const binary = (op: string, f: Op): Row => row(op, (n) => f(...binaryOperands(n)), { wraps: true });

const variadic = (op: string, f: (all: readonly Tensor[]) => Tensor): Row =>
  row(op, (n) => (n.count ? f(n.tensors()) : n.fail("takes at least one input")), { wraps: true });

/** The remainder with the sign of the divisor, or with `fmod` that of the dividend. */
function mod(n: NodeContext): Tensor {
  const [x, y] = binaryOperands(n);
  const r = x.rem(y);
  if (n.flag("fmod")) return r;
  const wrong = r.notEqual(0).and(r.less(0).notEqual(y.less(0)));
  return x.dtype === "u8" || x.dtype === "u32" ? r : select(wrong, r.add(y), r);
}

/**
 * xʸ for integers, by squaring: exact modulo the dtype for y < 32. Beyond, an even x gives 0, and
 * of the odd ones only ±1 fits. A negative y gives 0 unless |x| = 1.
 */
function integerPower(x: Tensor, y: Tensor): Tensor {
  let power = select(y.greaterEqual(32).and(x.and(1).equal(0)), 0, x.mul(0).add(1));
  let base = x;
  for (let bit = 0; bit < 5; bit++) {
    const factor = select(y.and(1 << bit).notEqual(0), base, 1);
    power = power ? power.mul(factor) : factor;
    base = base.mul(base);
  }
  const inverse = select(x.abs().equal(1), power!, 0);
  return y.dtype === "u8" || y.dtype === "u32" ? power! : select(y.less(0), inverse, power!);
}

/** Integer bases with float exponents: truncated, but not where f32 only just misses an integer. */
function truncatedPower(x: Tensor, y: Tensor): Tensor {
  const p = convert(x, "f32").pow(convert(y, "f32"));
  const near = p.round();
  const close = p
    .sub(near)
    .abs()
    .lessEqual(near.abs().mul(2 ** -20));
  return convert(select(close, near, p), x.dtype);
}

/** The number that every element is, for exponents that stand in the file. */
function uniform(t: Tensor): number | undefined {
  if (t.op === "constant") return t.attrs.value as number;
  const passes = t.op === "broadcastInDim" || t.op === "reshape" || t.op === "convert";
  return passes ? uniform(t.operands[0]!) : undefined;
}

const shortPowers: ReadonlyMap<number, (x: Tensor) => Tensor> = new Map([
  [1, (x) => x],
  [2, (x) => x.mul(x)],
  [3, (x) => x.mul(x).mul(x)],
  [0.5, (x) => x.sqrt()],
  [-1, (x) => x.reciprocal()],
]);

/** Of the dtype of the base. */
function pow(n: NodeContext): Tensor {
  const [x, y] = binaryOperands(n);
  if (!isFloat(x.dtype)) {
    const [a, b] = [convert(x, x.dtype), y];
    return isFloat(y.dtype) ? truncatedPower(a, b) : convert(integerPower(a, b), x.dtype);
  }
  const exponent = uniform(y);
  const short = exponent === undefined || y.rank > x.rank ? undefined : shortPowers.get(exponent);
  if (short && y.shape.every((d) => d === 1)) return short(x);
  return x.pow(convert(y, x.dtype));
}

/** Bounds are attributes before opset 11, inputs since. A lower bound above the upper one gives the upper. */
function clip(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const bound = (i: number, name: string) =>
    n.opset >= 11 ? n.maybe(i)?.reshape([]) : n.hasAttribute(name) ? n.float(name) : undefined;
  const [low, high] = [bound(1, "min"), bound(2, "max")];
  const above = low === undefined ? x : maximum(x, low);
  return high === undefined ? above : minimum(above, high);
}

const total = (all: readonly Tensor[]): Tensor => all.reduce((a, b) => add(a, b));

export const arithmeticRows: readonly Row[] = [
  binary("Add", add),
  binary("Sub", sub),
  binary("Mul", mul),
  binary("Div", div),
  row("Mod", mod, { wraps: true }),
  row("Pow", pow, { wraps: true }),
  row("Clip", clip),
  variadic("Max", (all) => all.reduce((a, b) => maximum(a, b))),
  variadic("Min", (all) => all.reduce((a, b) => minimum(a, b))),
  variadic("Sum", total),
  variadic("Mean", (all) => total(all).div(all.length)),
];
