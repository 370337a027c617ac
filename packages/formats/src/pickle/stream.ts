/**
 * The operands of pickle opcodes: little-endian numbers, counted bytes, lines of text. Everything is checked against the
 * end of the file before it is read, and long numbers are refused, since reading them takes quadratic time.
 */
import type { Fail } from "../reading.ts";

/** More digits or bytes than any count, seed or offset has. */
const longestNumber = 256;

export class PickleStream {
  readonly bytes: Uint8Array;
  readonly fail: Fail;
  /** The offset of the file at which `bytes` begin. */
  readonly base: number;
  at: number;
  readonly #view: DataView;

  constructor(bytes: Uint8Array, at: number, base: number, fail: Fail) {
    this.bytes = bytes;
    this.at = at;
    this.base = base;
    this.fail = fail;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Moves past `size` bytes; returns where they begin. */
  skip(size: number): number {
    const from = this.at;
    if (!(size >= 0 && from + size <= this.bytes.length))
      this.fail(
        `the pickle needs ${size} bytes, ${this.bytes.length - from} are left`,
        this.base + from,
      );
    this.at = from + size;
    return from;
  }

  u8 = (): number => this.bytes[this.skip(1)]!;
  u16 = (): number => this.#view.getUint16(this.skip(2), true);
  u32 = (): number => this.#view.getUint32(this.skip(4), true);
  i32 = (): number => this.#view.getInt32(this.skip(4), true);
  /** Big-endian, as the format has it. */
  f64 = (): number => this.#view.getFloat64(this.skip(8), false);

  u64(): number {
    const at = this.skip(8);
    return this.#view.getUint32(at, true) + this.#view.getUint32(at + 4, true) * 2 ** 32;
  }

  take(size: number): Uint8Array {
    const from = this.skip(size);
    return this.bytes.subarray(from, from + size);
  }

  text(size: number): string {
    const at = this.base + this.at;
    const bytes = this.take(size);
    try {
      return decoder.decode(bytes);
    } catch {
      return this.fail("a string of the pickle is not UTF-8", at);
    }
  }

  /** A string of Python 2: text if it is UTF-8, else bytes. */
  oldText(size: number): string | Uint8Array {
    const bytes = this.take(size);
    try {
      return decoder.decode(bytes);
    } catch {
      return bytes;
    }
  }

  #lengthOfLine(): number {
    const end = this.bytes.indexOf(10, this.at);
    if (end < 0) this.fail("a line of the pickle has no end", this.base + this.at);
    return end - this.at;
  }

  /** Up to the next line feed. */
  line(): string {
    const text = this.text(this.#lengthOfLine());
    this.at++;
    return text;
  }

  /** A line in latin-1, as texts with escapes are. */
  rawLine(): string {
    const text = fromLatin1(this.take(this.#lengthOfLine()));
    this.at++;
    return text;
  }

  /** A signed little-endian integer of `size` bytes. */
  long(size: number): number | bigint {
    if (size > longestNumber)
      this.fail(`an integer has ${size} bytes, more than ${longestNumber}`, this.base + this.at);
    const bytes = this.take(size);
    let value = 0n;
    for (let i = size - 1; i >= 0; i--) value = value * 256n + BigInt(bytes[i]!);
    return plain(size && bytes[size - 1]! & 128 ? value - (1n << BigInt(8 * size)) : value);
  }

  decimal(): number | bigint {
    const at = this.base + this.at;
    const text = this.line().replace(/L$/, "");
    if (text.length > longestNumber || !/^[-+]?\d+$/.test(text))
      return this.fail(
        `a line of the pickle is not an integer of at most ${longestNumber} digits`,
        at,
      );
    return plain(BigInt(text.replace("+", "")));
  }
}

// The web's "latin1" is windows-1252, which has other characters from 0x80 to 0x9f.
function fromLatin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096)
    text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return text;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A number where it is exact. */
const plain = (value: bigint): number | bigint =>
  value >= -(2n ** 53n) + 1n && value < 2n ** 53n ? Number(value) : value;
