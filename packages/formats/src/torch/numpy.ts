/**
 * NumPy's scalars and arrays inside a pickle: numbers, and arrays of numbers. Arrays of objects are refused, as their
 * elements would be pickles of their own.
 */
import type { Constant } from "@kiln-ml/artifact";
import { checkLength, constantOf, type StoredTensor, storedBytes } from "../elements.ts";
import { type NumpyDtype, numpyDtypeOf, rowMajor } from "../numpy/dtype.ts";
import { describe, Foreign, type Make, type PickleValue } from "../pickle/values.ts";
import { checkName, countOf, type Fail, quoted, type Reading } from "../reading.ts";

class DtypeOfNumpy extends Foreign {
  readonly kind = "a numpy.dtype";
  readonly name: string;
  order = "<";
  constructor(name: string) {
    super();
    this.name = name;
  }
  get dtype(): NumpyDtype | undefined {
    return numpyDtypeOf(`${this.order === ">" ? ">" : ""}${this.name}`);
  }
}

export class NumpyArray extends Foreign {
  readonly kind = "a numpy array";
  readonly offset: number;
  dtype: NumpyDtype | undefined;
  shape: readonly number[] = [0];
  fortran = false;
  bytes: Uint8Array = new Uint8Array(0);
  constructor(offset: number) {
    super();
    this.offset = offset;
  }
}

/** The calls by which arrays and scalars are made, under the module names of NumPy 1 and 2. */
export function numpyMakers(fail: Fail): Map<string, Make> {
  const makers = new Map<string, Make>();
  makers.set("numpy.dtype", ([name = null], offset) =>
    typeof name === "string"
      ? new DtypeOfNumpy(name)
      : fail(`a dtype is ${describe(name)}`, offset),
  );
  for (const core of ["numpy.core", "numpy._core"]) {
    makers.set(`${core}.multiarray._reconstruct`, (_, offset) => new NumpyArray(offset));
    makers.set(`${core}.multiarray.scalar`, ([dtype = null, bytes = null], offset) =>
      scalar(dtype, bytes, offset, fail),
    );
  }
  return makers;
}

function scalar(dtype: PickleValue, bytes: PickleValue, offset: number, fail: Fail): PickleValue {
  const known = dtype instanceof DtypeOfNumpy ? dtype.dtype : undefined;
  if (!known) return fail(`a numpy scalar is of ${describe(dtype)}, which is no number`, offset);
  const { stored, bigEndian } = known;
  if (!(bytes instanceof Uint8Array) || bytes.length !== storedBytes(stored))
    return fail(`a numpy scalar of ${stored} is ${describe(bytes)}`, offset);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // biome-ignore format: one type a row
  switch (stored) {
    case "f64": return view.getFloat64(0, !bigEndian);
    case "f32": return view.getFloat32(0, !bigEndian);
    case "i64": return exact(view.getBigInt64(0, !bigEndian));
    case "u64": return exact(view.getBigUint64(0, !bigEndian));
    case "i32": return view.getInt32(0, !bigEndian);
    case "u32": return view.getUint32(0, !bigEndian);
    case "i16": return view.getInt16(0, !bigEndian);
    case "u16": return view.getUint16(0, !bigEndian);
    case "i8": return view.getInt8(0);
    case "u8": return view.getUint8(0);
    case "bool": return view.getUint8(0) !== 0;
    default: return fail(`a numpy scalar is ${stored}`, offset);
  }
}

const exact = (value: bigint): number | bigint =>
  BigInt.asIntN(53, value) === value ? Number(value) : value;

/** State of a dtype: (version, byte order, …); of an array: (version, shape, dtype, Fortran order, bytes). */
export function buildNumpy(object: Foreign, state: PickleValue): boolean {
  if (!Array.isArray(state)) return false;
  if (object instanceof DtypeOfNumpy) {
    if (typeof state[1] !== "string") return false;
    object.order = state[1];
    return true;
  }
  if (!(object instanceof NumpyArray)) return false;
  const [, shape, dtype, fortran, bytes] = state;
  if (!Array.isArray(shape) || shape.length > 32 || !(dtype instanceof DtypeOfNumpy)) return false;
  if (!shape.every((d) => Number.isSafeInteger(d) && (d as number) >= 0)) return false;
  if (!(bytes instanceof Uint8Array)) return false;
  object.dtype = dtype.dtype;
  object.shape = shape as number[];
  object.fortran = fortran === true;
  object.bytes = bytes;
  return true;
}

/** The elements of an array, row-major. */
export function readArray(array: NumpyArray, name: string, reading: Reading): Constant {
  const { fail } = reading;
  const { dtype, shape, offset } = array;
  checkName(name, fail, offset);
  if (!dtype) return fail(`array ${quoted(name)} is not of numbers that Kiln has`, offset);
  const { stored, bigEndian } = dtype;
  const count = countOf(shape, fail, offset);
  const tensor: StoredTensor = { stored, shape, bytes: array.bytes, bigEndian, name, offset };
  checkLength(tensor, shape, count, array.bytes.length, fail);
  if (!array.fortran || shape.length < 2 || count === 0) return constantOf(tensor, reading);
  reading.take(array.bytes.length, `array ${quoted(name)}`, offset);
  return constantOf(
    { ...tensor, bytes: rowMajor(array.bytes, shape, storedBytes(stored)) },
    reading,
  );
}
