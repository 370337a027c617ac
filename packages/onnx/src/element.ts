/**
 * ONNX element types as dtypes of the IR, and the values of tensors from one to the other. 64-bit integers are held in 32 bits: a value
 * beyond is an error, but for the two that exporters write for "no end", which become the ends of the range.
 */
import { allocateHost, type Dtype, DtypeError, type HostArray, maxOf, minOf } from "@kiln-ml/ir";
import type { ElementType, TensorData, TensorDef } from "./proto/model.ts";

// biome-ignore format: one type a row
const held: Partial<Record<ElementType, Dtype>> = {
  float32: "f32", float64: "f64", float16: "f16", bfloat16: "bf16",
  int64: "i32", int32: "i32", int16: "i32", int8: "i8", int4: "i8", int2: "i8",
  uint64: "u32", uint32: "u32", uint16: "i32", uint8: "u8", uint4: "u8", uint2: "u8",
  bool: "bool",
};

/** The type a tensor of the graph has in ONNX where nothing else says so. */
const natural: Readonly<Record<Dtype, ElementType>> = {
  f64: "float64",
  f32: "float32",
  f16: "float16",
  bf16: "bfloat16",
  i32: "int32",
  u32: "uint32",
  i8: "int8",
  u8: "uint8",
  bool: "bool",
};

/** True if the IR can hold elements of the type. */
export const isHeld = (type: ElementType): boolean => held[type] !== undefined;

/** Throws DtypeError for a type the IR cannot hold: strings, 8-bit floats, complex numbers. */
export function dtypeOf(type: ElementType, what = "onnx"): Dtype {
  const dtype = held[type];
  if (!dtype) throw new DtypeError(`${what}: elements of type ${type} cannot be held`);
  return dtype;
}

export const elementTypeOf = (dtype: Dtype): ElementType => natural[dtype];

/** The least and the greatest value of a type that is narrower than the dtype that holds it. */
export const narrowRange: Partial<Record<ElementType, readonly [number, number]>> = {
  int16: [-32768, 32767],
  uint16: [0, 65535],
  int4: [-8, 7],
  uint4: [0, 15],
  int2: [-2, 1],
  uint2: [0, 3],
};

/** "No end", as exporters write it into the starts and ends of Slice. */
const unbounded = 2n ** 62n;

function narrowed(def: TensorDef, data: BigInt64Array | BigUint64Array, dtype: Dtype): HostArray {
  const out = allocateHost(dtype, data.length);
  const [low, high] = [BigInt(minOf(dtype)), BigInt(maxOf(dtype))];
  for (let i = 0; i < data.length; i++) {
    const x = data[i]!;
    if (x >= low && x <= high) out[i] = Number(x);
    else if (def.type === "int64" && (x >= unbounded || x <= -unbounded))
      out[i] = x < 0n ? minOf(dtype) : maxOf(dtype);
    else
      throw new DtypeError(
        `onnx: element ${i} of ${def.name || "a tensor"} is ${x}, beyond the 32 bits that hold ${def.type}\n  values from ${low} to ${high} can be held`,
      );
  }
  return out;
}

/** The values in the storage form of the dtype that holds them; shared with `def` where the forms are one. */
export function hostOf(def: TensorDef): HostArray {
  const dtype = dtypeOf(def.type, `onnx: ${def.name || "tensor"}`);
  const { data } = def;
  if (data instanceof BigInt64Array || data instanceof BigUint64Array)
    return narrowed(def, data, dtype);
  if (data instanceof Int16Array || (data instanceof Uint16Array && dtype === "i32"))
    return Int32Array.from(data);
  return data as HostArray;
}

/** The values as JavaScript numbers, or undefined for strings and for bits of floats. */
export function numbersOfDef(def: TensorDef): readonly number[] | undefined {
  const { data, type } = def;
  if (!isHeld(type) || type === "float16" || type === "bfloat16") return undefined;
  return Array.from(data as ArrayLike<number | bigint>, Number);
}

/** The values of a tensor of the graph in the form of an ONNX type. */
export function dataOf(host: HostArray, type: ElementType): TensorData {
  switch (type) {
    case "int64":
      return BigInt64Array.from(host as Int32Array, BigInt);
    case "uint64":
      return BigUint64Array.from(host as Uint32Array, BigInt);
    case "int16":
      return Int16Array.from(host as Int32Array);
    case "uint16":
      return Uint16Array.from(host as Int32Array);
    default:
      return host;
  }
}
