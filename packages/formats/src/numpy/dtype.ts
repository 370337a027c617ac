/**
 * NumPy's names of element types: `<f4`, `|b1`, `>i8`. Texts, records, objects, dates and complex numbers are refused by
 * whoever asks, since they have no entry here.
 */
import type { Stored } from "../elements.ts";

export interface NumpyDtype {
  readonly stored: Stored;
  readonly bigEndian: boolean;
}

const kinds: Readonly<Record<string, Stored>> = {
  b1: "bool",
  i1: "i8",
  i2: "i16",
  i4: "i32",
  i8: "i64",
  u1: "u8",
  u2: "u16",
  u4: "u32",
  u8: "u64",
  f2: "f16",
  f4: "f32",
  f8: "f64",
};

/** The element type of a description such as `<f4`; undefined if Kiln has none for it. */
export function numpyDtypeOf(text: string): NumpyDtype | undefined {
  const [, order, kind] = /^([<>|=]?)([biuf]\d)$/.exec(text) ?? [];
  if (kind === undefined || !Object.hasOwn(kinds, kind)) return undefined;
  return { stored: kinds[kind]!, bigEndian: order === ">" };
}

/** The description under which NumPy stores a dtype of Kiln; undefined for bf16, which it does not have. */
export const numpyNameOf = (stored: Stored): string | undefined =>
  Object.keys(kinds).find((kind) => kinds[kind] === stored);

/** Column-major (Fortran) order → row-major. */
export function rowMajor(bytes: Uint8Array, shape: readonly number[], width: number): Uint8Array {
  let stride = width;
  const strides = shape.map((d) => {
    stride *= d;
    return stride / d;
  });
  return gathered(bytes, 0, shape, strides, width);
}

type Words = Uint8Array | Uint16Array | Uint32Array;

/** The bytes as words as large as divide `unit` and the offset. */
function wordsOf(bytes: Uint8Array, unit: number): Words {
  const { buffer, byteOffset, length } = bytes;
  const fits = (size: number) =>
    unit % size === 0 && byteOffset % size === 0 && length % size === 0;
  if (fits(4)) return new Uint32Array(buffer, byteOffset, length / 4);
  return fits(2) ? new Uint16Array(buffer, byteOffset, length / 2) : bytes;
}

/** Elements at byte `start + Σ indexₖ·strideₖ`, in row-major order of the index. All of them lie in `bytes`. */
export function gathered(
  bytes: Uint8Array,
  start: number,
  shape: readonly number[],
  strides: readonly number[],
  width: number,
): Uint8Array {
  const count = shape.reduce((n, d) => n * d, 1);
  const out = new Uint8Array(count * width);
  const from = wordsOf(bytes.subarray(0, bytes.length - (bytes.length % width)), width);
  const word = from.BYTES_PER_ELEMENT;
  const to =
    word === 4 ? new Uint32Array(out.buffer) : word === 2 ? new Uint16Array(out.buffer) : out;
  // Axes of one place say nothing; without any a single element is left.
  const axes = shape
    .map((d, k) => ({ extent: d, step: strides[k]! / word }))
    .filter((a) => a.extent !== 1);
  const inner = axes.pop() ?? { extent: 1, step: 0 };
  const lanes = width / word;
  const index = axes.map(() => 0);
  let row = start / word;
  for (let at = 0; at < to.length; at += inner.extent * lanes) {
    copyRow(from, row, inner.step, to, at, at + inner.extent * lanes, lanes);
    for (let k = axes.length - 1; k >= 0; k--) {
      const { extent, step } = axes[k]!;
      row += step;
      if (++index[k]! < extent) break;
      row -= step * extent;
      index[k] = 0;
    }
  }
  return out;
}

/** Elements of `lanes` words, `step` words apart, to the words `at` up to `end`. */
function copyRow(
  from: Words,
  start: number,
  step: number,
  to: Words,
  at: number,
  end: number,
  lanes: number,
): void {
  let i = start;
  if (lanes === 1) for (let o = at; o < end; o++, i += step) to[o] = from[i]!;
  else
    for (let o = at; o < end; o += lanes, i += step)
      for (let k = 0; k < lanes; k++) to[o + k] = from[i + k]!;
}
