/**
 * CRC-32 (reflected polynomial 0xEDB88320, as in ISO 3309 and zip). It finds damage, such as any burst of up to
 * 32 bits; it proves nothing about who wrote the bytes.
 */
const table = Int32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});

/** The checksum of `bytes`, an unsigned 32-bit integer. */
export function crc32(bytes: Uint8Array): number {
  let c = -1;
  for (let i = 0; i < bytes.length; i++) c = table[(c ^ bytes[i]!) & 255]! ^ (c >>> 8);
  return ~c >>> 0;
}

/** The checksum as eight hexadecimal digits. */
export const crc32Text = (bytes: Uint8Array): string => crc32(bytes).toString(16).padStart(8, "0");
