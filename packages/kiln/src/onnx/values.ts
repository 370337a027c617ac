/**
 * Values of ONNX models on their way in and out of a compiled function: what an input is (its form), the arrays it feeds, and the value
 * a result is read into. Sequences and optionals are spread into their tensors.
 */
import { GraphError, type HostArray, type Tensor } from "@kiln-ml/ir";
import {
  dataOf,
  type ElementType,
  hostOf,
  optional,
  sequence,
  type TensorData,
  typed,
  type Value,
} from "@kiln-ml/onnx";
import type { ShapedArray } from "../compile/feed.ts";

/** A tensor as ONNX has it: int64 in a BigInt64Array, float16 as bits. */
export interface OnnxTensor {
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly data: TensorData;
}

/** A tensor, a sequence, or an optional that is empty. */
export type OnnxValue = OnnxTensor | readonly OnnxValue[] | null;

/** What an input is, without its values. `feed` is the key of its array. */
export type Form =
  | Leaf
  | { readonly kind: "sequence"; readonly items: readonly Form[] }
  | { readonly kind: "none" };

export interface Leaf {
  readonly kind: "tensor";
  readonly type: ElementType;
  readonly feed: string;
}

const isSequence = (value: OnnxValue): value is readonly OnnxValue[] => Array.isArray(value);

export function formOf(value: OnnxValue, feed: string): Form {
  if (value === null) return { kind: "none" };
  if (isSequence(value))
    return { kind: "sequence", items: value.map((v, i) => formOf(v, `${feed}_${i}`)) };
  return { kind: "tensor", type: value.type, feed };
}

export function leavesOf(form: Form): readonly Leaf[] {
  if (form.kind === "none") return [];
  return form.kind === "tensor" ? [form] : form.items.flatMap(leavesOf);
}

/** The arrays of all inputs by the keys that `formOf` gave, 64-bit integers narrowed. Throws DtypeError where one does not fit. */
export function feedsOf(
  inputs: readonly (readonly [name: string, value: OnnxValue])[],
): Record<string, ShapedArray> {
  const feeds: Record<string, ShapedArray> = {};
  const add = (name: string, value: OnnxValue, feed: string): void => {
    if (value === null) return;
    if (isSequence(value)) {
      for (const [i, v] of value.entries()) add(name, v, `${feed}_${i}`);
    } else {
      const size = value.dims.reduce((a, b) => a * b, 1);
      if (size !== value.data.length)
        throw new GraphError(
          `onnx: input ${name} has dims [${value.dims}] and ${value.data.length} elements`,
        );
      feeds[feed] = { data: hostOf({ name, ...value }), shape: value.dims };
    }
  };
  for (const [i, [name, value]] of inputs.entries()) add(name, value, `i${i}`);
  return feeds;
}

/** The same arrays as the caller's are now. */
export const copyOf = (feeds: Readonly<Record<string, ShapedArray>>): Record<string, ShapedArray> =>
  Object.fromEntries(
    Object.entries(feeds).map(([key, { data, shape }]) => [
      key,
      { data: data.slice(), shape: [...shape] },
    ]),
  );

/** The value of an input inside a trace. */
export function inputValue(form: Form, leaves: Readonly<Record<string, Tensor>>): Value {
  if (form.kind === "none") return optional(undefined);
  if (form.kind === "sequence") return sequence(form.items.map((f) => inputValue(f, leaves)));
  return typed(leaves[form.feed]!, form.type);
}

/** The tensors of a value, in order. */
export function tensorsOf(value: Value): Tensor[] {
  if (value.kind === "tensor") return [value.tensor];
  if (value.kind === "sequence") return value.items.flatMap(tensorsOf);
  return value.value ? tensorsOf(value.value) : [];
}

/** A result: the arrays from `next.at` on in the form of `value`. */
export function readValue(
  value: Value,
  arrays: readonly HostArray[],
  shapes: readonly (readonly number[])[],
  next: { at: number },
): OnnxValue {
  if (value.kind === "sequence") return value.items.map((v) => readValue(v, arrays, shapes, next));
  if (value.kind === "optional")
    return value.value ? readValue(value.value, arrays, shapes, next) : null;
  const i = next.at++;
  return { type: value.type, dims: shapes[i]!, data: dataOf(arrays[i]!, value.type) };
}
