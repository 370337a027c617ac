/**
 * How JavaScript spells the elementwise ops. Values of bool are booleans inside expressions,
 * integers stay in the range of their dtype after every op, floats are doubles that `round` may
 * bring back to f32.
 */
import { type Dtype, DtypeError, isFloat, opRecord } from "@kiln-ml/ir";
import { atLeast, atom, prec, type Text } from "../scope.ts";

/** The text of an op of arguments `x`; `from` is their dtype, `to` the dtype of the result. */
type Spelling = (x: readonly Text[], from: Dtype, to: Dtype, use: Use) => Text;
/** Names a function of the prelude as used and returns its name. */
export type Use = (name: string) => string;

const infix =
  (op: string, strength: number): Spelling =>
  ([a, b]) => ({
    text: `${atLeast(a!, strength)} ${op} ${atLeast(b!, strength + 1)}`,
    prec: strength,
    lanes: 1,
  });
const call = (name: string, x: readonly Text[]): Text =>
  atom(`${name}(${x.map((a) => a.text).join(", ")})`);
const math =
  (name: string): Spelling =>
  (x) =>
    call(`Math.${name}`, x);
/**
 * The operand stands in parentheses if it is an operation at all: few remember how `|` and `>>>`
 * bind.
 */
const postfix = (t: Text, op: string, strength: number): Text => ({
  text: `${atLeast(t, prec.unary)} ${op}`,
  prec: strength,
  lanes: 1,
});

/** Brings an integer result back into the range of its dtype. */
export function wrapped(t: Text, dtype: Dtype): Text {
  if (dtype === "i32") return postfix(t, "| 0", prec.bitOr);
  if (dtype === "u32") return postfix(t, ">>> 0", prec.shift);
  if (dtype === "u8") return postfix(t, "& 255", prec.bitAnd);
  if (dtype === "i8") return postfix(postfix(t, "<< 24", prec.shift), ">> 24", prec.shift);
  return t;
}

const arithmetic =
  (op: string, strength: number): Spelling =>
  (x, from, to, use) =>
    wrapped(infix(op, strength)(x, from, to, use), to);

/** Bits on integers, logic on bool. */
const bitwise =
  (bits: string, bitStrength: number, logic: string, logicStrength: number): Spelling =>
  (x, from, to, use) =>
    from === "bool"
      ? infix(logic, logicStrength)(x, from, to, use)
      : wrapped(infix(bits, bitStrength)(x, from, to, use), to === "u32" ? "u32" : "f64");

const minus = (t: Text): Text => ({
  text: `-${atLeast(t, prec.unary + 1)}`,
  prec: prec.unary,
  lanes: 1,
});
const integer =
  (spell: (a: Text, b: Text) => Text): Spelling =>
  (x, _from, to) =>
    wrapped(spell(x[0]!, x[1]!), to);
const same: Spelling = (x) => x[0]!;
const binary = (op: string, strength: number) => (a: Text, b: Text) =>
  infix(op, strength)([a, b], "f64", "f64", String);

const quotient: Spelling = (x, from, to, use) =>
  isFloat(to)
    ? infix("/", prec.mul)(x, from, to, use)
    : integer(binary("/", prec.mul))(x, from, to, use);

/** Integers of 8 bits and, to f32, halves are held exactly. */
const fitsIn = (from: Dtype, to: Dtype): boolean =>
  from === "u8" || from === "i8" || (to === "f32" && (from === "f16" || from === "bf16"));

const convert: Spelling = (x, from, to, use) => {
  const a = x[0]!;
  if (from === to) return a;
  if (to === "bool") return binary("!==", prec.equal)(a, atom("0"));
  if (from === "bool")
    return { text: `${atLeast(a, prec.select + 1)} ? 1 : 0`, prec: prec.select, lanes: 1 };
  if (to === "f64" || (isFloat(to) && fitsIn(from, to))) return a;
  if (to === "f32") return call("Math.fround", x);
  if (to === "f16") return call(use("roundF16"), x);
  if (to === "bf16") return call(use("roundBf16"), x);
  if (isFloat(from)) return call(use(wholeOf[to]!), x);
  return wrapped(a, to);
};

/** What brings a float to an integer dtype. */
const wholeOf: { readonly [K in Dtype]?: string } = {
  i32: "toI32",
  u32: "toU32",
  i8: "toI8",
  u8: "toU8",
};

const bitcast: Spelling = (x, from, to, use) => {
  // Two halves: no other dtype has 16 bits.
  if (from === "f16") return call(use("fromBf16"), [call(use("toF16"), x)]);
  if (from === "bf16") return call(use("fromF16"), [call(use("toBf16"), x)]);
  if (to === "f32") return call(use("bitsToFloat"), x);
  if (from === "f32") return wrapped(call(use("floatToBits"), x), to === "u32" ? "u32" : "f64");
  return wrapped(x[0]!, to);
};

/** JavaScript counts modulo 32. */
const shift =
  (op: string, safe: string): Spelling =>
  (x, from, to, use) => {
    const known = /^\d+$/.test(x[1]!.text) && Number(x[1]!.text) < 32;
    const t = known ? infix(op, prec.shift)(x, from, to, use) : call(use(safe), x);
    return to === "i32" ? t : wrapped(t, to);
  };

// biome-ignore format: one op a row
const spellings: Readonly<Record<string, Spelling>> = {
  neg:          (x, _f, to) => wrapped(minus(x[0]!), to),
  abs:          (x, _f, to) => (to === "u32" || to === "u8" ? x[0]! : wrapped(call("Math.abs", x), to)),
  sign:         math("sign"),
  floor:        (x, f, to, use) => (isFloat(to) ? math("floor") : same)(x, f, to, use),
  ceil:         (x, f, to, use) => (isFloat(to) ? math("ceil") : same)(x, f, to, use),
  trunc:        (x, f, to, use) => (isFloat(to) ? math("trunc") : same)(x, f, to, use),
  round:        (x, _f, to, use) => (isFloat(to) ? call(use("roundEven"), x) : x[0]!),
  exp:          math("exp"),
  expm1:        math("expm1"),
  log:          math("log"),
  log1p:        math("log1p"),
  sqrt:         math("sqrt"),
  rsqrt:        (x) => binary("/", prec.mul)(atom("1"), call("Math.sqrt", x)),
  reciprocal:   (x) => binary("/", prec.mul)(atom("1"), x[0]!),
  sin:          math("sin"),
  cos:          math("cos"),
  tan:          math("tan"),
  asin:         math("asin"),
  acos:         math("acos"),
  atan:         math("atan"),
  sinh:         math("sinh"),
  cosh:         math("cosh"),
  asinh:        math("asinh"),
  acosh:        math("acosh"),
  atanh:        math("atanh"),
  tanh:         math("tanh"),
  sigmoid:      (x) => binary("/", prec.mul)(atom("1"), binary("+", prec.add)(atom("1"), call("Math.exp", [minus(x[0]!)]))),
  erf:          (x, _f, _t, use) => call(use("erfOf"), x),
  isNan:        (x) => call("Number.isNaN", x),
  isFinite:     (x) => call("Number.isFinite", x),
  not:          (x) => ({ text: `!${atLeast(x[0]!, prec.unary)}`, prec: prec.unary, lanes: 1 }),
  bitwiseNot:   (x, _f, to) => wrapped({ text: `~${atLeast(x[0]!, prec.unary)}`, prec: prec.unary, lanes: 1 }, to === "i32" || to === "i8" ? "f64" : to),
  add:          arithmetic("+", prec.add),
  sub:          arithmetic("-", prec.add),
  mul:          (x, f, to, use) => (isFloat(to) ? infix("*", prec.mul)(x, f, to, use) : wrapped(call("Math.imul", x), to === "i32" ? "f64" : to)),
  div:          quotient,
  rem:          arithmetic("%", prec.mul),
  pow:          (x, _f, to, use) => (isFloat(to) ? call(use("powerOf"), x) : wrapped(call(use("integerPower"), x), to)),
  atan2:        math("atan2"),
  maximum:      math("max"),
  minimum:      math("min"),
  and:          bitwise("&", prec.bitAnd, "&&", prec.and),
  or:           bitwise("|", prec.bitOr, "||", prec.or),
  xor:          bitwise("^", prec.bitXor, "!==", prec.equal),
  shiftLeft:    shift("<<", "leftBy"),
  shiftRight:   (x, f, to, use) => (to === "u32" || to === "u8" ? shift(">>>", "rightByU") : shift(">>", "rightBy"))(x, f, to, use),
  equal:        infix("===", prec.equal),
  notEqual:     infix("!==", prec.equal),
  less:         infix("<", prec.compare),
  lessEqual:    infix("<=", prec.compare),
  greater:      infix(">", prec.compare),
  greaterEqual: infix(">=", prec.compare),
  select:       ([c, a, b]) => ({ text: `${atLeast(c!, prec.select + 1)} ? ${atLeast(a!, prec.select + 1)} : ${atLeast(b!, prec.select)}`, prec: prec.select, lanes: 1 }),
  convert,
  bitcast,
};

/** Spellings good to an f32 only, for values that are not rounded before they are stored. */
export function spellFast(op: string, x: readonly Text[], use: Use): Text | undefined {
  if (op === "exp") return call(use("fastExp"), x);
  if (op === "tanh") return call(use("fastTanh"), x);
  if (op === "erf") return call(use("fastErf"), x);
  if (op !== "sigmoid") return undefined;
  const power = call(use("fastExp"), [minus(x[0]!)]);
  return binary("/", prec.mul)(atom("1"), binary("+", prec.add)(atom("1"), power));
}

/** Ops whose result needs no rounding when their operands are f32 values already. */
const exact = new Set(
  "neg abs sign floor ceil round trunc maximum minimum select bitcast convert rem".split(" "),
);
export const isExact = (op: string): boolean => exact.has(op);

/** Functions of C that Math lacks and the prelude has. */
const lacking = new Set(["exp2"]);

/** C text of a record as JavaScript: the functions it calls are those of Math or of the prelude. */
const fromC = (text: string, use: Use): string =>
  text.replace(/(?<![\w.$])[a-z]\w*(?=\()/g, (name) => {
    if (lacking.has(name)) return use(name);
    return name in Math ? `Math.${name}` : name;
  });

/** The text of an elementwise op, before rounding. */
export function spell(op: string, x: readonly Text[], from: Dtype, to: Dtype, use: Use): Text {
  const spelling = spellings[op];
  if (spelling) return spelling(x, from, to, use);
  const record = opRecord(op);
  if (record.infix) return infix(record.infix, prec.select + 1)(x, from, to, use);
  if (record.spell) return atom(fromC(record.spell(...x.map((a) => a.text)), use));
  throw new DtypeError(`${op}: has no spelling on target js`);
}
