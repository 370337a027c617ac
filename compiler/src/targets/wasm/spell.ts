/**
 * How WebAssembly spells the elementwise ops: four lanes of 32 bits, or one f64. Functions of real
 * numbers are in `math/`. Integers wrap to their dtype after every op, as on js.
 *
 * A value that is used twice is bound to a local by the caller's `bind`: an argument that is not
 * cheap is bound before it is spelled, so that a spelling may name it as often as it likes. There
 * is no branch in any spelling but `pow` of integers, whose loop runs while any lane has bits
 * left.
 */
import { type Dtype, DtypeError, isFloat, maxOf, minOf, opRecord } from "@kiln-ml/ir";
import {
  op as apply,
  block,
  branchIf,
  type Code,
  f64Const,
  i32Const,
  isCheap,
  laneOp,
  localOf,
  loop,
  set,
  splat,
  uniformOf,
} from "./code.ts";
import { fromHalf, oddFromDouble, oddInteger, toHalf } from "./half.ts";
import { fromSpelling } from "./math/c-expression.ts";
import type { Width } from "./math/dialect.ts";
import { expNonPositive } from "./math/exponential.ts";
import { type Bind, doubleMath, vectorMath } from "./math/index.ts";
import { type Comparator, compared, constantCode, numbers, signOf } from "./printer.ts";

type X = readonly Code[];

const all = (v: number): Code => splat("i32x4", v);
const zero = all(0);
const ones = all(-1);

/** The code of an op; `from` are the dtypes of the arguments, `to` that of the result. */
export function spell(op: string, given: X, from: readonly Dtype[], to: Dtype, bind: Bind): Code {
  const x = given.map((t, i) => (isCheap(t) ? t : bind(from[i] === "f64" ? "f64" : "v128", t)));
  const code = spelling(op, x, from, to, bind);
  if (code === undefined) throw new DtypeError(`${op}: has no spelling on target wasm for ${from}`);
  return code;
}

/**
 * In this order: what is the same for all dtypes, comparisons (whose result is a mask and not of
 * the operands' dtype), bool, f64, floats, integers.
 */
function spelling(
  op: string,
  x: X,
  from: readonly Dtype[],
  to: Dtype,
  bind: Bind,
): Code | undefined {
  if (op === "stopGradient") return x[0]!;
  if (op === "convert") return convert(x[0]!, from[0]!, to, bind);
  if (op === "bitcast") return bitcast(x[0]!, from[0]!, to, bind);
  if (op === "select") return select(x, to);
  const dtype = from[0]!;
  const comparison = comparisons[op];
  if (comparison) return compared(comparison, dtype, x[0]!, x[1]!);
  if (dtype === "bool") return logic(op, x);
  if (dtype === "f64") return double(op, x, bind);
  if (isFloat(dtype)) return halved(float(op, x, bind), to, bind);
  const code = integer(op, x, dtype, bind);
  return code && wrapped(code, to);
}

/** f16 and bf16 results are rounded where they are made. */
const halved = (code: Code | undefined, to: Dtype, bind: Bind): Code | undefined =>
  code && rounded(code, to, bind);

export function rounded(code: Code, to: Dtype, bind: Bind): Code {
  if (to !== "f16" && to !== "bf16") return code;
  const v = (t: Code): Code => bind("v128", t);
  return fromHalf(to, v(toHalf(to, v(code), v)), v);
}

/** Brings an integer result back into the range of its dtype. */
export function wrapped(code: Code, dtype: Dtype): Code {
  if (dtype === "u8") return apply("v128.and", code, all(255));
  if (dtype !== "i8") return code;
  return apply("i32x4.shr_s", apply("i32x4.shl", code, i32Const(24)), i32Const(24));
}

const comparisons: Readonly<Record<string, Comparator>> = {
  equal: "eq",
  notEqual: "ne",
  less: "lt",
  lessEqual: "le",
  greater: "gt",
  greaterEqual: "ge",
};

/** Lanes hold the bits of what has 32, and the values of halves. */
function bitcast(x: Code, from: Dtype, to: Dtype, bind: Bind): Code {
  const v = (t: Code): Code => bind("v128", t);
  const half = (dtype: Dtype): boolean => dtype === "f16" || dtype === "bf16";
  const bits = half(from) ? v(toHalf(from, v(x), v)) : x;
  return half(to) ? fromHalf(to, v(bits), v) : wrapped(bits, to);
}

/**
 * A bool is a lane mask of 0 or −1, which `bitselect` takes as it is; f64 has no lanes, and the
 * first lane of the mask decides.
 */
function select(x: X, to: Dtype): Code {
  if (to === "f64") return apply("select", x[1]!, x[2]!, lane(x[0]!, 0));
  return apply("v128.bitselect", x[1]!, x[2]!, x[0]!);
}

/** Ops on masks. */
function logic(op: string, x: X): Code | undefined {
  if (op === "after") return x[0]!;
  if (op === "isNan") return zero;
  if (op === "isFinite") return ones;
  if (op === "not" || op === "bitwiseNot") return apply("v128.not", x[0]!);
  return op === "and" || op === "or" || op === "xor" ? apply(`v128.${op}`, ...x) : undefined;
}

const floats: Readonly<
  Record<string, "add" | "sub" | "mul" | "div" | "neg" | "abs" | "max" | "min">
> = {
  add: "add",
  sub: "sub",
  mul: "mul",
  div: "div",
  neg: "neg",
  abs: "abs",
  maximum: "max",
  minimum: "min",
};

/**
 * An op of f32 in lanes. `f32x4.max` and `min` keep NaN and order zeros, as the reference does,
 * but take eight machine instructions; against a constant one or two do.
 */
function float(op: string, x: X, bind: Bind): Code | undefined {
  const plain = floats[op];
  if (op === "maximum" || op === "minimum") {
    const bounded = bound(op, x);
    if (bounded) return bounded;
  }
  if (plain) return apply(`f32x4.${plain}`, ...x);
  if (op === "isNan") return apply("f32x4.ne", x[0]!, x[0]!);
  if (op === "isFinite")
    return apply("f32x4.lt", apply("f32x4.abs", x[0]!), constantCode(Infinity, "f32"));
  if (op === "expNonPositive") return expNonPositive(x, bind);
  return vectorMath(op, x, bind) ?? custom(op, x, "f32x4", bind);
}

/**
 * The maximum or minimum of a value and a number, which is not NaN, in one or two instructions
 * instead of the eight that f32x4.max takes. `pmax(v, c)` is v < c ? c : v, so that NaN stays;
 * equal numbers are the same bits but for zeros.
 */
function bound(op: "maximum" | "minimum", x: X): Code | undefined {
  const at = x.findIndex((t) => uniformOf(t, "f32x4") !== undefined);
  if (at < 0) return undefined;
  const [c, v] = [x[at]!, x[1 - at]!];
  const number = uniformOf(c, "f32x4")!;
  if (number !== 0) return apply(op === "maximum" ? "f32x4.pmax" : "f32x4.pmin", v, c);
  // Bits are cleared where the result is +0; −0 must stay where it is the minimum.
  if (Object.is(number, -0)) return undefined;
  return apply("v128.andnot", v, apply(op === "maximum" ? "f32x4.le" : "f32x4.gt", v, c));
}

/** An op of one f64: the instruction, the host's `Math`, or the record's own text. */
function double(op: string, x: X, bind: Bind): Code | undefined {
  const plain = floats[op];
  if (plain) return apply(`f64.${plain}`, ...x);
  if (op === "isNan") return compared("ne", "f64", x[0]!, x[0]!);
  if (op === "isFinite") return compared("lt", "f64", apply("f64.abs", x[0]!), f64Const(Infinity));
  return doubleMath(op, x, bind) ?? custom(op, x, "f64", bind);
}

/** An op whose record has its own text. */
function custom(op: string, x: X, width: Width, bind: Bind): Code | undefined {
  const { infix, spell: record } = opRecord(op);
  if (record) return fromSpelling(record, x, width, bind);
  return infix ? fromSpelling((a, b) => `${a} ${infix} ${b}`, x, width, bind) : undefined;
}

/**
 * An op of integers in 32-bit lanes; undefined for what integers do not have. Division, remainder
 * and shifts by a vector have no SIMD instruction, and go lane by lane without a loop.
 */
function integer(op: string, x: X, dtype: Dtype, bind: Bind): Code | undefined {
  const [a, b] = x;
  const u = signOf(dtype);
  switch (op) {
    case "add":
    case "sub":
    case "mul":
    case "neg":
      return apply(`i32x4.${op}`, ...x);
    case "abs":
      return u === "u" ? a! : apply("i32x4.abs", a!);
    case "sign": {
      const positive = apply("i32x4.gt_s", a!, zero);
      if (u === "u") return apply("v128.and", apply("i32x4.ne", a!, zero), all(1));
      return apply("i32x4.sub", apply("i32x4.lt_s", a!, zero), positive);
    }
    case "isNan":
      return zero;
    case "isFinite":
      return ones;
    case "floor":
    case "ceil":
    case "trunc":
    case "round":
    case "after":
      return a!;
    case "maximum":
      return apply(`i32x4.max_${u}`, ...x);
    case "minimum":
      return apply(`i32x4.min_${u}`, ...x);
    case "and":
    case "or":
    case "xor":
      return apply(`v128.${op}`, ...x);
    case "bitwiseNot":
      return apply("v128.xor", a!, ones);
    case "shiftLeft":
      return shifted("shl", a!, b!, bind);
    case "shiftRight":
      return shifted(`shr_${u}`, a!, b!, bind);
    case "div":
    case "rem":
      return lanes((i) => quotient(op, [lane(a!, i), lane(b!, i)], u, bind), bind);
    case "halves": {
      const [left, right] = [b!, x[2]!].map((t) => i32Const(uniformOf(t, "i32x4")!));
      return apply("i16x8.shr_s", apply("i16x8.shl", a!, left!), right!);
    }
    case "dotHalves":
      return apply("i32x4.dot_i16x8_s", a!, b!);
    case "pow":
      return power(a!, b!, u, bind);
    default:
      return undefined;
  }
}

const lane = (v: Code, i: number): Code => laneOp("i32x4.extract_lane", i, v);

/** Four i32 results in lanes; the loop-free way for what SIMD lacks. */
function lanes(one: (i: number) => Code, bind: Bind): Code {
  const scalars = numbers(bind.lanes ?? 4).map((i) => bind("i32", one(i)));
  const [first, ...rest] = scalars;
  return rest.reduce(
    (v, s, i) => laneOp("i32x4.replace_lane", i + 1, v, s),
    apply("i32x4.splat", first!),
  );
}

/**
 * An instruction counts modulo 32; by more than that, as by less than 0, all bits go. SIMD has one
 * count for all lanes; a constant is the common case.
 */
function shifted(name: "shl" | "shr_s" | "shr_u", a: Code, b: Code, bind: Bind): Code {
  const same = uniformOf(b, "i32x4");
  const signed = name === "shr_s";
  if (same !== undefined) {
    if (same >>> 0 > 31 && !signed) return zero;
    return apply(`i32x4.${name}`, a, i32Const(Math.min(same >>> 0, 31)));
  }
  const count = signed ? apply("i32x4.min_u", b, all(31)) : b;
  const v = numbers(bind.lanes ?? 4).reduce(
    (w, i) => laneOp("i32x4.replace_lane", i, w, apply(`i32.${name}`, lane(a, i), lane(count, i))),
    a,
  );
  return signed ? v : apply("v128.and", v, apply("i32x4.lt_u", b, all(32)));
}

/** a / b and a mod b, 0 where b is 0; the smallest i32 by −1 is itself, mod 0. */
function quotient(
  op: "div" | "rem",
  [a, b]: readonly [Code, Code],
  u: "s" | "u",
  bind: Bind,
): Code {
  const d = bind("i32", b);
  const safe = apply("i32.or", d, apply("i32.eqz", d));
  if (u === "u") {
    const q = apply(`i32.${op}_u`, a, safe);
    return apply("select", q, i32Const(0), d);
  }
  const n = bind("i32", a);
  if (op === "rem") return apply("select", apply("i32.rem_s", n, safe), i32Const(0), d);
  // Division traps where the quotient overflows, so −1 negates.
  const minus = bind("i32", apply("i32.eq", d, i32Const(-1)));
  const q = apply("i32.div_s", n, apply("select", i32Const(1), safe, minus));
  return apply(
    "select",
    apply("i32.sub", i32Const(0), n),
    apply("select", q, i32Const(0), d),
    minus,
  );
}

/**
 * Powers of integers, wrapped: a square and a product for each bit of the exponent. 0 for negative
 * ones, unless of 1 or −1.
 */
function power(a: Code, b: Code, u: "s" | "u", bind: Bind): Code {
  // Not constants, which would be repeated instead of bound: the loop assigns to all three.
  const fresh = (): Code => bind("v128", apply("i32x4.splat", i32Const(0)));
  const [result, factor, left] = [fresh(), fresh(), fresh()];
  const bit = apply("i32x4.ne", apply("v128.and", left, all(1)), zero);
  const taken = apply("v128.bitselect", apply("i32x4.mul", result, factor), result, bit);
  const whole = block("", "v128", [
    set(localOf(result), all(1)),
    set(localOf(factor), a),
    set(localOf(left), b),
    loop(localOf(left), [
      set(localOf(result), taken),
      set(localOf(factor), apply("i32x4.mul", factor, factor)),
      set(localOf(left), apply("i32x4.shr_u", left, i32Const(1))),
      branchIf(localOf(left), apply("v128.any_true", left)),
    ]),
    result,
  ]);
  if (u === "u") return whole;
  const unit = apply("i32x4.eq", apply("i32x4.abs", a), all(1));
  return apply("v128.and", whole, apply("v128.or", unit, apply("i32x4.ge_s", b, zero)));
}

/**
 * Between dtypes. Floats become integers by saturation with NaN as 0 (`trunc_sat`), integers of 8
 * bits are clamped after it, and integers wrap among themselves: docs/numbers.md.
 */
function convert(x: Code, from: Dtype, to: Dtype, bind: Bind): Code {
  if (from === to) return x;
  if (from === "f64") return fromDouble(x, to, bind);
  if (to === "f64") return toDouble(x, from);
  if (to === "bool") return isFloat(from) ? apply("f32x4.ne", x, zero) : apply("i32x4.ne", x, zero);
  if (isFloat(to)) {
    if (from === "bool") return apply("v128.and", x, constantCode(1, "f32"));
    const whole = to === "bf16" && (from === "i32" || from === "u32");
    const held = whole ? oddInteger(x, from === "i32") : x;
    const real = isFloat(from) ? x : apply(`f32x4.convert_i32x4_${signOf(from)}`, held);
    return halved(real, to, bind)!;
  }
  if (from === "bool") return apply("v128.and", x, all(1));
  return isFloat(from) ? wholeOf(x, to) : wrapped(x, to);
}

/** Floats without their fraction; the nearest integer where they are out of range, 0 for NaN. */
const wholeOf = (x: Code, to: Dtype): Code =>
  to === "u32"
    ? apply("i32x4.trunc_sat_f32x4_u", x)
    : clamped(apply("i32x4.trunc_sat_f32x4_s", x), to);

/** Integers of 32 bits brought to the nearest of 8. */
const clamped = (x: Code, to: Dtype): Code =>
  to === "i8" || to === "u8"
    ? apply("i32x4.min_s", apply("i32x4.max_s", x, all(minOf(to))), all(maxOf(to)))
    : x;

/**
 * An f64 becomes a half in one rounding: it is first made an f32 rounded to odd, whose last bit
 * says that something was left over.
 */
function fromDouble(x: Code, to: Dtype, bind: Bind): Code {
  if (to === "bool") return compared("ne", "f64", x, f64Const(0));
  if (to === "f32") return apply("f32x4.splat", apply("f32.demote_f64", x));
  if (isFloat(to)) return halved(oddFromDouble(x, bind), to, bind)!;
  const whole = apply(`i32.trunc_sat_f64_${to === "u32" ? "u" : "s"}`, x);
  return clamped(apply("i32x4.splat", whole), to);
}

/** Every 32-bit value is an f64 exactly; only lane 0 counts, as f64 has no lanes here. */
function toDouble(x: Code, from: Dtype): Code {
  if (isFloat(from)) return apply("f64.promote_f32", laneOp("f32x4.extract_lane", 0, x));
  const first = lane(x, 0);
  if (from === "bool") return apply("f64.convert_i32_u", apply("i32.and", first, i32Const(1)));
  return apply(`f64.convert_i32_${signOf(from)}`, first);
}
