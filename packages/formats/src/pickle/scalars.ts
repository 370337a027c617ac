/**
 * The opcodes that push a number, a string or bytes, each by how it is written.
 */
import { quoted } from "../reading.ts";
import type { PickleStream } from "./stream.ts";
import { unescapeString, unescapeUnicode } from "./text.ts";
import type { PickleValue } from "./values.ts";

type Read = (from: PickleStream, offset: number) => PickleValue;

/** By opcode; `offset` is that of the opcode. */
export const scalars: ReadonlyMap<string, Read> = new Map<string, Read>([
  ["none", () => null],
  ["true", () => true],
  ["false", () => false],
  ["int", int],
  ["binInt", (s) => s.i32()],
  ["binInt1", (s) => s.u8()],
  ["binInt2", (s) => s.u16()],
  ["long", (s) => s.decimal()],
  ["long1", (s) => s.long(s.u8())],
  ["long4", (s) => s.long(s.u32())],
  ["float", float],
  ["binFloat", (s) => s.f64()],
  ["string", (s, offset) => unescapeString(s.rawLine(), s.fail, offset)],
  ["unicode", (s) => unescapeUnicode(s.rawLine())],
  ["binString", (s) => s.oldText(s.u32())],
  ["shortBinString", (s) => s.oldText(s.u8())],
  ["binUnicode", (s) => s.text(s.u32())],
  ["shortBinUnicode", (s) => s.text(s.u8())],
  ["binUnicode8", (s) => s.text(s.u64())],
  ["binBytes", (s) => s.take(s.u32())],
  ["shortBinBytes", (s) => s.take(s.u8())],
  ["binBytes8", (s) => s.take(s.u64())],
  ["byteArray8", (s) => s.take(s.u64())],
]);

/** `01` is True and `00` is False in protocol 0. */
function int(s: PickleStream): PickleValue {
  const [zero, digit, end] = s.bytes.subarray(s.at, s.at + 3);
  if (zero !== 48 || end !== 10 || (digit !== 48 && digit !== 49)) return s.decimal();
  s.skip(3);
  return digit === 49;
}

const special: ReadonlyMap<string, number> = new Map([
  ["inf", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
  ["nan", Number.NaN],
]);

function float(s: PickleStream, offset: number): number {
  const text = s.line();
  const named = special.get(text);
  if (named !== undefined) return named;
  const value = /^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isNaN(value) ? s.fail(`${quoted(text)} is not a number`, offset) : value;
}
