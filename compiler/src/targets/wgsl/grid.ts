/**
 * Workgroup loops as the grid of a dispatch. The innermost loop is x, so that workgroups which run
 * at the same time read neighbouring memory; a grid that may exceed the limit of one dimension
 * (65,535 on every device) is numbered through and folded into x and y, and those beyond the last
 * return at once.
 */
import type { Extent } from "@kiln-ml/artifact";
import { bug, type Dim, maxOfDim, mulDim } from "@kiln-ml/ir";
import { toExtent } from "../../kernel/extent.ts";
import type { Kernel, Of } from "../../kernel/kernel.ts";
import { eachStmt } from "../../kernel/uses.ts";

/** maxComputeWorkgroupsPerDimension of every WebGPU device (WebGPU 3.6.2). */
const limit = 65535;

export interface Grid {
  readonly loops: readonly Of<"loop">[];
  /**
   * The loops are numbered through and the number is folded; the last groups may have nothing to
   * do.
   */
  readonly folded: boolean;
  readonly workgroups: readonly [Extent, Extent, Extent];
}

export function gridOf(kernel: Kernel): Grid {
  const loops: Of<"loop">[] = [];
  eachStmt(kernel.body, (s) => {
    if (s.kind === "loop" && s.loop === "workgroup") loops.push(s);
  });
  if (loops.length > 3) bug("emit", `${kernel.name} has ${loops.length} workgroup loops`);
  for (const l of loops)
    if (l.start !== undefined || l.step !== undefined)
      bug("emit", `workgroup loop ${l.name} of ${kernel.name} does not count from 0 by 1`);
  if (loops.every((l) => maxOfDim(l.extent) <= limit)) {
    const [x = 1, y = 1, z = 1] = loops.map((l) => toExtent(l.extent)).reverse();
    return { loops, folded: false, workgroups: [x, y, z] };
  }
  const count = toExtent(loops.map((l) => l.extent).reduce(mulDim));
  const rows: Extent = ["/", ["+", count, limit - 1], limit];
  // Rows of equal length, so that fewer groups than rows idle.
  const filled: Extent = ["max", rows, 1];
  const columns: Extent = ["/", ["+", count, ["+", filled, -1]], filled];
  return { loops, folded: true, workgroups: [columns, rows, 1] };
}

/**
 * Lines that give each workgroup loop its variable, and the names they bind; `sizes` are the
 * extents' texts.
 */
export function gridLines(
  grid: Grid,
  names: readonly string[],
  sizes: readonly string[],
): string[] {
  if (!grid.folded)
    return names.map((name, i) => `let ${name} = i32(workgroup.${"xyz"[names.length - 1 - i]});`);
  // A grid of no groups never runs, but its text must not divide by 0.
  const counts = sizes.map((s) => (s === "0" ? "1" : s));
  const total = sizes.join(" * ");
  const lines = ["let group = i32(workgroup.x + workgroup.y * groups.x);"];
  lines.push(`if (group >= ${total}) {`, "  return;", "}");
  names.forEach((name, i) => {
    const inner = counts.slice(i + 1);
    const divisor = inner.length > 1 ? `(${inner.join(" * ")})` : inner[0];
    const quotient = divisor === undefined ? "group" : `group / ${divisor}`;
    lines.push(
      `let ${name} = ${i === 0 ? quotient : divisor ? `(${quotient}) % ${counts[i]}` : `group % ${counts[i]}`};`,
    );
  });
  return lines;
}

export const extentsOf = (grid: Grid): readonly Dim[] => grid.loops.map((l) => l.extent);
