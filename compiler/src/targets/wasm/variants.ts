/**
 * The code of both variants side by side, for the instructions that they share, and the constants
 * among those. Where the variants differ, the reader writes to each by itself.
 */

import { Code } from "./code.ts";
import { parseFloat32, parseFloat64, parseInteger, parseInteger64 } from "./literals.ts";
import type { Scanner } from "./scan.ts";

export const vectorConst = 0xfd000c;

export class Variants {
  readonly plain: Code = new Code();
  readonly relaxed: Code = new Code();

  reserve(count: number): void {
    this.plain.reserve(count);
    this.relaxed.reserve(count);
  }

  byte(value: number): void {
    this.plain.byte(value);
    this.relaxed.byte(value);
  }

  op(code: number): void {
    this.plain.op(code);
    this.relaxed.op(code);
  }

  unsigned(value: number): void {
    this.plain.unsigned(value);
    this.relaxed.unsigned(value);
  }

  callee(name: number): void {
    this.plain.callee(name);
    this.relaxed.callee(name);
  }

  /** The instruction and the number after it, `i32.const` to `f64.const`. */
  constant(op: number, scan: Scanner): void {
    this.byte(op);
    scan.atom();
    if (op === 0x41) {
      const value = integer(scan, 32);
      this.plain.signed(value);
      this.relaxed.signed(value);
    } else if (op === 0x42) {
      const value = integer64(scan);
      this.plain.signed64(value);
      this.relaxed.signed64(value);
    } else this.#float(scan, op === 0x43 ? 4 : 8);
  }

  /** `v128.const` and its lanes, their type first. */
  vector(scan: Scanner): void {
    this.op(vectorConst);
    scan.atom();
    const shape = scan.word();
    const lanes = Number(/^[if]\d+x(2|4|8|16)$/.exec(shape)?.[1] ?? 0);
    if (lanes === 0) scan.fail(`${shape} where a vector type must stand`);
    const size = 16 / lanes;
    for (let lane = 0; lane < lanes; lane++) {
      scan.atom();
      if (shape.startsWith("f")) this.#float(scan, size);
      else if (size === 8) this.#bits64(integer64(scan));
      else this.#bits(integer(scan, 8 * size), size);
    }
  }

  #bits(value: number, size: number): void {
    for (let i = 0; i < size; i++) this.byte((value >> (8 * i)) & 0xff);
  }

  #bits64(value: bigint): void {
    for (let i = 0n; i < 8n; i++) this.byte(Number((value >> (8n * i)) & 0xffn));
  }

  #float(scan: Scanner, size: number): void {
    const word = scan.word();
    const bytes = size === 4 ? parseFloat32(word) : parseFloat64(word);
    if (bytes === undefined) scan.fail(`${word} where a number of ${8 * size} bits must stand`);
    for (let i = 0; i < size; i++) this.byte(bytes[i]!);
  }
}

/** The integer that the scanner's atom spells. */
function integer(scan: Scanner, bits: number): number {
  const value = parseInteger(scan.text, scan.start, scan.at, bits);
  if (value === undefined) scan.fail(`${scan.word()} where an integer of ${bits} bits must stand`);
  return value;
}

function integer64(scan: Scanner): bigint {
  const value = parseInteger64(scan.word());
  if (value === undefined) scan.fail(`${scan.word()} where an integer of 64 bits must stand`);
  return value;
}
