/** What the flow of a plan says of its steps. */
import type { Extent, Flow, Plan } from "./artifact.ts";
import { evaluateExtent } from "./extent.ts";

/** Deeper nesting is refused by readers. */
export const maxFlowDepth = 16;

/** The lists inside an element of a flow, in the order of their steps. */
export function partsOf(flow: Exclude<Flow, number>): (readonly Flow[])[] {
  if ("loop" in flow) return [flow.body];
  return "while" in flow ? [flow.while.test, flow.body] : [flow.then, flow.else];
}

/**
 * How often each step runs. What only a run knows is guessed: that the body of a `while` runs once, and both branches
 * of an `if`.
 */
export function timesOf(
  { steps, flow }: Pick<Plan, "steps" | "flow">,
  dims: Readonly<Record<string, number>>,
): number[] {
  const times = steps.map(() => 1);
  const enter = (list: readonly Flow[], count: number): void => {
    for (const f of list) {
      if (typeof f === "number") times[f] = count;
      else {
        const trips = "loop" in f ? Math.max(0, evaluateExtent(f.loop.trips, dims)) : 1;
        for (const part of partsOf(f)) enter(part, count * trips);
      }
    }
  };
  enter(flow ?? [], 1);
  return times;
}

/** The trips of the loops around each step, outermost first. */
export function loopsAround({ steps, flow }: Pick<Plan, "steps" | "flow">): Extent[][] {
  const around: Extent[][] = steps.map(() => []);
  const enter = (list: readonly Flow[], trips: Extent[]): void => {
    for (const f of list)
      if (typeof f === "number") around[f] = trips;
      else
        for (const part of partsOf(f)) enter(part, "loop" in f ? [...trips, f.loop.trips] : trips);
  };
  enter(flow ?? [], []);
  return around;
}
