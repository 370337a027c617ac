/**
 * Blocks of GGUF files as they stay in memory: steps in words and floats for each block, in the
 * form of `quantizedOf`. A row takes one block apart; nothing becomes floats that was not.
 */
import type { Constant } from "kiln-ml/artifact";
import { halfAt, scaleAndLeast } from "./gguf-blocks.ts";

/** A matrix in blocks of 32, under the names of a layer's parts. */
export interface PackedMatrix {
  readonly bits: 4 | 8;
  readonly shape: readonly number[];
  readonly words: Constant;
  readonly scales: Constant;
  readonly offsets?: Constant | undefined;
}

interface Parts {
  readonly steps: Int8Array;
  readonly scales: Float32Array;
  readonly offsets: Float32Array;
}

interface PackedType {
  readonly bits: 4 | 8;
  readonly elements: number;
  readonly bytes: number;
  readonly hasOffsets: boolean;
  /** Takes the block at byte `at` apart, to element `to` and block to/32 of ours. */
  read(v: DataView, at: number, parts: Parts, to: number): void;
}

const size = 32;

const q4: PackedType = {
  bits: 4,
  elements: 32,
  bytes: 18,
  hasOffsets: false,
  read(v, at, { steps, scales }, to) {
    scales[to / size] = halfAt(v, at);
    for (let i = 0; i < 16; i++) {
      const b = v.getUint8(at + 2 + i);
      steps[to + i] = (b & 15) - 8;
      steps[to + 16 + i] = (b >> 4) - 8;
    }
  },
};

const q8: PackedType = {
  bits: 8,
  elements: 32,
  bytes: 34,
  hasOffsets: false,
  read(v, at, { steps, scales }, to) {
    scales[to / size] = halfAt(v, at);
    for (let i = 0; i < size; i++) steps[to + i] = v.getInt8(at + 2 + i);
  },
};

/** step · scale − least: Q4_K's steps are moved by 8 to be signed, Q5_K's fit into eight bits. */
const k45 = (hasFifth: boolean): PackedType => ({
  bits: hasFifth ? 8 : 4,
  elements: 256,
  bytes: hasFifth ? 176 : 144,
  hasOffsets: true,
  read(v, at, { steps, scales, offsets }, to) {
    const [d, least] = [halfAt(v, at), halfAt(v, at + 2)];
    const low = at + 16 + (hasFifth ? 32 : 0);
    const moved = hasFifth ? 0 : 8;
    for (let j = 0; j < 8; j++) {
      const [s, m] = scaleAndLeast(v, at + 4, j);
      scales[to / size + j] = d * s;
      offsets[to / size + j] = d * s * moved - least * m;
      for (let i = 0; i < size; i++) {
        const four = (v.getUint8(low + (j >> 1) * 32 + i) >> (4 * (j & 1))) & 15;
        const fifth = hasFifth ? (v.getUint8(at + 16 + i) >> j) & 1 : 0;
        steps[to + j * size + i] = four + 16 * fifth - moved;
      }
    }
  },
});

/** By the numbers that files have. Q6_K has a scale for each 16 elements and is read as floats. */
const packedTypes: ReadonlyMap<number, PackedType> = new Map([
  [2, q4],
  [8, q8],
  [12, k45(false)],
  [13, k45(true)],
]);

/** Whether a tensor may stay as it lies: a matrix whose rows are whole blocks. */
export function staysPacked(type: number, shape: readonly number[]): boolean {
  const row = packedTypes.get(type);
  return row !== undefined && shape.length === 2 && shape[1]! % row.elements === 0;
}

/** Element 16·h + 4·i + j of a run of 128 bits is the half h of byte i of word j. */
function wordsOf(steps: Int8Array, bits: 4 | 8): Uint32Array {
  const run = 128 / bits;
  const words = new Uint32Array((steps.length * bits) / 32);
  for (let e = 0; e < steps.length; e++) {
    const within = e % run;
    const [j, i, h] = [within & 3, (within >> 2) & 3, within >> 4];
    words[Math.floor(e / run) * 4 + j]! |= (steps[e]! & (2 ** bits - 1)) << (8 * i + 4 * h);
  }
  return words;
}

/** The matrix of a type that `staysPacked` at the start of a view. */
export function packedMatrix(
  v: DataView,
  type: number,
  shape: readonly [rows: number, columns: number],
): PackedMatrix {
  const row = packedTypes.get(type)!;
  const [rows, columns] = shape;
  const count = rows * columns;
  const parts: Parts = {
    steps: new Int8Array(count),
    scales: new Float32Array(count / size),
    offsets: new Float32Array(row.hasOffsets ? count / size : 0),
  };
  for (let b = 0; b < count / row.elements; b++)
    row.read(v, b * row.bytes, parts, b * row.elements);
  const floats = (data: Float32Array): Constant => {
    return { dtype: "f32", shape: [rows, columns / size], data: new Uint8Array(data.buffer) };
  };
  const words = wordsOf(parts.steps, row.bits);
  const extents = [rows, (columns * row.bits) / 32];
  return {
    bits: row.bits,
    shape,
    words: { dtype: "u32", shape: extents, data: new Uint8Array(words.buffer) },
    scales: floats(parts.scales),
    offsets: row.hasOffsets ? floats(parts.offsets) : undefined,
  };
}
