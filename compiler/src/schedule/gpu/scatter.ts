/**
 * Lowers a scatter on a GPU: an axis that is not indexed gives the invocations, and each walks all
 * updates, so that their order stays and no atomics are needed; WGSL has none for f32.
 */
import type { LoweringContext } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { rows } from "../../machine/webgpu.ts";
import { scatterParts } from "../scatter.ts";
import { perInvocation } from "./gpu.ts";

/** One invocation for each coordinate that is not indexed; it walks all the others in order. */
export function gpuScatter(context: LoweringContext): Scheduled {
  const p = scatterParts(context);
  const body = [
    ...nest(p.indexed, "serial", p.copy),
    ...nest(p.positions, "serial", p.combine),
    ...(p.finish.length ? nest(p.indexed, "serial", p.finish) : []),
  ];
  return { body: perInvocation(p.rest, rows.group, body), workgroupSize: rows.group };
}
