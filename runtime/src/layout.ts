/**
 * Everything about a run that follows from the values of the dims alone: sizes, shapes, arguments,
 * launch extents. Computed once for each tuple of values. Allocates nothing.
 */
import {
  type Artifact,
  type Extent,
  evaluateExtent,
  type Plan,
  ShapeError,
  storageBytes,
} from "@kiln-ml/artifact";
import type { FlowCode, Flows } from "./flow.ts";
import type { Buffer } from "./heap.ts";

export type Place = Plan["steps"][number]["args"][number];
export type Dims = Readonly<Record<string, number>>;

export interface Launch {
  readonly kernel: number;
  readonly args: readonly Place[];
  /** The byte of each place at which the kernel begins; absent where all are 0. */
  readonly starts: readonly number[] | undefined;
  readonly dims: readonly number[];
  /** Which of the dims are counters of loops, and of which. */
  readonly counted: readonly { readonly at: number; readonly loop: number }[];
  readonly workgroups: readonly [number, number, number];
  /** Units of each phase (wasm). */
  readonly units: readonly number[];
  /** Private memory that each thread needs (wasm). */
  readonly stackBytes: number;
  /** Of all its trips through loops. */
  readonly bytes: number;
  readonly flops: number;
}

export interface Layout {
  /** The values of the signature's dims, in its order: the identity of the layout. */
  readonly key: string;
  readonly slotBytes: readonly number[];
  readonly outputs: readonly { readonly shape: readonly number[]; readonly bytes: number }[];
  readonly launches: readonly Launch[];
  /** The order of the launches; undefined where it is that of the list. */
  readonly flow: FlowCode | undefined;
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

/** `codeOf` is for a plan with a flow. */
export function layOut(
  artifact: Artifact,
  dims: Dims,
  key: string,
  codeOf?: Flows["code"],
): Layout {
  const value = (e: Extent) => evaluateExtent(e, dims);
  // What runs over an extent that came out negative has nothing to do.
  const count = (e: Extent) => Math.max(0, value(e));
  const { plan, signature, kernels, target } = artifact;
  const flow = plan.flow && codeOf?.(plan.flow, dims);
  const none: FlowCode["counters"][number] = new Map();
  return {
    key,
    slotBytes: plan.slots.map((slot) => Math.max(0, ...slot.sizes.map(value))),
    outputs: signature.outputs.map((spec) => {
      const shape = spec.shape.map(value);
      if (shape.some((d) => d < 0))
        throw new ShapeError(`run: output ${spec.name} would have shape [${shape}]`);
      const size = shape.reduce((n, d) => n * d, 1);
      // Frozen, so that arrays need no copy of their own.
      return { shape: Object.freeze(shape), bytes: size * storageBytes(spec.dtype, target) };
    }),
    flow,
    launches: plan.steps.map((step, i) => {
      const kernel = kernels[step.kernel]!;
      const counters = flow?.counters[i] ?? none;
      const times = flow?.times[i] ?? 1;
      const counted = kernel.dims.flatMap((dim, at) => {
        const loop = counters.get(dim);
        return loop === undefined ? [] : [{ at, loop }];
      });
      const [x, y, z] = kernel.workgroups ?? [1, 1, 1];
      return {
        kernel: step.kernel,
        args: step.args,
        starts: step.starts,
        dims: kernel.dims.map((dim) => (counters.has(dim) ? 0 : value(dim))),
        counted,
        workgroups: [count(x), count(y), count(z)] as const,
        units: (kernel.phases ?? []).map((phase) => count(phase.units)),
        stackBytes: value(kernel.stack ?? 0),
        bytes: value(step.bytes) * times,
        flops: value(step.flops) * times,
      };
    }),
    copies: plan.copies.map(({ from, to, bytes }) => ({ from, to, bytes: value(bytes) })),
  };
}
