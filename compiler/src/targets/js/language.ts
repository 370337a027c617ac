/**
 * JavaScript as the emitter's language: constants, loads, index arithmetic that stays in int32.
 */
import { bytesOf, type Dtype, isFloat, roundTo, symbolsIn } from "@kiln-ml/ir";
import type { Expr } from "../../kernel/kernel.ts";
import type { Emitter } from "../emitter.ts";
import { conditionsText, indexText } from "../index-text.ts";
import { infixIndices } from "../infix.ts";
import { atLeast, atom, prec, type Text } from "../scope.ts";
import type { Call, Language, Load } from "../target-language.ts";
import { preludeNames } from "./prelude.ts";
import { isExact, spell, spellFast, type Use } from "./spell.ts";

export type Rounding = "each-op" | "on-store";

/** Keywords, and what emitted text takes from around it; the prelude's names are the prelude's own. */
const words =
  "arguments await break case catch class const continue debugger default delete do else enum eval export " +
  "extends false finally for function if implements import in instanceof interface let new null package " +
  "private protected public return static super switch this throw true try typeof var void while with yield " +
  "Math Number Object NaN Infinity undefined Float32Array Float64Array Int32Array Uint32Array Int8Array " +
  "Uint8Array Uint16Array BigInt64Array";

export const reserved: ReadonlySet<string> = new Set([...words.split(" "), ...preludeNames]);

const binary = (a: Text, op: string, b: Text, strength: number): Text => ({
  text: `${atLeast(a, strength)} ${op} ${atLeast(b, strength + 1)}`,
  prec: strength,
  lanes: 1,
});

/** A number as JavaScript reads it back: shortest decimal of the rounded value. */
export function constantText(value: number, dtype: Dtype): Text {
  if (dtype === "bool") return atom(value ? "true" : "false");
  const v = isFloat(dtype) ? roundTo(dtype, value) : value;
  const negative = v < 0 || Object.is(v, -0);
  const text = Object.is(v, -0) ? "-0" : String(v);
  return { text, prec: negative ? prec.unary : prec.atom, lanes: 1 };
}

/** `emitter` is asked for late: it is made with this language. */
export function javascript(emitter: () => Emitter, rounding: Rounding, use: Use): Language {
  return {
    ...infixIndices("===", true),
    reserved,
    declare: (name, value) => `const ${name} = ${value.text};`,
    constant: constantText,
    all: allOf,
    divide: (a, b, nonnegative) =>
      nonnegative
        ? binary(atom(`(${binary(a, "/", b, prec.mul).text})`), "|", atom("0"), prec.bitOr)
        : atom(`Math.floor(${binary(a, "/", b, prec.mul).text})`),
    remainder: (a, b, nonnegative) => {
      const r = binary(a, "%", b, prec.mul);
      return nonnegative ? r : binary(binary(r, "+", b, prec.add), "%", b, prec.mul);
    },
    pick: (which, a, b) => atom(`Math.${which}(${a.text}, ${b.text})`),
    index: (value) => indexText(emitter(), value),
    test: (conditions) => conditionsText(emitter(), conditions),
    load: (e) => loadText(emitter(), e, use),
    call: (e) => callText(emitter(), e, rounding, use),
    holdsMore: true,
    // A wide accumulator holds more than its dtype; as an operand it is rounded like any other op's
    // result.
    accumulated: (name, text) => {
      const acc = emitter().facts.accs.get(name)!;
      return acc.wide ? rounded(text, acc.dtype, rounding, use) : text;
    },
  };
}

const halves: Readonly<Record<string, string>> = { f16: "F16", bf16: "Bf16" };

/**
 * The result of an op in its dtype. f16 and bf16 are rounded where they are made, f32 only if every
 * op is to be.
 */
export function rounded(t: Text, dtype: Dtype, rounding: Rounding, use: Use): Text {
  const half = halves[dtype];
  if (half) return atom(`${use(`round${half}`)}(${t.text})`);
  return dtype === "f32" && rounding === "each-op" ? atom(`Math.fround(${t.text})`) : t;
}

/** Whether a buffer holds its numbers as 16 bits; arrays inside a kernel hold them as f32. */
const isPacked = (e: Emitter, name: string): boolean =>
  e.kernel.params.some((p) => p.name === name);

/** A value as a buffer or array holds it. */
export function storedText(e: Emitter, to: string, value: Text, use: Use): string {
  const dtype = e.facts.dtypes.get(to)!;
  if (dtype === "bool") return `${atLeast(value, prec.select + 1)} ? 1 : 0`;
  const half = halves[dtype];
  if (!half || !isPacked(e, to)) return value.text;
  // The bits are rounded as they are made.
  const inner = new RegExp(`^round${half}\\(([^()]*)\\)$`).exec(value.text);
  return `${use(`to${half}`)}(${inner ? inner[1] : value.text})`;
}

function allOf(conditions: readonly Text[]): Text {
  if (conditions.length === 0) return atom("true");
  return conditions.reduce((a, b) => binary(a, "&&", b, prec.and));
}

/** Ops whose result jumps, and is a whole number, as an operand passes a number. */
const steps: ReadonlySet<string> = new Set("floor ceil round trunc sign".split(" "));

/** All whose result jumps: a remainder at multiples, a power of what is negative at whole numbers. */
const jumping: ReadonlySet<string> = new Set(
  "less lessEqual greater greaterEqual equal notEqual isFinite rem pow".split(" ").concat(...steps),
);

/** A conversion jumps too, and one to f64 shows digits, but halves are rounded as well. */
const jumps = ({ op, dtype }: Call): boolean =>
  jumping.has(op) || (op === "convert" && (!isFloat(dtype) || dtype === "f64"));

function callText(e: Emitter, c: Call, wanted: Rounding, use: Use): Text {
  const rounding = isUniform(e, c) ? "each-op" : wanted;
  const from = c.args[c.op === "select" ? 1 : 0]!.dtype;
  const held = rounding === "on-store" && jumps(c);
  const args = c.args.map((a) => (held ? heldText(e, a, use) : e.text(a)));
  // Where every op is rounded, results have the bits of the reference, which calls Math.
  const fast = rounding === "each-op" || c.dtype !== "f32" ? undefined : spellFast(c.op, args, use);
  const text = fast ?? spell(c.op, args, from, c.dtype, use);
  if (c.stored && !isHeld(c)) return rounded(text, c.dtype, "each-op", use);
  return fast || isExact(c.op) ? text : rounded(text, c.dtype, rounding, use);
}

/**
 * An operand as memory holds it. Two values that are one there may differ in what a double holds
 * beyond, such as x and the stored maximum(x, 0), and none is less than itself.
 */
export function heldText(e: Emitter, x: Expr, use: Use): Text {
  const text = e.text(x);
  const isRounded = (c: Call): boolean =>
    steps.has(c.op) || (c.op === "convert" && c.args[0]!.dtype !== "f32");
  const made = x.kind === "call" && (x.stored || isRounded(x));
  const held = x.kind === "const" || x.kind === "load" || made;
  return x.dtype === "f32" && !held ? rounded(text, "f32", "each-op", use) : text;
}

/** Of a conversion to f32: whether no digit is lost, so that it is what memory holds. */
const isHeld = ({ op, args: [x] }: Call): boolean => op === "convert" && bytesOf(x!.dtype) < 4;

/**
 * What follows from dims and constants alone is rounded at every op: it is folded to such numbers
 * where the dims are static, and a program has the same bits whether they are or not. It costs
 * nothing, being computed outside all loops.
 */
function isUniform(e: Emitter, c: Expr): boolean {
  if (c.kind === "const") return true;
  if (c.kind === "index")
    return [...symbolsIn(c.value).keys()].every((s) => e.kernel.dims.includes(s));
  if (c.kind !== "call") return false;
  // Arguments are shared: unless each is asked once, a hash of constants takes forever.
  const found = uniform.get(c) ?? c.args.every((a) => isUniform(e, a));
  uniform.set(c, found);
  return found;
}

/** Whether a call is uniform in the one kernel that it belongs to. */
const uniform = new WeakMap<Expr, boolean>();

function loadText(e: Emitter, l: Load, use: Use): Text {
  const guard = conditionsText(e, l.guard);
  if (guard.text === "false") return constantText(0, l.dtype);
  const element = atom(`${e.find(l.from).text.text}[${indexText(e, l.index).text}]`);
  const half = isPacked(e, l.from) ? halves[e.facts.dtypes.get(l.from)!] : undefined;
  const number = half ? atom(`${use(`from${half}`)}(${element.text})`) : element;
  const value = l.dtype === "bool" ? binary(number, "!==", atom("0"), prec.equal) : number;
  if (guard.text === "true") return value;
  const none = l.dtype === "bool" ? "false" : "0";
  return {
    text: `${atLeast(guard, prec.select + 1)} ? ${value.text} : ${none}`,
    prec: prec.select,
    lanes: 1,
  };
}

/** The typed array that holds elements of `dtype` inside a kernel. */
export const arrayType = (dtype: Dtype): string => {
  const bits = { f64: 64, i32: 32, u32: 32, i8: 8, u8: 8, bool: 8, f32: 32, f16: 32, bf16: 32 };
  const kind = isFloat(dtype) ? "Float" : dtype[0] === "i" ? "Int" : "Uint";
  return `${kind}${bits[dtype]}Array`;
};
