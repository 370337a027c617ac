/** Encodes bound launches into a compute pass. Binds no memory and submits nothing. */
import type { Launch } from "../layout.ts";

/** A launch bound to memory, ready to be encoded. */
export interface BoundLaunch {
  readonly name: string;
  readonly launch: Launch;
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
}

/** What is set in a pass, and so need not be set again. */
export interface PassState {
  pipeline: GPUComputePipeline | null;
  group: GPUBindGroup | null;
}

export const noState = (): PassState => ({ pipeline: null, group: null });

/**
 * The launches from `from` to before `to`. Every call costs about a microsecond, and an argument a
 * tenth of one.
 */
export function encodeLaunches(
  pass: GPUComputePassEncoder,
  launches: readonly BoundLaunch[],
  from: number,
  to: number,
  state: PassState,
): void {
  for (let i = from; i < to; i++) {
    const { pipeline, group, launch } = launches[i]!;
    if (pipeline !== state.pipeline) pass.setPipeline(pipeline);
    // A group of an equal layout stays bound; equal groups have one layout.
    if (group !== state.group) pass.setBindGroup(0, group);
    state.pipeline = pipeline;
    state.group = group;
    const [x, y, z] = launch.workgroups;
    if (z !== 1) pass.dispatchWorkgroups(x, y, z);
    else if (y !== 1) pass.dispatchWorkgroups(x, y);
    else pass.dispatchWorkgroups(x);
  }
}

/** A pass of its own for some launches. */
export function encodePass(
  encoder: GPUCommandEncoder,
  launches: readonly BoundLaunch[],
  descriptor?: GPUComputePassDescriptor,
): void {
  const pass = encoder.beginComputePass(descriptor);
  encodeLaunches(pass, launches, 0, launches.length, noState());
  pass.end();
}
