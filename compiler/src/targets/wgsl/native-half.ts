/**
 * f16 in WGSL with the feature shader-f16: buffers, tiles and what is on its way between them hold
 * f16, four at a time where they are wide. Every other value is f32, widened when it is read and
 * rounded when it is stored.
 */
import type { Dtype } from "@kiln-ml/ir";
import { atom, type Text } from "../scope.ts";
import type { Printer } from "./language.ts";

/**
 * A device may round a number beyond the largest f16 to that or to infinity; here it is infinity,
 * as IEEE 754 rounds to the nearest.
 */
const narrowF16 = `fn $narrowF16(x: F) -> H {
  return H(select(x, x * F(3.4e38), abs(x) >= F(65520.0)));
}`;
const nearestF16 = `fn $nearestF16(x: F) -> F {
  return F($narrowF16(x));
}`;

export const nativeHalfPrelude: Readonly<Record<string, string>> = { narrowF16, nearestF16 };

/** Whether the elements of a dtype are f16 where they are stored. */
export const isNative = (p: Printer, dtype: Dtype): boolean => p.native && dtype === "f16";

export const narrowType = (lanes: number): string => (lanes === 1 ? "f16" : `vec${lanes}<f16>`);

export const splatNarrow = (t: Text, lanes: number): Text =>
  t.lanes === lanes ? t : atom(`${narrowType(lanes)}(${t.text})`, lanes);

/** An element of a buffer, array or variable, as the f32 that it stands for. */
export const widened = (p: Printer, name: string, t: Text): Text =>
  p.narrow.has(name)
    ? atom(`${t.lanes === 1 ? "f32" : `vec${t.lanes}<f32>`}(${t.text})`, t.lanes)
    : t;

/**
 * An f32 rounded to an f16, as an f32: what any op of halves gives, so that all readers see what
 * memory would hold.
 */
export const nearest = (p: Printer, t: Text): Text =>
  atom(`${p.use("nearestF16", t.lanes)}(${t.text})`, t.lanes);

/** An f32 as f16; what was to be rounded is so here. */
export const narrowed = (p: Printer, t: Text): Text =>
  atom(`${p.use("narrowF16", t.lanes)}(${unrounded(t.text)})`, t.lanes);

/** What `nearest` was put around, where that is the whole text. */
function unrounded(text: string): string {
  const [, inner] = /^nearestF16\d?\((.*)\)$/.exec(text) ?? [];
  return inner !== undefined && isBalanced(inner) ? inner : text;
}

/** Whether every parenthesis closes one that is open. */
function isBalanced(text: string): boolean {
  let open = 0;
  for (const c of text) {
    if (c === "(") open++;
    else if (c === ")" && --open < 0) return false;
  }
  return open === 0;
}
