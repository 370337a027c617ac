/**
 * Kernels without a row: their inputs are read, tfjs's own cpu backend computes, and its results
 * are uploaded. Each is counted, since a program that is slow may be so for it.
 */
import {
  engine,
  getKernel,
  type KernelBackend,
  type NamedAttrMap,
  type NamedTensorInfoMap,
  type TensorInfo,
  util,
} from "@tensorflow/tfjs-core";
import { DeviceError } from "kiln-ml/ir";
import type { KilnBackend } from "./backend.ts";

export type KernelResult = TensorInfo | TensorInfo[];

/** A kernel of the cpu backend on values of this one. */
export function runOnCpu(
  kernel: string,
  inputs: NamedTensorInfoMap,
  attrs: NamedAttrMap,
  backend: KilnBackend,
): KernelResult {
  const found = getKernel(kernel, "cpu");
  const cpu = found && (engine().findBackend("cpu") as KernelBackend | null);
  if (!cpu)
    throw new DeviceError(
      `kiln: ${kernel} has no row here, and the cpu backend is not there to compute it\n  import "@tensorflow/tfjs-backend-cpu", or @tensorflow/tfjs, which has it`,
    );
  backend.fallbacks.set(kernel, (backend.fallbacks.get(kernel) ?? 0) + 1);
  const moved: TensorInfo[] = [];
  const copy = (info: TensorInfo): TensorInfo => {
    const made = copyTo(cpu, info, backend);
    moved.push(made);
    return made;
  };
  const given = Array.isArray(inputs)
    ? inputs.map((info: TensorInfo) => copy(info))
    : Object.fromEntries(
        Object.entries(inputs).map(([name, info]) => [
          name,
          Array.isArray(info) ? info.map(copy) : info && copy(info),
        ]),
      );
  const made = found.kernelFunc({ inputs: given as NamedTensorInfoMap, attrs, backend: cpu });
  const results = (Array.isArray(made) ? made : [made]).map((info) => fetched(cpu, info, backend));
  for (const info of moved) cpu.disposeData(info.dataId);
  return Array.isArray(made) ? results : results[0]!;
}

function copyTo(cpu: KernelBackend, info: TensorInfo, backend: KilnBackend): TensorInfo {
  const { shape, dtype } = info;
  // Some kernels ask a tensor for what only says its shape in another way.
  const more = { rank: shape.length, size: util.sizeFromShape(shape) };
  if (dtype !== "complex64") {
    const dataId = cpu.write(backend.readSync(info.dataId), shape, dtype);
    return { dataId, shape, dtype, ...more } as TensorInfo;
  }
  const { real, imag } = backend.partsOf(info);
  const part = (of: TensorInfo) => copyTo(cpu, { ...of, shape }, backend);
  const parts = { real: part(real), imag: part(imag) };
  const made = getKernel("Complex", "cpu").kernelFunc({ inputs: parts, attrs: {}, backend: cpu });
  for (const part of Object.values(parts)) cpu.disposeData(part.dataId);
  return { ...made, ...more } as TensorInfo;
}

function fetched(cpu: KernelBackend, info: TensorInfo, backend: KilnBackend): TensorInfo {
  const { shape, dtype } = info;
  const dataId = backend.write(cpu.readSync(info.dataId), shape, dtype);
  cpu.disposeData(info.dataId);
  return { dataId, shape, dtype };
}
