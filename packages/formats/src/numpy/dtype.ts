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

/** Elements at byte `start + Σ indexₖ·strideₖ`, in row-major order of the index. */
export function gathered(
  bytes: Uint8Array,
  start: number,
  shape: readonly number[],
  strides: readonly number[],
  width: number,
): Uint8Array {
  const count = shape.reduce((n, d) => n * d, 1);
  const out = new Uint8Array(count * width);
  const index = shape.map(() => 0);
  let from = start;
  for (let to = 0; to < out.length; to += width) {
    for (let k = 0; k < width; k++) out[to + k] = bytes[from + k]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += strides[axis]!;
      if (++index[axis]! < shape[axis]!) break;
      from -= strides[axis]! * shape[axis]!;
      index[axis] = 0;
    }
  }
  return out;
}
