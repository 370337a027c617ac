/**
 * WGSL as the emitter's language: constants, loads and stores at the width of their buffer, and the
 * lanes of a vector loop.
 */
import {
  type Condition,
  type Dim,
  type Dtype,
  floorDiv,
  modDim,
  roundTo,
  subDim,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";
import type { Emitter } from "../emitter.ts";
import { conditionsText, indexText, placeText } from "../index-text.ts";
import { infixIndices } from "../infix.ts";
import { atLeast, atom, openScope, prec, setValue, type Text } from "../scope.ts";
import type { Call, Language, Load } from "../target-language.ts";
import { isCombineName } from "./combine.ts";
import { fourOf, oneOf } from "./eights.ts";
import { halfOf, loadHalf, packedHalf, rounded, storeHalf } from "./half.ts";
import { narrowType, splatNarrow, widened } from "./native-half.ts";
import { reserved } from "./reserved.ts";
import { scalarType, spell, splat, typeOf, type Use } from "./spell.ts";

/** The printer's view of the kernel: what is being printed, and the vector loop it stands in. */
export interface Printer {
  readonly e: Emitter;
  readonly use: Use;
  /** Of parameters, and of arrays once they are declared. */
  readonly widths: Map<string, number>;
  /** Vectors in each part of an array that has parts. */
  readonly parts: Map<string, number>;
  /** Buffers of halves that are read eight at a time. */
  readonly eights: ReadonlySet<string>;
  /** Loads of whole vectors, of which components are used. */
  readonly vectors: Set<Load>;
  /** Whether the device has f16. */
  readonly native: boolean;
  /** Buffers, arrays and variables whose elements are f16. */
  readonly narrow: Set<string>;
  vector: { readonly name: string; readonly lanes: number } | undefined;
}

const binary = (a: Text, op: string, b: Text, strength: number): Text => ({
  text: `${atLeast(a, strength)} ${op} ${atLeast(b, strength + 1)}`,
  prec: strength,
  lanes: 1,
});

/** `p` is asked for late: its emitter is made with this language. */
export function wgsl(p: () => Printer): Language {
  return {
    ...infixIndices("==", false),
    reserved: { has: (name) => reserved.has(name) || isCombineName(name) },
    declare: (name, value) => `let ${name} = ${value.text};`,
    constant: (value, dtype) => constantText(value, dtype, p().use),
    all: allOf,
    // WGSL division truncates; below zero one less is right where a remainder is left.
    divide: (a, b, nonnegative) =>
      nonnegative
        ? binary(a, "/", b, prec.mul)
        : atom(
            `(${binary(a, "-", floorRemainder(a, b), prec.add).text}) / ${atLeast(b, prec.unary)}`,
          ),
    remainder: (a, b, nonnegative) =>
      nonnegative ? binary(a, "%", b, prec.mul) : floorRemainder(a, b),
    pick: (which, a, b) => atom(`${which}(${a.text}, ${b.text})`),
    index: (value) => (varies(p(), value) ? lanesOfIndex(p(), value) : indexText(p().e, value)),
    test: (conditions) => testText(p(), conditions),
    load: (e) => loadText(p(), e, false),
    call: (e) => callText(p(), e),
    // A half's sums are kept in f32.
    accumulated: (name, text) => {
      const acc = p().e.facts.accs.get(name)!;
      if (p().narrow.has(name)) return widened(p(), name, text);
      return acc.wide ? rounded(p(), text, acc.dtype) : text;
    },
  };
}

function floorRemainder(a: Text, b: Text): Text {
  const d = atLeast(b, prec.unary);
  return atom(`((${atLeast(a, prec.mul)} % ${d} + ${d}) % ${d})`);
}

/**
 * A conjunction with `&`, which evaluates both sides: they are cheap and have no effects, whereas
 * `&&` is control flow, one branch a condition, for which software adapters take minutes to build a
 * pipeline.
 */
function allOf(conditions: readonly Text[]): Text {
  if (conditions.length === 0) return atom("true");
  return conditions.reduce((a, b) => ({
    text: `${a.prec === prec.bitAnd ? a.text : atLeast(a, prec.unary)} & ${atLeast(b, prec.unary)}`,
    prec: prec.bitAnd,
    lanes: 1,
  }));
}

/** The shortest decimal that reads back as the same f32; NaN and ±∞ come from functions. */
export function constantText(value: number, dtype: Dtype, use: Use): Text {
  if (dtype === "bool") return atom(value ? "true" : "false");
  if (dtype === "u32" || dtype === "u8") return atom(`${value}u`);
  if (scalarType(dtype) === "i32") return signed(String(value), value < 0);
  const v = roundTo(halfOf(dtype) ? dtype : "f32", value);
  if (Number.isNaN(v)) return atom(`${use("nan", 1)}()`);
  if (!Number.isFinite(v)) return signed(`${v < 0 ? "-" : ""}${use("infinity", 1)}()`, v < 0);
  const negative = v < 0 || Object.is(v, -0);
  const digits = shortest(Math.abs(v));
  return signed(`${negative ? "-" : ""}${/[.e]/.test(digits) ? digits : `${digits}.0`}`, negative);
}

const signed = (text: string, negative: boolean): Text => ({
  text,
  prec: negative ? prec.unary : prec.atom,
  lanes: 1,
});

function shortest(v: number): string {
  // Near the largest f32 a shorter decimal may be read as too large.
  for (let digits = 1; digits <= 9 && v < 3.4e38; digits++) {
    const text = String(Number(v.toPrecision(digits)));
    if (Math.fround(Number(text)) === v) return text;
  }
  return String(v);
}

function callText(p: Printer, c: Call): Text {
  const dtypes = c.args.map((a) => a.dtype);
  const constant = c.args.every((a) => a.kind === "const");
  const args = c.args.map((a, i) => {
    const text = p.e.text(a);
    const divisor = i === 1 && (c.op === "div" || c.op === "rem");
    return a.kind === "const" && (constant || divisor) ? hidden(p, text, a.dtype) : text;
  });
  return rounded(p, spell(c.op, args, dtypes, c.dtype, p.use), c.dtype, c.op);
}

/**
 * A constant operand made opaque: constant evaluation turns overflow and division by 0 into errors.
 */
function hidden(p: Printer, text: Text, dtype: Dtype): Text {
  const type = scalarType(dtype);
  if (type === "bool") return text;
  const name = type === "f32" ? "given" : type === "i32" ? "givenInt" : "givenUint";
  return atom(`${p.use(name, 1)}(${text.text})`);
}

/** Whether the lanes of the vector loop differ in `d`. */
export function varies(p: Printer, d: Dim): boolean {
  return p.vector !== undefined && symbolsIn(p.e.resolved(d)).has(p.vector.name);
}

/** `print` for each lane, the loop variable being its number. */
export function eachLane(p: Printer, print: (lane: number) => Text): Text[] {
  const { name, lanes } = p.vector!;
  return Array.from({ length: lanes }, (_, lane) => {
    const outer = p.e.scope;
    const inner = openScope(outer, { lines: outer.lines });
    setValue(inner, name, lane);
    p.e.scope = inner;
    const text = print(lane);
    p.e.scope = outer;
    return text;
  });
}

const lanesOf = (parts: readonly Text[], type: string): Text =>
  atom(`${type}(${parts.map((t) => t.text).join(", ")})`, parts.length);

export const composed = (parts: readonly Text[], dtype: Dtype): Text =>
  lanesOf(parts, typeOf(dtype, parts.length));

/** Elements from lane to lane, if they are the same number apart. */
export function strideOf(p: Printer, index: Dim): number | undefined {
  const d = p.e.resolved(index);
  const at = (lane: number): Dim => substitute(d, new Map([[p.vector!.name, lane]]));
  const first = subDim(at(1), at(0));
  for (let lane = 2; lane < p.vector!.lanes; lane++)
    if (subDim(at(lane), at(lane - 1)) !== first) return undefined;
  return typeof first === "number" ? first : undefined;
}

/** The index of the vector that starts at `index` in lane 0. */
export function vectorIndex(p: Printer, index: Dim): Dim {
  const { name, lanes } = p.vector!;
  return floorDiv(substitute(p.e.resolved(index), new Map([[name, 0]])), lanes);
}

/** `[i]`, or where an array has parts, that of the part and that within it. */
function subscript(p: Printer, name: string, vector: Dim): string {
  const size = p.parts.get(name);
  if (size === undefined) return `[${placeText(p.e, vector)}]`;
  const d = p.e.resolved(vector);
  return `[${placeText(p.e, floorDiv(d, size))}][${placeText(p.e, modDim(d, size))}]`;
}

/** One element of a buffer or array, whatever its width. */
export function elementText(p: Printer, name: string, index: Dim): string {
  const base = p.e.find(name).text.text;
  const width = p.widths.get(name) ?? 1;
  if (width === 1) return `${base}${subscript(p, name, index)}`;
  const d = p.e.resolved(index);
  if (p.eights.has(name)) return oneOf(base, d, (at) => placeText(p.e, at));
  const vector = subscript(p, name, floorDiv(d, width));
  return `${base}${vector}[${placeText(p.e, modDim(d, width))}]`;
}

/** bool is stored as u32. */
const asBool = (text: Text): Text => ({
  text: `${text.text} != ${text.lanes === 1 ? "0u" : `vec${text.lanes}<u32>(0u)`}`,
  prec: prec.compare,
  lanes: text.lanes,
});

/** The element, or those of all lanes; `raw` leaves f16 as it lies. */
export function loadText(p: Printer, l: Load, raw: boolean): Text {
  if (p.vectors.has(l)) {
    const width = p.widths.get(l.from)!;
    const at = subscript(p, l.from, floorDiv(l.index, width));
    return widened(p, l.from, atom(`${p.e.find(l.from).text.text}${at}`, width));
  }
  if (p.vector && (varies(p, l.index) || l.guard.some((c) => varies(p, c.value))))
    return loadLanes(p, l, p.vector.lanes, raw);
  return loadOne(p, l, l.guard, raw);
}

function loadOne(p: Printer, l: Load, guard: readonly Condition[], raw: boolean): Text {
  const when = conditionsText(p.e, guard);
  if (when.text === "false") return raw ? atom("f16()") : constantText(0, l.dtype, p.use);
  const element = oneElement(p, l, raw);
  const value = l.dtype === "bool" ? asBool(element) : element;
  return guarded(p, value, when, raw ? undefined : l.dtype);
}

function oneElement(p: Printer, l: Load, raw: boolean): Text {
  const half = packedHalf(p, l.from);
  if (half) return loadHalf(p, l.from, half, l.index);
  const element = (): Text => atom(elementText(p, l.from, l.index));
  return raw ? element() : (componentText(p, l) ?? widened(p, l.from, element()));
}

/**
 * A known component of an array of vectors: the vector is loaded once for all that are asked for.
 */
function componentText(p: Printer, l: Load): Text | undefined {
  const width = p.widths.get(l.from) ?? 1;
  if (width === 1 || p.e.kernel.params.some((q) => q.name === l.from)) return undefined;
  const index = p.e.resolved(l.index);
  const component = modDim(index, width);
  if (typeof component !== "number") return undefined;
  const vector = p.e.sharedLoad({ ...l, index: subDim(index, component), guard: [] });
  p.vectors.add(vector);
  return atom(`${p.e.text(vector).text}[${component}]`);
}

/** The load itself is harmless where the guard fails: WGSL keeps every access within its buffer. */
function guarded(p: Printer, value: Text, when: Text, dtype: Dtype | undefined): Text {
  if (when.text === "true") return value;
  const none = dtype
    ? splat(constantText(0, dtype, p.use), dtype, value.lanes)
    : atom(`${narrowType(value.lanes)}()`);
  return atom(`select(${none.text}, ${value.text}, ${when.text})`, value.lanes);
}

/**
 * A condition that is the same in all lanes, as where four neighbours belong to one piece, as it is
 * in lane 0.
 */
function common(p: Printer, c: Condition): Condition {
  if (!p.vector || c.test !== "nonnegative" || !varies(p, c.value)) return c;
  const { name, lanes } = p.vector;
  const first = substitute(p.e.resolved(c.value), new Map([[name, 0]]));
  const [stride, left] = [strideOf(p, c.value), modDim(first, lanes)];
  const agree = (stride === 1 && left === 0) || (stride === -1 && left === lanes - 1);
  return agree ? { ...c, value: first } : c;
}

function loadLanes(p: Printer, given: Load, lanes: number, raw: boolean): Text {
  const l = { ...given, guard: given.guard.map((c) => common(p, c)) };
  const perLane = l.guard.filter((c) => varies(p, c.value));
  const wide = (p.widths.get(l.from) ?? 1) === lanes && strideOf(p, l.index) === 1;
  if (!wide)
    return lanesOf(
      eachLane(p, () => loadOne(p, l, l.guard, raw)),
      raw ? narrowType(lanes) : typeOf(l.dtype, lanes),
    );
  const { text } = p.e.find(l.from);
  const quad = vectorIndex(p, l.index);
  const vector = p.eights.has(l.from)
    ? atom(
        fourOf(text.text, quad, (d) => placeText(p.e, d)),
        lanes,
      )
    : atom(`${text.text}${subscript(p, l.from, quad)}`, lanes);
  const value = l.dtype === "bool" ? asBool(vector) : raw ? vector : widened(p, l.from, vector);
  const dtype = raw ? undefined : l.dtype;
  const shared = l.guard.filter((c) => !perLane.includes(c));
  const one = guarded(p, value, conditionsText(p.e, shared), dtype);
  if (perLane.length === 0) return one;
  const when = composed(
    eachLane(p, () => conditionsText(p.e, perLane)),
    "bool",
  );
  return guarded(p, one, when, dtype);
}

function testText(p: Printer, given: readonly Condition[]): Text {
  const conditions = given.map((c) => common(p, c));
  if (!conditions.some((c) => varies(p, c.value))) return conditionsText(p.e, conditions);
  return composed(
    eachLane(p, () => conditionsText(p.e, conditions)),
    "bool",
  );
}

/** An index expression whose lanes differ. */
function lanesOfIndex(p: Printer, value: Dim): Text {
  return composed(
    eachLane(p, () => indexText(p.e, value)),
    "i32",
  );
}

/**
 * Assignments that store `value`, one for each statement; it is f16 already where what holds it is.
 */
export function storeLines(
  p: Printer,
  to: string,
  index: Dim,
  value: Text,
  dtype: Dtype,
): string[] {
  const stored = dtype === "bool" ? storedBool(value) : value;
  const lanes = p.vector?.lanes ?? 1;
  if (lanes === 1 || !varies(p, index)) {
    if (stored.lanes === 1) return [storeOne(p, to, index, stored.text)];
    // Lanes are iterations in order, of which the last is what remains.
    const last = p.e.fresh("lanes");
    p.e.line(`let ${last} = ${stored.text};`);
    return [storeOne(p, to, index, `${last}[${stored.lanes - 1}]`)];
  }
  const wide = p.narrow.has(to)
    ? splatNarrow(stored, lanes)
    : splat(stored, dtype === "bool" ? "u32" : dtype, lanes);
  if ((p.widths.get(to) ?? 1) === lanes && strideOf(p, index) === 1) {
    const at = subscript(p, to, vectorIndex(p, index));
    return [`${p.e.find(to).text.text}${at} = ${wide.text};`];
  }
  const name = p.e.fresh("lanes");
  p.e.line(`let ${name} = ${wide.text};`);
  const one = (lane: number): Text => atom(storeOne(p, to, index, `${name}[${lane}]`));
  return eachLane(p, one).map((t) => t.text);
}

function storeOne(p: Printer, to: string, index: Dim, value: string): string {
  const half = packedHalf(p, to);
  return half ? storeHalf(p, to, half, index, value) : `${elementText(p, to, index)} = ${value};`;
}

function storedBool(value: Text): Text {
  const n = (v: string): string => (value.lanes === 1 ? v : `vec${value.lanes}<u32>(${v})`);
  return atom(`select(${n("0u")}, ${n("1u")}, ${value.text})`, value.lanes);
}
