/**
 * Scan groups on a GPU: one invocation a line, which walks the axis in order. Not parallel along the axis yet, so one long
 * line takes as long as on one slow thread.
 */
import type { Job } from "../lower/job.ts";
import { collapse, nest, type Rename } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import { lineOf } from "../lower/scans.ts";
import { dimsIn } from "../lower/walk.ts";
import { perInvocation } from "./gpu.ts";

const size = 64;

export function gpuScan(job: Job): Scheduled {
  const line = (rename: Rename, inner = job.group.inner) =>
    lineOf(job, rename, (step) => nest(inner, "serial", step));
  const outer = collapse(job.group.outer, new Map(), (r) => dimsIn(line(r, [])));
  return { body: perInvocation(outer.loops, size, line(outer.rename)), workgroupSize: size };
}
