/**
 * Numbers of WAT: integers decimal or hex, floats decimal, `inf` and `nan` with an optional payload.
 * A literal out of its type's range is an error of the caller's; here it is undefined. No digit
 * separators and no hex floats: the printer writes neither.
 * WebAssembly specification 2.0, section 6.3.
 */

/** The integer in [−2^(bits−1), 2^bits) that characters `start` to `end` spell, or undefined. */
export function parseInteger(
  text: string,
  start: number,
  end: number,
  bits: number,
): number | undefined {
  let at = start;
  const sign = text.charCodeAt(at);
  if (sign === 43 || sign === 45) at += 1;
  const hex = text.charCodeAt(at) === 48 && (text.charCodeAt(at + 1) | 32) === 120;
  if (hex) at += 2;
  if (at === end) return undefined;
  let value = 0;
  for (; at < end; at++) {
    const digit = digitOf(text.charCodeAt(at));
    if (digit >= (hex ? 16 : 10)) return undefined;
    value = value * (hex ? 16 : 10) + digit;
  }
  const limit = 2 ** bits;
  if (sign === 45) return 2 * value > limit ? undefined : -value;
  return value >= limit ? undefined : value;
}

function digitOf(char: number): number {
  if (char >= 48 && char <= 57) return char - 48;
  const lower = char | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : 99;
}

/** As `parseInteger`, of 64 bits. */
export function parseInteger64(word: string): bigint | undefined {
  if (!/^[+-]?(\d+|0x[\da-f]+)$/i.test(word)) return undefined;
  const magnitude = BigInt(word.replace(/^[+-]/, ""));
  const value = word.startsWith("-") ? -magnitude : magnitude;
  return value < -(2n ** 63n) || value >= 2n ** 64n ? undefined : value;
}

const scratch = new DataView(new ArrayBuffer(8));
const scratchBytes = new Uint8Array(scratch.buffer);

/** The 4 bytes of the f32 nearest to the double that the word spells; valid until the next call. */
export function parseFloat32(word: string): Uint8Array | undefined {
  const value = Number(word);
  if (Number.isNaN(value)) return parseSpecial(word, 23, 4);
  if (!decimalEnd(word)) return undefined;
  scratch.setFloat32(0, value, true);
  return scratchBytes;
}

/** The 8 bytes of the f64 that the word spells; valid until the next call. */
export function parseFloat64(word: string): Uint8Array | undefined {
  const value = Number(word);
  if (Number.isNaN(value)) return parseSpecial(word, 52, 8);
  if (!decimalEnd(word)) return undefined;
  scratch.setFloat64(0, value, true);
  return scratchBytes;
}

/** Refuses what only JavaScript reads as a number: `Infinity`, `1.e`, `0b1`. */
function decimalEnd(word: string): boolean {
  const first = word.charCodeAt(0);
  const digit = first === 43 || first === 45 ? word.charCodeAt(1) : first;
  if (digit < 48 || digit > 57) return false;
  return digit !== 48 || !/^[+-]?0[bo]/i.test(word);
}

/** `inf`, `nan` and `nan:0x…`, signed or not, as sign, exponent of ones and a payload of `bits`. */
function parseSpecial(word: string, bits: number, size: 4 | 8): Uint8Array | undefined {
  const match = /^([+-]?)(?:(inf)|nan(?::0x([\da-f]+))?)$/i.exec(word);
  if (match === null) return undefined;
  const [, sign, infinity, digits] = match;
  const quiet = 1n << BigInt(bits - 1);
  const payload = infinity ? 0n : digits === undefined ? quiet : BigInt(`0x${digits}`);
  if (payload >> BigInt(bits) !== 0n || (digits !== undefined && payload === 0n)) return undefined;
  const exponent = (1n << BigInt(8 * size - 1 - bits)) - 1n;
  const negative = sign === "-" ? 1n << BigInt(8 * size - 1) : 0n;
  scratch.setBigUint64(0, negative | (exponent << BigInt(bits)) | payload, true);
  return scratchBytes;
}
