/**
 * Constants: the number after `i32.const` and its kin, and the lanes after `v128.const`, as their text
 * has them and as the binary format does. WebAssembly specification 2.0, sections 6.5.7 and 5.4.
 */

import type { Bytes } from "./bytes.ts";
import { parseFloat32, parseFloat64, parseInteger, parseInteger64 } from "./literals.ts";
import type { Scanner } from "./scan.ts";

const vectorConst = 0xfd000c;

/** The instruction with that opcode and what follows it in the text. */
export function writeConstant(code: Bytes, op: number, scan: Scanner): void {
  code.op(op);
  scan.atom();
  if (op === vectorConst) writeVector(code, scan);
  else if (op === 0x41) code.signed(integer(scan, 32));
  else if (op === 0x42) code.signed64(integer64(scan));
  else writeFloat(code, scan, op === 0x43 ? 4 : 8);
}

function writeVector(code: Bytes, scan: Scanner): void {
  const shape = scan.word();
  const lanes = Number(/^[if]\d+x(2|4|8|16)$/.exec(shape)?.[1] ?? 0);
  if (lanes === 0) scan.fail(`${shape} where a vector type must stand`);
  const size = 16 / lanes;
  let last = "";
  for (let lane = 0; lane < lanes; lane++) {
    scan.atom();
    // Most constants are one number in all lanes.
    if (last !== "" && scan.is(last)) {
      const from = code.length - size;
      for (let i = 0; i < size; i++) code.byte(code.bytes[from + i]!);
      continue;
    }
    last = scan.word();
    if (shape.startsWith("f")) writeFloat(code, scan, size);
    else if (size === 8) writeBits64(code, integer64(scan));
    else writeBits(code, integer(scan, 8 * size), size);
  }
}

function writeBits(code: Bytes, value: number, size: number): void {
  for (let i = 0; i < size; i++) code.byte((value >> (8 * i)) & 0xff);
}

function writeBits64(code: Bytes, value: bigint): void {
  for (let i = 0n; i < 8n; i++) code.byte(Number((value >> (8n * i)) & 0xffn));
}

function writeFloat(code: Bytes, scan: Scanner, size: number): void {
  const word = scan.word();
  const bytes = size === 4 ? parseFloat32(word) : parseFloat64(word);
  if (bytes === undefined) scan.fail(`${word} where a number of ${8 * size} bits must stand`);
  for (let i = 0; i < size; i++) code.byte(bytes[i]!);
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
