/**
 * TensorBoard's event files: records of a length, the masked CRC-32C of it, bytes of a protobuf `Event`, and their masked CRC.
 * Only scalars and the version are written, so the encoder is the few lines of protobuf that these take.
 *
 * Format: tensorflow/core/lib/io/record_writer.h; tensorflow/core/util/event.proto and framework/summary.proto.
 */

const table = Uint32Array.from({ length: 256 }, (_, i) => {
  let c = i;
  // Castagnoli's polynomial, reflected.
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1;
  return c >>> 0;
});

/** CRC-32C (RFC 3720, appendix B.4). */
export function crc32c(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const b of bytes) c = table[(c ^ b) & 0xff]! ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

/** Rotated and offset, so that a checksum of what holds checksums is not trivial. */
export function maskedCrc(bytes: Uint8Array): number {
  const c = crc32c(bytes);
  return (((c >>> 15) | (c << 17)) + 0xa282ead8) >>> 0;
}

/** One record of the file. */
export function record(data: Uint8Array): Uint8Array {
  const out = new Uint8Array(8 + 4 + data.length + 4);
  const view = new DataView(out.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, maskedCrc(out.subarray(0, 8)), true);
  out.set(data, 12);
  view.setUint32(12 + data.length, maskedCrc(data), true);
  return out;
}

/** Base 128, the least significant group first. */
function varint(n: number): number[] {
  const out: number[] = [];
  let rest = n;
  while (rest >= 128) {
    out.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
  return out;
}

/** A field of protobuf's wire types: 0 varint, 1 of 8 bytes, 2 of counted bytes, 5 of 4 bytes. */
const field = (number: number, type: 0 | 1 | 2 | 5, payload: ArrayLike<number>): number[] => [
  ...varint(number * 8 + type),
  ...(type === 2 ? varint(payload.length) : []),
  ...Array.from(payload),
];

function double(x: number): Uint8Array {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setFloat64(0, x, true);
  return out;
}

function float(x: number): Uint8Array {
  const out = new Uint8Array(4);
  new DataView(out.buffer).setFloat32(0, x, true);
  return out;
}

const text = (s: string): Uint8Array => new TextEncoder().encode(s);

/** Event { wall_time = 1, file_version = 3 }: the first record. */
export const versionEvent = (seconds: number): Uint8Array =>
  record(Uint8Array.from([...field(1, 1, double(seconds)), ...field(3, 2, text("brain.Event:2"))]));

/** Event { wall_time = 1, step = 2, summary = 5 { value = 1 { tag = 1, simple_value = 2 } } }. */
export function scalarEvent(
  seconds: number,
  step: number,
  values: Readonly<Record<string, number>>,
): Uint8Array {
  const summary = Object.entries(values).flatMap(([tag, value]) =>
    field(1, 2, [...field(1, 2, text(tag)), ...field(2, 5, float(value))]),
  );
  const head = [...field(1, 1, double(seconds)), ...field(2, 0, varint(step))];
  return record(Uint8Array.from([...head, ...field(5, 2, summary)]));
}
