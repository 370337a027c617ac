/**
 * Bytes of a WebAssembly module under construction, with the binary format's integers. Writing does
 * not check for room: whoever writes reserves first. Knows nothing of instructions.
 * LEB128: WebAssembly specification 2.0, section 5.2.2.
 */

const encoder = new TextEncoder();

export class Bytes {
  bytes: Uint8Array = new Uint8Array(256);
  length = 0;

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  byte(value: number): void {
    this.bytes[this.length++] = value;
  }

  /** An unsigned 32-bit integer, at most five bytes. */
  unsigned(value: number): void {
    let rest = value >>> 0;
    while (rest > 0x7f) {
      this.bytes[this.length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  /** A signed 32-bit integer, at most five bytes. */
  signed(value: number): void {
    let rest = value | 0;
    while (rest < -0x40 || rest > 0x3f) {
      this.bytes[this.length++] = (rest & 0x7f) | 0x80;
      rest >>= 7;
    }
    this.bytes[this.length++] = rest & 0x7f;
  }

  /** A signed 64-bit integer, at most ten bytes. */
  signed64(value: bigint): void {
    let rest = BigInt.asIntN(64, value);
    while (rest < -0x40n || rest > 0x3fn) {
      this.bytes[this.length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.bytes[this.length++] = Number(rest & 0x7fn);
  }

  /** An opcode as in the table of instructions: a byte, or a prefix byte and an integer. */
  op(code: number): void {
    if (code < 0x100) {
      this.bytes[this.length++] = code;
      return;
    }
    this.bytes[this.length++] = code >>> 16;
    this.unsigned(code & 0xffff);
  }

  /** Bytes `from` to `to` of another array; makes its own room. */
  append(source: Uint8Array, from: number, to: number): void {
    this.reserve(to - from);
    this.bytes.set(source.subarray(from, to), this.length);
    this.length += to - from;
  }

  /** A name: its size in UTF-8, then the bytes; makes its own room. */
  text(value: string): void {
    const encoded = encoder.encode(value);
    this.reserve(encoded.length + 5);
    this.unsigned(encoded.length);
    this.append(encoded, 0, encoded.length);
  }

  /** A copy of what is written. */
  finish(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }
}
