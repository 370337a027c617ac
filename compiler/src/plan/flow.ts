/** Planned steps as the flow of an artifact, in which the kernels of all steps are numbered in order. */
import type { Flow, Plan } from "@kiln-ml/artifact";
import { toExtent } from "../kernel/extent.ts";
import type { PlannedStep } from "./planned.ts";

/** Nothing where each step runs once. */
export function flowOf(steps: readonly PlannedStep[]): Pick<Plan, "flow"> {
  if (steps.every((s) => s.is === "kernel")) return {};
  let next = 0;
  const flow = (list: readonly PlannedStep[]): Flow[] => list.map(one);
  const one = (s: PlannedStep): Flow => {
    switch (s.is) {
      case "kernel":
        return next++;
      case "loop":
        return { loop: { dim: s.symbol, trips: toExtent(s.trip) }, body: flow(s.body) };
      case "if":
        return { if: s.flag, then: flow(s.then), else: flow(s.otherwise) };
      case "while": {
        const most = s.most === undefined ? {} : { most: s.most };
        return { while: { test: flow(s.test), flag: s.flag, ...most }, body: flow(s.body) };
      }
    }
  };
  return { flow: flow(steps) };
}
