/**
 * JavaScript as the emitter's language: constants, loads, index arithmetic that stays in int32.
 */
import { type Dtype, isFloat } from "@kiln-ml/ir";
import type { Call, Emitter, Language, Load } from "../emitter.ts";
import { conditionsText, indexText } from "../index-text.ts";
import { infixIndices } from "../infix.ts";
import { atLeast, atom, prec, type Text } from "../scope.ts";
import { isExact, spell, spellFast, type Use } from "./spell.ts";

export type Rounding = "each-op" | "on-store";

const reserved = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export " +
    "extends false finally for function if implements import in instanceof interface let new null package " +
    "private protected public return static super switch this throw true try typeof var void while with yield " +
    "Math Number Object NaN Infinity undefined Float32Array Float64Array Int32Array Uint32Array Int8Array " +
    "Uint8Array roundEven erfOf powerOf exp2 bitsToFloat floatToBits " +
    "fastExp fastTanh fastErf powerOfTwo powerBits"
  ).split(" "),
);

const binary = (a: Text, op: string, b: Text, strength: number): Text => ({
  text: `${atLeast(a, strength)} ${op} ${atLeast(b, strength + 1)}`,
  prec: strength,
  lanes: 1,
});

/** A number as JavaScript reads it back: shortest decimal of the rounded value. */
export function constantText(value: number, dtype: Dtype): Text {
  if (dtype === "bool") return atom(value ? "true" : "false");
  const v = dtype === "f32" ? Math.fround(value) : value;
  const negative = v < 0 || Object.is(v, -0);
  const text = Object.is(v, -0) ? "-0" : String(v);
  return { text, prec: negative ? prec.unary : prec.atom, lanes: 1 };
}

/** `emitter` is asked for late: it is made with this language. */
export function javascript(emitter: () => Emitter, rounding: Rounding, use: Use): Language {
  const rounds = (dtype: Dtype): boolean => rounding === "each-op" && dtype === "f32";
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
    load: (e) => loadText(emitter(), e),
    call: (e) => callText(emitter(), e, rounds, use),
    // A wide accumulator holds more than f32; as an operand it is rounded like any other op's result.
    accumulated: (name, text) => {
      const acc = emitter().facts.accs.get(name)!;
      return acc.wide && rounds(acc.dtype) ? atom(`Math.fround(${text.text})`) : text;
    },
  };
}

function allOf(conditions: readonly Text[]): Text {
  if (conditions.length === 0) return atom("true");
  return conditions.reduce((a, b) => binary(a, "&&", b, prec.and));
}

function callText(e: Emitter, c: Call, rounds: (dtype: Dtype) => boolean, use: Use): Text {
  const from = c.args[c.op === "select" ? 1 : 0]!.dtype;
  const args = c.args.map((a) => e.text(a));
  // Where every op is rounded, results have the bits of the reference, which calls Math.
  const fast = rounds("f32") || c.dtype !== "f32" ? undefined : spellFast(c.op, args, use);
  if (fast) return fast;
  const text = spell(c.op, args, from, c.dtype, use);
  return rounds(c.dtype) && !isExact(c.op) ? atom(`Math.fround(${text.text})`) : text;
}

function loadText(e: Emitter, l: Load): Text {
  const guard = conditionsText(e, l.guard);
  if (guard.text === "false") return constantText(0, l.dtype);
  const element = atom(`${e.find(l.from).text.text}[${indexText(e, l.index).text}]`);
  const value = l.dtype === "bool" ? binary(element, "!==", atom("0"), prec.equal) : element;
  if (guard.text === "true") return value;
  const none = l.dtype === "bool" ? "false" : "0";
  return {
    text: `${atLeast(guard, prec.select + 1)} ? ${value.text} : ${none}`,
    prec: prec.select,
    lanes: 1,
  };
}

/** The typed array that holds elements of `dtype`. */
export const arrayType = (dtype: Dtype): string => {
  const bits = { f64: 64, i32: 32, u32: 32, i8: 8, u8: 8, bool: 8, f32: 32, f16: 16, bf16: 16 };
  const kind = isFloat(dtype) ? "Float" : dtype[0] === "i" ? "Int" : "Uint";
  return `${kind}${bits[dtype]}Array`;
};
