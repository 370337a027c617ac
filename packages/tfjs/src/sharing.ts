/**
 * Kernels that compute nothing: their result is the data of an input, under another shape or as a
 * part of a complex number.
 */
import {
  type NamedAttrMap,
  type NamedTensorInfoMap,
  type TensorInfo,
  util,
} from "@tensorflow/tfjs-core";
import type { KilnBackend } from "./backend.ts";

/** Undefined where something is to be computed after all. */
export type Sharing = (
  inputs: NamedTensorInfoMap,
  attrs: NamedAttrMap,
  backend: KilnBackend,
) => TensorInfo | undefined;

/** The value of a tensor under another data id, which lives by itself. */
const again = (x: TensorInfo, backend: KilnBackend, shape = x.shape): TensorInfo =>
  backend.infoOf(backend.valueAt(x), shape);

export const sharing: Readonly<Record<string, Sharing>> = {
  Identity: ({ x }, _, backend) => backend.shared(x!),

  Reshape({ x }, { shape }, backend) {
    const size = util.sizeFromShape(x!.shape);
    const to = util.inferFromImplicitShape(shape as number[], size);
    const toSize = util.sizeFromShape(to);
    util.assert(
      size === toSize,
      () =>
        `The new shape (${to}) has ${toSize} elements and the old shape (${x!.shape}) has ${size} elements. The new shape and old shape must have the same number of elements.`,
    );
    return backend.shared(x!, to);
  },

  Cast({ x }, { dtype }, backend) {
    if (x!.dtype === dtype) return backend.shared(x!);
    // The real part, which may have to be cast in turn.
    if (x!.dtype === "complex64" && dtype === "float32")
      return again(backend.partsOf(x!).real, backend, x!.shape);
    return undefined;
  },

  Complex: ({ real, imag }, _, backend) =>
    backend.complexOf(again(real!, backend), again(imag!, backend)),

  Real: ({ input }, _, backend) => again(backend.partsOf(input!).real, backend, input!.shape),

  Imag: ({ input }, _, backend) => again(backend.partsOf(input!).imag, backend, input!.shape),
};
