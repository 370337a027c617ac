/**
 * Values that go into an ONNX model and come out: tensors, sequences and optionals. Reads the suite's files by the type
 * the graph declares, and makes inputs where there are no files.
 */
import type {
  ElementType,
  TensorData,
  TensorDef,
  TypeDef,
} from "../../packages/onnx/src/proto/model.ts";
import { readOptional, readSequence, readTensor } from "../../packages/onnx/src/proto/read.ts";

export type TensorValue = Omit<TensorDef, "name">;

/** null is an optional without a value. */
export type Value = TensorValue | readonly Value[] | null;

export type Tensors = Readonly<Record<string, Value>>;

/** A value from its file; what declares no type is a tensor. */
export function readValue(bytes: Uint8Array, type: TypeDef | undefined, file: string): Value {
  if (type?.kind === "sequence") return readSequence(bytes, file);
  if (type?.kind === "optional") return readOptional(bytes, file) ?? null;
  return readTensor(bytes, file);
}

type NumberArray = Exclude<TensorData, readonly string[]>;

// biome-ignore format: one element type a row
const arrays: Readonly<Record<Exclude<ElementType, "string">, new (length: number) => NumberArray>> = {
  float32: Float32Array, float64: Float64Array, complex64: Float32Array, complex128: Float64Array,
  int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  bool: Uint8Array, float16: Uint16Array, bfloat16: Uint16Array,
  int4: Int8Array, uint4: Uint8Array, int2: Int8Array, uint2: Uint8Array,
  float8e4m3fn: Uint8Array, float8e4m3fnuz: Uint8Array, float8e5m2: Uint8Array, float8e5m2fnuz: Uint8Array,
  float4e2m1: Uint8Array, float8e8m0: Uint8Array,
};

export const sizeOf = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);

const toHalf = (value: number): number => {
  // Exact for what the formulas below give: numbers of at most 10 bits, within the normal range.
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  const bits = view.getUint32(0);
  const exponent = ((bits >>> 23) & 0xff) - 112;
  if (exponent <= 0) return (bits >>> 16) & 0x8000;
  return ((bits >>> 16) & 0x8000) | (exponent << 10) | ((bits >>> 13) & 0x3ff);
};

const toBrain = (value: number): number => {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return view.getUint16(0);
};

/** A tensor whose element i is `formula(i)`, brought to the element type. */
export function makeTensor(
  name: string,
  type: ElementType,
  dims: readonly number[],
  formula: (i: number) => number,
): TensorDef {
  if (type === "string") throw new RangeError(`makeTensor: ${name} holds strings`);
  const data = new arrays[type](sizeOf(dims));
  for (let i = 0; i < data.length; i++) {
    const value = formula(i);
    if (data instanceof BigInt64Array || data instanceof BigUint64Array)
      data[i] = BigInt(Math.trunc(value));
    else if (type === "float16") data[i] = toHalf(value);
    else if (type === "bfloat16") data[i] = toBrain(value);
    else if (type === "bool") data[i] = value ? 1 : 0;
    else data[i] = value;
  }
  return { name, type, dims, data };
}

/** The suite's input for networks that come without one: ascending within [0, 1), unknown extents are 1. */
export function suiteInput(name: string, type: TypeDef | undefined): TensorDef {
  if (type?.kind !== "tensor" || !type.shape)
    throw new RangeError(`suiteInput: ${name} declares no shape`);
  const dims = type.shape.map((extent) => (typeof extent === "number" ? extent : 1));
  const size = sizeOf(dims);
  return makeTensor(name, type.type, dims, (i) => i / size);
}
