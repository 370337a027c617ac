/**
 * Registers the kernels: one of the table records a node, one that only renames data shares it, and
 * any other that the cpu backend has runs there.
 */
import {
  getKernel,
  getKernelsForBackend,
  type KernelFunc,
  type NamedAttrMap,
  type NamedTensorInfoMap,
  registerKernel,
  type TensorInfo,
} from "@tensorflow/tfjs-core";
import { DtypeError, GraphError, ShapeError } from "kiln-ml/ir";
import { dtypeOf, type KilnBackend } from "./backend.ts";
import { complexKernels, hasComplex, recordComplex } from "./complex.ts";
import { type KernelResult, runOnCpu } from "./fallback.ts";
import type { Row } from "./row.ts";
import { rows } from "./rows/index.ts";
import { sharing } from "./sharing.ts";
import { movingSlice, movingSliceOf } from "./slices.ts";
import { type Argument, type Template, templateOf } from "./template.ts";
import { typeOf, type Value } from "./value.ts";

export const backendName = "kiln";

/**
 * Registers what there is. Called again when a backend is opened, for kernels of the cpu backend
 * that came later.
 */
export function registerKernels(): void {
  const named: [string, KernelFunc][] = [
    ...Object.entries(sharing).map(([name, kernel]): [string, KernelFunc] => [
      name,
      ({ inputs, attrs, backend }) =>
        kernel(inputs, attrs ?? {}, backend as KilnBackend) ??
        recorded(name, inputs, attrs, backend),
    ]),
    ...[...Object.keys(rows), ...complexKernels].map((name): [string, KernelFunc] => [
      name,
      ({ inputs, attrs, backend }) => recorded(name, inputs, attrs, backend),
    ]),
    ...getKernelsForBackend("cpu").map(({ kernelName: name }): [string, KernelFunc] => [
      name,
      ({ inputs, attrs, backend }) =>
        runOnCpu(name, inputs, attrs ?? {}, backend as KilnBackend) as TensorInfo,
    ]),
  ];
  for (const [kernelName, kernelFunc] of named)
    if (!getKernel(kernelName, backendName))
      registerKernel({ kernelName, backendName, kernelFunc });
}

function recorded(
  name: string,
  inputs: NamedTensorInfoMap,
  attrs: NamedAttrMap | undefined,
  given: unknown,
): TensorInfo | TensorInfo[] {
  const backend = given as KilnBackend;
  const row = rows[name];
  const moving = name === "Slice" && attrs && movingSliceCall(inputs, attrs, backend);
  if (moving) return moving;
  const made = hasComplex(inputs)
    ? recordComplex(name, row, inputs, attrs ?? {}, backend, (...call) => record(...call, backend))
    : row && record(name, row, inputs, attrs ?? {}, backend);
  return made ?? (runOnCpu(name, inputs, attrs ?? {}, backend) as TensorInfo);
}

/** A slice whose place is an operand; undefined where it is not to be. */
function movingSliceCall(
  { x }: NamedTensorInfoMap,
  attrs: NamedAttrMap,
  backend: KilnBackend,
): TensorInfo | undefined {
  if (x!.dtype === "string" || x!.dtype === "complex64") return undefined;
  const moving = movingSliceOf(x!, attrs);
  if (!moving) return undefined;
  const dataId = backend.write(moving.begin, [moving.begin.length], "int32");
  const begin: TensorInfo = { dataId, shape: [moving.begin.length], dtype: "int32" };
  const given = moving.attrs as unknown as NamedAttrMap;
  const made = record("moving Slice", movingSlice, { x, begin }, given, backend);
  backend.disposeData(dataId);
  return made as TensorInfo | undefined;
}

/** The recorded call; undefined where the row has no form for it. */
function record(
  name: string,
  row: Row,
  inputs: NamedTensorInfoMap,
  attrs: NamedAttrMap,
  backend: KilnBackend,
): KernelResult | undefined {
  const args: Argument[] = [];
  const values: Value[] = [];
  for (const key in inputs) {
    const info = inputs[key];
    if (!info) continue;
    if (info.dtype === "string" || Array.isArray(info)) return undefined;
    const value = backend.valueAt(info);
    values.push(value);
    args.push({ name: key, type: typeAt(value, info) });
  }
  const template = templateFor(name, row, args, attrs);
  if (!template) return undefined;
  const results = backend.recorder.record(template, values);
  const infos = results.map((value) => backend.infoOf(value));
  return template.several ? infos : infos[0]!;
}

/** The type under the shape of the tensor at hand. */
function typeAt({ type }: Value, { shape, dtype }: TensorInfo): Argument["type"] {
  const same =
    type.shape.length === shape.length && type.shape.every((extent, i) => extent === shape[i]);
  return same ? type : typeOf(dtypeOf(dtype), shape);
}

/**
 * The template of a call; null where the IR refuses what the kernel is given, which the cpu backend
 * may still take.
 */
function templateFor(
  name: string,
  row: Row,
  args: readonly Argument[],
  attrs: NamedAttrMap,
): Template | null {
  try {
    return templateOf(name, row, args, attrs);
  } catch (error) {
    if (error instanceof ShapeError || error instanceof DtypeError || error instanceof GraphError)
      return null;
    throw error;
  }
}
