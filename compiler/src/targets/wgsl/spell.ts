/**
 * How WGSL spells the elementwise ops, for one lane or a vector of them. bool is bool inside
 * expressions; i8 and u8 are i32 and u32, wrapped after each op. Comparisons are only ever printed
 * with `<`, so that no pair of `<` and `>` can be read as a template list (WGSL 3.9).
 */
import {
  type Dtype,
  DtypeError,
  isFloat,
  isInteger,
  maxOf,
  minOf,
  type OpRecord,
  opRecord,
} from "@kiln-ml/ir";
import { atLeast, atom, prec, type Text } from "../scope.ts";
import { prelude } from "./prelude.ts";

/** Names a function of the prelude as used at a width and returns its name. */
export type Use = (name: string, lanes: number) => string;
type Spelling = (x: readonly Text[], from: Dtype, to: Dtype, use: Use) => Text;

/** The type of a value in expressions. */
export function scalarType(dtype: Dtype): string {
  if (dtype === "f32" || dtype === "bool") return dtype;
  if (dtype === "f16" || dtype === "bf16") return "f32";
  if (dtype === "i32" || dtype === "i8") return "i32";
  if (dtype === "u32" || dtype === "u8") return "u32";
  throw new DtypeError(`emit: no ${dtype} on target webgpu`);
}
export const typeOf = (dtype: Dtype, lanes: number): string =>
  lanes === 1 ? scalarType(dtype) : `vec${lanes}<${scalarType(dtype)}>`;

/** `t` with `lanes` lanes. */
export const splat = (t: Text, dtype: Dtype, lanes: number): Text =>
  t.lanes === lanes ? t : atom(`${typeOf(dtype, lanes)}(${t.text})`, lanes);

const lanesOf = (x: readonly Text[]): number => Math.max(...x.map((t) => t.lanes));
const call = (name: string, x: readonly Text[], lanes = lanesOf(x)): Text =>
  atom(`${name}(${x.map((t) => t.text).join(", ")})`, lanes);

const builtin =
  (name: string): Spelling =>
  (x) =>
    call(name, x);
const own =
  (name: string): Spelling =>
  (x, _from, _to, use) =>
    call(use(name, lanesOf(x)), x);
/** `operands`: the least strength WGSL's grammar allows beside the operator. */
const infix =
  (op: string, strength: number, left: number, right: number): Spelling =>
  ([a, b]) => ({
    text: `${atLeast(a!, left)} ${op} ${atLeast(b!, right)}`,
    prec: strength,
    lanes: lanesOf([a!, b!]),
  });
const sum = (op: string): Spelling => infix(op, prec.add, prec.add, prec.add + 1);
const product = (op: string): Spelling => infix(op, prec.mul, prec.mul, prec.unary);
const bits = (op: string): Spelling => infix(op, prec.bitOr, prec.unary, prec.unary);
const comparison = (op: string): Spelling => infix(op, prec.compare, prec.add, prec.add);
const flipped =
  (op: string): Spelling =>
  ([a, b], from, to, use) =>
    comparison(op)([b!, a!], from, to, use);
const prefix =
  (op: string): Spelling =>
  ([a]) => ({ text: `${op}${atLeast(a!, prec.atom)}`, prec: prec.unary, lanes: a!.lanes });

/** Brings an i8 or u8 result back into range. */
export function wrapped(t: Text, dtype: Dtype): Text {
  const u = (n: string): string => (t.lanes === 1 ? n : `vec${t.lanes}<u32>(${n})`);
  if (dtype === "u8")
    return { text: `${atLeast(t, prec.unary)} & ${u("255u")}`, prec: prec.bitAnd, lanes: t.lanes };
  if (dtype === "i8")
    return atom(`((${atLeast(t, prec.unary)} << ${u("24u")}) >> ${u("24u")})`, t.lanes);
  return t;
}
const narrowed =
  (spell: Spelling): Spelling =>
  (x, from, to, use) =>
    wrapped(spell(x, from, to, use), to);

const byKind =
  (float: Spelling, int: Spelling, uint: Spelling = int): Spelling =>
  (x, from, to, use) =>
    (isFloat(from) ? float : from[0] === "u" ? uint : int)(x, from, to, use);
/** Built as ¬(a = b): some devices find NaN not unequal to anything. */
const unequal: Spelling = (x, from, to, use) => {
  const equal = comparison("==")(x, from, to, use);
  return { text: `!(${equal.text})`, prec: prec.unary, lanes: equal.lanes };
};
const same: Spelling = (x) => x[0]!;
const never: Spelling = () => atom("false");
const always: Spelling = () => atom("true");

/**
 * In parentheses whatever is around it: a `>` must not meet a `<` at its own level. By a function
 * unless the count is known to fit.
 */
const shift =
  (op: string, safe: string): Spelling =>
  (x, from, to, use) => {
    const [a, b] = x;
    const lanes = lanesOf(x);
    if (!/^(vec\d<[iu]32>\()?([0-9]|[12][0-9]|3[01])u?\)?$/.test(b!.text)) {
      const whole = own(`${safe}${from[0] === "u" ? "Uint" : "Int"}`)(x, from, to, use);
      return op === "<<" ? wrapped(whole, to) : whole;
    }
    const amount = `${lanes === 1 ? "u32" : `vec${lanes}<u32>`}(${b!.text})`;
    const text = atom(`(${atLeast(a!, prec.unary)} ${op} ${amount})`, lanes);
    return op === "<<" ? wrapped(text, to) : text;
  };

const convert: Spelling = (x, from, to, use) => {
  const odd = to === "bf16" && (from === "i32" ? "oddInt" : from === "u32" ? "oddUint" : "");
  const a = odd ? call(use(odd, x[0]!.lanes), x) : x[0]!;
  if (scalarType(from) === scalarType(to)) return from === to ? a : wrapped(a, to);
  if (!isFloat(from) || !isInteger(to)) return wrapped(call(typeOf(to, a.lanes), [a]), to);
  const unsigned = scalarType(to) === "u32";
  const whole = call(use(unsigned ? "wholeUint" : "wholeInt", a.lanes), [a]);
  if (to === "i32" || to === "u32") return whole;
  const bound = (n: number): Text => splat(atom(unsigned ? `${n}u` : `${n}`), to, a.lanes);
  return call("clamp", [whole, bound(minOf(to)), bound(maxOf(to))]);
};
const bitcast: Spelling = (x, from, to, use) => {
  // Two halves: no other dtype has 16 bits.
  if (from === "f16") return own("fromBf16")([own("toF16")(x, from, to, use)], from, to, use);
  if (from === "bf16") return own("fromF16")([own("toBf16")(x, from, to, use)], from, to, use);
  return scalarType(from) === scalarType(to)
    ? wrapped(x[0]!, to)
    : wrapped(call(`bitcast<${typeOf(to, x[0]!.lanes)}>`, x), to);
};

const one = (x: readonly Text[]): string =>
  x[0]!.lanes === 1 ? "1.0" : `vec${x[0]!.lanes}<f32>(1.0)`;
const abs: Spelling = byKind(builtin("abs"), narrowed(builtin("abs")), same);

// biome-ignore format: one op a row
const spellings: Readonly<Record<string, Spelling>> = {
  neg:          byKind(prefix("-"), narrowed(prefix("-")), narrowed((x, f, t, use) => sum("-")([splat(atom("0u"), f, x[0]!.lanes), x[0]!], f, t, use))),
  abs,
  sign:         byKind(own("signOf"), builtin("sign"), (x, f) => call("min", [x[0]!, splat(atom("1u"), f, x[0]!.lanes)])),
  floor:        byKind(builtin("floor"), same),
  ceil:         byKind(builtin("ceil"), same),
  trunc:        byKind(builtin("trunc"), same),
  round:        byKind(builtin("round"), same),
  exp:          own("expOf"),
  expm1:        own("expm1"),
  log:          own("logOf"),
  log1p:        own("log1p"),
  sqrt:         builtin("sqrt"),
  rsqrt:        builtin("inverseSqrt"),
  reciprocal:   (x) => ({ text: `${one(x)} / ${atLeast(x[0]!, prec.unary)}`, prec: prec.mul, lanes: x[0]!.lanes }),
  sin:          own("sinOf"),
  cos:          own("cosOf"),
  tan:          own("tanOf"),
  asin:         own("asinOf"),
  acos:         own("acosOf"),
  atan:         own("atanOf"),
  sinh:         own("sinhOf"),
  cosh:         own("coshOf"),
  asinh:        own("asinhOf"),
  acosh:        own("acoshOf"),
  atanh:        own("atanhOf"),
  tanh:         own("tanhOf"),
  sigmoid:      own("sigmoid"),
  erf:          own("erf"),
  isNan:        byKind(own("isNan"), never),
  isFinite:     byKind(own("isFinite"), always),
  not:          prefix("!"),
  bitwiseNot:   narrowed(prefix("~")),
  add:          narrowed(sum("+")),
  sub:          narrowed(sum("-")),
  mul:          narrowed(product("*")),
  div:          byKind(product("/"), narrowed(own("divInt")), own("divUint")),
  rem:          byKind(own("remOf"), own("remInt"), own("remUint")),
  pow:          byKind(own("powOf"), narrowed(own("powInt")), narrowed(own("powUint"))),
  atan2:        own("atan2Of"),
  maximum:      byKind(own("maximum"), builtin("max")),
  minimum:      byKind(own("minimum"), builtin("min")),
  and:          bits("&"),
  or:           bits("|"),
  xor:          (x, f, t, use) => (f === "bool" ? comparison("!=")(x, f, t, use) : bits("^")(x, f, t, use)),
  shiftLeft:    shift("<<", "shiftLeft"),
  shiftRight:   shift(">>", "shiftRight"),
  equal:        comparison("=="),
  notEqual:     byKind(unequal, comparison("!=")),
  less:         comparison("<"),
  lessEqual:    comparison("<="),
  greater:      flipped("<"),
  greaterEqual: flipped("<="),
  select:       ([c, a, b]) => call("select", [b!, a!, c!]),
  convert,
  bitcast,
};

/** bool compares by == and != only in WGSL; the order false < true is spelled out. */
function spellBool(op: string, [a, b]: readonly Text[], use: Use): Text | undefined {
  const not = (t: Text): Text => prefix("!")([t], "bool", "bool", use);
  const pair = (o: string, x: Text, y: Text): Text => bits(o)([x, y], "bool", "bool", use);
  if (op === "less") return pair("&", not(a!), b!);
  if (op === "greater") return pair("&", not(b!), a!);
  if (op === "lessEqual") return pair("|", not(a!), b!);
  if (op === "greaterEqual") return pair("|", not(b!), a!);
  return undefined;
}

/**
 * What stands for the operands while a record's text is made WGSL: what they call is named already.
 */
const operand = (i: number): string => `$${i}`;

/**
 * C text of a record as WGSL, at a width: the functions it calls are those of the prelude, where
 * that has them, or built in.
 */
function fromC(record: NonNullable<OpRecord["spell"]>, x: readonly Text[], use: Use): string {
  const lanes = lanesOf(x);
  const text = record(...x.map((_, i) => operand(i)));
  const named = text.replace(/(?<![\w.$])[a-z]\w*(?=\()/g, (name) => {
    const own = [`${name}Of`, name].find((n) => Object.hasOwn(prelude, n));
    return own ? use(own, lanes) : name;
  });
  return named.replace(/\$(\d+)/g, (_, i) => x[Number(i)]!.text);
}

/** The text of an elementwise op; operands of fewer lanes are repeated. */
export function spell(
  op: string,
  x: readonly Text[],
  dtypes: readonly Dtype[],
  to: Dtype,
  use: Use,
) {
  const lanes = lanesOf(x);
  const wide = x.map((t, i) => splat(t, dtypes[i]!, lanes));
  const from = dtypes[op === "select" ? 1 : 0]!;
  const bool = from === "bool" ? spellBool(op, wide, use) : undefined;
  if (bool) return bool;
  const spelling = spellings[op];
  if (spelling) return spelling(wide, from, to, use);
  const record = opRecord(op);
  if (record.spell) return atom(fromC(record.spell, wide, use), lanes);
  throw new DtypeError(`${op}: has no spelling on target webgpu`);
}
