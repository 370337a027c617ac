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

/**
 * Storage buffers that every desktop adapter binds in one kernel. WebGPU guarantees 8, with which Adam's moments of a
 * weight and of its bias do not fit beside each other.
 */
const storageBuffers = 10;

export function kernelsOf(c: Case, target: TargetName): number {
  const { defaultLimits } = targetOf(target);
  const name = "maxStorageBuffersPerShaderStage";
  const limits =
    name in defaultLimits ? { ...defaultLimits, [name]: storageBuffers } : defaultLimits;
  return compileProgram(c.build(), { target, limits }).artifact.plan.steps.length;
}

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
        const note = target === "webgpu" ? { note: `${storageBuffers} storage buffers` } : {};
        return bounded({ ...row, value: kernelsOf(c, target), ...note }, c.most);
      });
  });
}
