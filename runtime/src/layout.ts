/**
 * Everything about a run that follows from the values of the dims alone: sizes, shapes, arguments, launch
 * extents. Computed once for each tuple of values. Allocates nothing.
 */
import {
  type Artifact,
  type Extent,
  evaluateExtent,
  type Plan,
  ShapeError,
  storageBytes,
} from "@kiln-ml/artifact";
import type { Buffer } from "./heap.ts";

export type Place = Plan["steps"][number]["args"][number];
export type Dims = Readonly<Record<string, number>>;

export interface Launch {
  readonly kernel: number;
  readonly args: readonly Place[];
  /** The byte of each place at which the kernel begins; absent where all are 0. */
  readonly starts: readonly number[] | undefined;
  readonly dims: readonly number[];
  readonly workgroups: readonly [number, number, number];
  /** Units of each phase (wasm). */
  readonly units: readonly number[];
  /** Private memory that each thread needs (wasm). */
  readonly stackBytes: number;
  readonly bytes: number;
  readonly flops: number;
}

export interface Layout {
  /** The values of the signature's dims, in its order: the identity of the layout. */
  readonly key: string;
  readonly slotBytes: readonly number[];
  readonly outputs: readonly { readonly shape: readonly number[]; readonly bytes: number }[];
  readonly launches: readonly Launch[];
  readonly copies: readonly { readonly from: Place; readonly to: Place; readonly bytes: number }[];
}

/** A layout with memory for every place. */
export interface Frame {
  readonly layout: Layout;
  readonly slot: readonly Buffer[];
  readonly input: readonly Buffer[];
  readonly output: readonly Buffer[];
  readonly state: readonly Buffer[];
  readonly constant: readonly Buffer[];
}

export const bufferAt = (frame: Frame, place: Place): Buffer => frame[place.in][place.index]!;

export function layOut(artifact: Artifact, dims: Dims, key: string): Layout {
  const value = (e: Extent) => evaluateExtent(e, dims);
  const { plan, signature, kernels, target } = artifact;
  return {
    key,
    slotBytes: plan.slots.map((slot) => Math.max(0, ...slot.sizes.map(value))),
    outputs: signature.outputs.map((spec) => {
      const shape = spec.shape.map(value);
      if (shape.some((d) => d < 0))
        throw new ShapeError(`run: output ${spec.name} would have shape [${shape}]`);
      const size = shape.reduce((n, d) => n * d, 1);
      return { shape, bytes: size * storageBytes(spec.dtype, target) };
    }),
    launches: plan.steps.map((step) => {
      const kernel = kernels[step.kernel]!;
      const [x, y, z] = kernel.workgroups ?? [1, 1, 1];
      return {
        kernel: step.kernel,
        args: step.args,
        starts: step.starts,
        dims: kernel.dims.map(value),
        workgroups: [value(x), value(y), value(z)] as const,
        units: (kernel.phases ?? []).map((phase) => value(phase.units)),
        stackBytes: value(kernel.stack ?? 0),
        bytes: value(step.bytes),
        flops: value(step.flops),
      };
    }),
    copies: plan.copies.map(({ from, to, bytes }) => ({ from, to, bytes: value(bytes) })),
  };
}
