/**
 * Lowers a scatter on a GPU: a coordinate that is not indexed is one invocation's, so that the order of updates stays.
 */
import type { LoweringContext } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
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
  return { body: perInvocation(p.rest, 64, body), workgroupSize: 64 };
}
