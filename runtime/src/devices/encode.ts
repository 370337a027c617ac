/** Encodes bound launches into one compute pass. Binds nothing and submits nothing. */
import type { Launch } from "../layout.ts";

/** A launch bound to memory, ready to be encoded. */
export interface BoundLaunch {
  readonly name: string;
  readonly launch: Launch;
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
}

export function encodePass(
  encoder: GPUCommandEncoder,
  launches: readonly BoundLaunch[],
  descriptor?: GPUComputePassDescriptor,
): void {
  const pass = encoder.beginComputePass(descriptor);
  let current: GPUComputePipeline | null = null;
  for (const { pipeline, group, launch } of launches) {
    if (pipeline !== current) pass.setPipeline(pipeline);
    current = pipeline;
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(...launch.workgroups);
  }
  pass.end();
}
