/**
 * CRC-32 (reflected polynomial 0xEDB88320, as in ISO 3309 and zip). It finds damage, such as any burst of up to
 * 32 bits; it proves nothing about who wrote the bytes.
 */

/** Entry 256·k + n: the remainder of byte n followed by k zero bytes. */
const table = new Int32Array(1024);
for (let n = 0; n < 1024; n++) {
  let c = n < 256 ? n : table[n - 256]!;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  table[n] = c;
}

/** The checksum of `bytes`, an unsigned 32-bit integer. */
export function crc32(bytes: Uint8Array): number {
  let c = -1;
  let i = 0;
  // Four bytes at once, since remainders of a sum are the sum of remainders.
  for (; i + 4 <= bytes.length; i += 4) {
    c ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    c =
      table[768 + (c & 255)]! ^
      table[512 + ((c >>> 8) & 255)]! ^
      table[256 + ((c >>> 16) & 255)]! ^
      table[c >>> 24]!;
  }
  for (; i < bytes.length; i++) c = table[(c ^ bytes[i]!) & 255]! ^ (c >>> 8);
  return ~c >>> 0;
}

/** The checksum as eight hexadecimal digits. */
export const crc32Text = (bytes: Uint8Array): string => crc32(bytes).toString(16).padStart(8, "0");
