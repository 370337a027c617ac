/**
 * Kernels of each case against its budget, on every target: compiles and counts, runs nothing.
 */
import type { TargetName } from "@kiln-ml/artifact";
import { compileProgram } from "../compiler/src/compile.ts";
import { targetOf } from "../compiler/src/targets/index.ts";
import { budgets, type Case } from "./cases.ts";
import { bounded, type Row } from "./row.ts";

/** Why the compiler cannot compile for `target`, or undefined if it can. */
export function lacking(target: TargetName): string | undefined {
  try {
    targetOf(target);
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n")[0];
  }
}

/** Compiled for the target's guaranteed limits. */
export const kernelsOf = (c: Case, target: TargetName): number =>
  compileProgram(c.build(), { target }).artifact.plan.steps.length;

export function budgetRows(
  selected: (name: string) => boolean,
  targets: readonly TargetName[] = ["js", "webgpu"],
): Row[] {
  return targets.flatMap((target) => {
    const reason = lacking(target);
    return budgets
      .filter((c) => selected(c.name))
      .map((c): Row => {
        const row = { case: c.name, target, metric: "kernels", unit: "" };
        if (reason !== undefined) return { ...row, value: null, note: reason };
        return bounded({ ...row, value: kernelsOf(c, target) }, c.most);
      });
  });
}
