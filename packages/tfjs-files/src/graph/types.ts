/**
 * Data types of TensorFlow as TensorFlow.js computes them: integers in 32 bits, floats in float32.
 */
import type { ElementType } from "@kiln-ml/onnx";

/** By the numbers that old converters write. */
const names: ReadonlyMap<number, string> = new Map([
  [1, "DT_FLOAT"],
  [2, "DT_DOUBLE"],
  [3, "DT_INT32"],
  [4, "DT_UINT8"],
  [5, "DT_INT16"],
  [6, "DT_INT8"],
  [7, "DT_STRING"],
  [8, "DT_COMPLEX64"],
  [9, "DT_INT64"],
  [10, "DT_BOOL"],
  [14, "DT_BFLOAT16"],
  [17, "DT_UINT16"],
  [19, "DT_HALF"],
  [20, "DT_RESOURCE"],
  [21, "DT_VARIANT"],
  [22, "DT_UINT32"],
]);

// biome-ignore format: one type a row
const held: Readonly<Record<string, ElementType>> = {
  DT_FLOAT: "float32", DT_DOUBLE: "float32", DT_HALF: "float32", DT_BFLOAT16: "float32",
  DT_INT32: "int32", DT_INT64: "int32", DT_INT16: "int32", DT_INT8: "int32",
  DT_UINT8: "int32", DT_UINT16: "int32", DT_UINT32: "int32",
  DT_BOOL: "bool",
  DT_STRING: "string", DT_COMPLEX64: "complex64",
};

/** The name of a type that is given by name or by number. */
export const typeName = (given: string | number): string =>
  typeof given === "number" ? (names.get(given) ?? `type ${given}`) : given;

/** Undefined for handles and whatever else has no elements. */
export const elementOf = (name: string): ElementType | undefined =>
  Object.hasOwn(held, name) ? held[name] : undefined;
