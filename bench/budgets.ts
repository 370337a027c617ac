/**
 * Kernels of each case against its budget, on every target: compiles and counts, runs nothing.
 */
import type { TargetName } from "@kiln-ml/artifact";
import { compileProgram } from "../compiler/src/all.ts";
import { budgets, type Case } from "./cases.ts";
import { bounded, type Row } from "./row.ts";

/** Compiled for the target's guaranteed limits. */
export const kernelsOf = (c: Case, target: TargetName): number =>
  compileProgram(c.build(), { target }).artifact.plan.steps.length;

export function budgetRows(
  selected: (name: string) => boolean,
  targets: readonly TargetName[] = ["js", "webgpu"],
): Row[] {
  return targets.flatMap((target) =>
    budgets
      .filter((c) => selected(c.name))
      .map((c): Row => {
        const row = { case: c.name, target, metric: "kernels", unit: "" };
        const most = target === "webgpu" ? (c.mostOnWebgpu ?? c.most) : c.most;
        return bounded({ ...row, value: kernelsOf(c, target) }, most);
      }),
  );
}
