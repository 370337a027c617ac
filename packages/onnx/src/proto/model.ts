/**
 * An ONNX model as plain objects: what the reader gives and the writer takes. Knows no IR.
 * The meaning of the fields is that of onnx.proto (IR version 3 to 13).
 */

/** Element types as ONNX names them in documents, in the order of TensorProto.DataType from 1. */
export const elementTypes = [
  "float32",
  "uint8",
  "int8",
  "uint16",
  "int16",
  "int32",
  "int64",
  "string",
  "bool",
  "float16",
  "float64",
  "uint32",
  "uint64",
  "complex64",
  "complex128",
  "bfloat16",
  "float8e4m3fn",
  "float8e4m3fnuz",
  "float8e5m2",
  "float8e5m2fnuz",
  "uint4",
  "int4",
  "float4e2m1",
  "float8e8m0",
  "uint2",
  "int2",
] as const;

export type ElementType = (typeof elementTypes)[number];

/**
 * The values of a tensor, row-major. `data` has one entry an element: float32 Float32Array; float64 Float64Array; float16 and bfloat16
 * Uint16Array of bits; int8, uint8, int16, uint16, int32, uint32 their arrays; int64 and uint64 BigInt64Array and BigUint64Array; bool
 * Uint8Array; int4, int2 Int8Array and uint4, uint2 Uint8Array, unpacked; 8-bit floats and float4 Uint8Array of bits; string an array.
 * Complex numbers are two entries, Float32Array or Float64Array, the real part first.
 */
export interface TensorDef {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly data: TensorData;
}

export type TensorData =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | readonly string[];

/** A declared type; an extent is a number, a symbol's name, or undefined if nothing is known of it. */
export type TypeDef =
  | {
      readonly kind: "tensor";
      readonly type: ElementType;
      /** Absent where not even the rank is known. */
      readonly shape?: readonly (number | string | undefined)[];
    }
  | { readonly kind: "sequence" | "optional"; readonly of: TypeDef | undefined }
  | { readonly kind: "other"; readonly what: string };

export interface ValueDef {
  readonly name: string;
  readonly type: TypeDef | undefined;
}

/**
 * An attribute's value. Integers are numbers; one beyond ±(2^53 − 1) is read as that bound, since exporters write the greatest
 * int64 for "to the end". Sparse tensors are read as dense ones. A string that is not UTF-8 is `other`.
 */
export type AttributeDef =
  | { readonly kind: "float" | "int"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "floats" | "ints"; readonly value: readonly number[] }
  | { readonly kind: "strings"; readonly value: readonly string[] }
  | { readonly kind: "tensor"; readonly value: TensorDef }
  | { readonly kind: "tensors"; readonly value: readonly TensorDef[] }
  | { readonly kind: "graph"; readonly value: GraphDef }
  | { readonly kind: "graphs"; readonly value: readonly GraphDef[] }
  | { readonly kind: "type"; readonly value: TypeDef | undefined }
  /** In a function: the attribute of the caller with this name. */
  | { readonly kind: "reference"; readonly value: string }
  | { readonly kind: "other"; readonly what: string };

export interface NodeDef {
  readonly op: string;
  /** "" for the standard ops ("ai.onnx" is read as ""). */
  readonly domain: string;
  readonly overload: string;
  /** May be "". */
  readonly name: string;
  /** "" where an optional input or output is left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, AttributeDef>;
}

export interface GraphDef {
  readonly name: string;
  readonly nodes: readonly NodeDef[];
  readonly initializers: readonly TensorDef[];
  /** Those that initializers give a default for included. */
  readonly inputs: readonly ValueDef[];
  readonly outputs: readonly ValueDef[];
  /** Types of values in between, as far as the file has them. */
  readonly values: readonly ValueDef[];
}

export interface FunctionDef {
  readonly name: string;
  readonly domain: string;
  readonly overload: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: readonly string[];
  /** Attributes with defaults. */
  readonly defaults: ReadonlyMap<string, AttributeDef>;
  readonly nodes: readonly NodeDef[];
  readonly opsets: ReadonlyMap<string, number>;
}

export interface Model {
  readonly irVersion: number;
  readonly producer: string;
  /** Version by domain. */
  readonly opsets: ReadonlyMap<string, number>;
  readonly graph: GraphDef;
  readonly functions: readonly FunctionDef[];
  readonly metadata: ReadonlyMap<string, string>;
}
