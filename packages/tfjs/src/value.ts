/**
 * A value of the recorded program: what is uploaded, computed, or to be computed. Several tensors
 * may share one, under shapes of their own. It is freed when neither a tensor nor a pending node
 * holds it.
 */
import type { DataType } from "@tensorflow/tfjs-core";
import type { Dtype, HostArray } from "kiln-ml/ir";
import type { DeviceArray } from "kiln-ml/runtime";
import type { Template } from "./template.ts";

/** Dtypes of tfjs whose elements have a place on a device. */
export const dtypes: Readonly<Partial<Record<DataType, Dtype>>> = {
  float32: "f32",
  int32: "i32",
  bool: "bool",
};

/** A call of a kernel that has yet to be computed. */
export interface Node {
  readonly template: Template;
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
}

/** The type of a value, and its text in keys. */
export interface ValueType {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly text: string;
}

export const typeOf = (dtype: Dtype, shape: readonly number[]): ValueType => ({
  dtype,
  shape,
  text: `${dtype}[${shape}]`,
});

export interface Value {
  readonly type: ValueType;
  /** Data ids that have it: if any, it must be there after the next run. */
  tensors: number;
  /** Pending nodes that read it, and runs under way. */
  users: number;
  /** What computes it, until that has been handed to the device. */
  from: Node | undefined;
  host: HostArray | undefined;
  array: DeviceArray | undefined;
  /** Why it is not there, after a run that failed. */
  failure: unknown;
  /** The run that numbered it last, and its number there. */
  mark: number;
  number: number;
}

export const makeValue = (type: ValueType, more: Partial<Value>): Value => ({
  type,
  tensors: 0,
  users: 0,
  from: undefined,
  host: undefined,
  array: undefined,
  failure: undefined,
  mark: -1,
  number: 0,
  ...more,
});
