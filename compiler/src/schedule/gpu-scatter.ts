/**
 * Lowers a scatter on a GPU: a coordinate that is not indexed is one invocation's, so that the order of updates stays.
 */
import type { Job } from "../lower/job.ts";
import { nest } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import { perInvocation } from "./gpu.ts";
import { scatterParts } from "./scatter.ts";

/** One invocation for each coordinate that is not indexed; it walks all the others in order. */
export function gpuScatter(job: Job): Scheduled {
  const p = scatterParts(job);
  const body = [
    ...nest(p.indexed, "serial", p.copy),
    ...nest(p.positions, "serial", p.combine),
    ...(p.finish.length ? nest(p.indexed, "serial", p.finish) : []),
  ];
  return { body: perInvocation(p.rest, 64, body), workgroupSize: 64 };
}
