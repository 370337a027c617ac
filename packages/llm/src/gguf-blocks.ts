/**
 * How GGUF stores elements: plain, or in blocks of small integers with scales. A row reads one
 * block.
 *
 * Layouts: github.com/ggml-org/ggml, src/ggml-common.h.
 */

export interface BlockType {
  readonly name: string;
  readonly elements: number;
  readonly bytes: number;
  /** Reads the block at byte `at` into `out` from element `to`. */
  read(v: DataView, at: number, out: Float32Array, to: number): void;
}

/** The number that 16 bits of IEEE 754 mean. */
export function halfAt(v: DataView, at: number): number {
  const bits = v.getUint16(at, true);
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction ? Number.NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

const word = new DataView(new ArrayBuffer(4));

function bfloatAt(v: DataView, at: number): number {
  word.setUint32(0, v.getUint16(at, true) << 16);
  return word.getFloat32(0);
}

const plain = (
  name: string,
  bytes: number,
  get: (v: DataView, at: number) => number,
): BlockType => ({
  name,
  elements: 1,
  bytes,
  read: (v, at, out, to) => {
    out[to] = get(v, at);
  },
});

const q4: BlockType = {
  name: "Q4_0",
  elements: 32,
  bytes: 18,
  read(v, at, out, to) {
    const d = halfAt(v, at);
    for (let i = 0; i < 16; i++) {
      const b = v.getUint8(at + 2 + i);
      out[to + i] = d * ((b & 15) - 8);
      out[to + 16 + i] = d * ((b >> 4) - 8);
    }
  },
};

const q8: BlockType = {
  name: "Q8_0",
  elements: 32,
  bytes: 34,
  read(v, at, out, to) {
    const d = halfAt(v, at);
    for (let i = 0; i < 32; i++) out[to + i] = d * v.getInt8(at + 2 + i);
  },
};

/** Scale and minimum j of eight, six bits each, packed in twelve bytes. */
export function scaleAndLeast(v: DataView, at: number, j: number): [number, number] {
  const b = (i: number) => v.getUint8(at + i);
  if (j < 4) return [b(j) & 63, b(j + 4) & 63];
  return [(b(j + 4) & 15) | ((b(j - 4) >> 6) << 4), (b(j + 4) >> 4) | ((b(j) >> 6) << 4)];
}

/** Q4_K, and Q5_K with a fifth bit of each element between scales and the others. */
const k45 = (name: string, hasFifth: boolean): BlockType => ({
  name,
  elements: 256,
  bytes: hasFifth ? 176 : 144,
  read(v, at, out, to) {
    const [d, least] = [halfAt(v, at), halfAt(v, at + 2)];
    const low = at + 16 + (hasFifth ? 32 : 0);
    for (let j = 0; j < 8; j++) {
      const [s, m] = scaleAndLeast(v, at + 4, j);
      for (let i = 0; i < 32; i++) {
        const four = (v.getUint8(low + (j >> 1) * 32 + i) >> (4 * (j & 1))) & 15;
        const fifth = hasFifth ? (v.getUint8(at + 16 + i) >> j) & 1 : 0;
        out[to + j * 32 + i] = d * s * (four + 16 * fifth) - least * m;
      }
    }
  },
});

/** Element 128h + 32k + i: four low bits, two high ones, and a scale for each 16. */
const q6k: BlockType = {
  name: "Q6_K",
  elements: 256,
  bytes: 210,
  read(v, at, out, to) {
    const d = halfAt(v, at + 208);
    for (let e = 0; e < 256; e++) {
      const [h, k, i] = [e >> 7, (e >> 5) & 3, e & 31];
      const low = (v.getUint8(at + 64 * h + 32 * (k & 1) + i) >> (4 * (k >> 1))) & 15;
      const high = (v.getUint8(at + 128 + 32 * h + i) >> (2 * k)) & 3;
      out[to + e] = d * v.getInt8(at + 192 + (e >> 4)) * ((low | (high << 4)) - 32);
    }
  },
};

/** By the numbers that files have. */
export const blockTypes: ReadonlyMap<number, BlockType> = new Map([
  [0, plain("F32", 4, (v, at) => v.getFloat32(at, true))],
  [1, plain("F16", 2, halfAt)],
  [2, q4],
  [8, q8],
  [12, k45("Q4_K", false)],
  [13, k45("Q5_K", true)],
  [14, q6k],
  [30, plain("BF16", 2, bfloatAt)],
]);
