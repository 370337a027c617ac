/** The naive kernels of a program: its map, rows, scan and contraction groups as `lower/` makes them, before any schedule. */
import { type CompileOptions, compileProgram } from "../../compiler/src/all.ts";
import { storedNodes } from "../../compiler/src/fuse/materialise.ts";
import type { Kernel, Stmt } from "../../compiler/src/kernel/kernel.ts";
import { verifyKernel } from "../../compiler/src/kernel/verify.ts";
import { Lowering, type Schedule, type Scheduled } from "../../compiler/src/lower/lower.ts";
import { naiveContraction, naiveRows, naiveScan } from "../../compiler/src/lower/naive.ts";
import { nodesOf, type Program } from "../../compiler/src/program.ts";

export interface Naive {
  readonly naive: Kernel;
  /** The kernel that the target's schedule makes of the same group. */
  readonly scheduled: Kernel;
  /** The moves in between. */
  readonly recipe: string | undefined;
}

const kinds: ReadonlySet<string> = new Set(["map", "rows", "scan", "contraction"]);

const none = (): never => {
  throw new Error("such a group has no naive kernel");
};
const body = (stmts: readonly Stmt[]): Scheduled => ({ body: stmts, workgroupSize: 1 });
const schedule: Schedule = {
  rows: (context) => body(naiveRows(context)),
  scan: (context) => body(naiveScan(context)),
  contraction: (context) => body(naiveContraction(context)),
  scatter: none,
  sort: none,
  beside: none,
};

export function naiveKernelsOf(program: Program, options: CompileOptions): Naive[] {
  const found: Naive[] = [];
  const lowering = new Lowering(schedule, {
    limits: {},
    features: [],
    choices: undefined,
    verify: (kernel) => verifyKernel(kernel, "js"),
  });
  compileProgram(program, {
    ...options,
    observe(stage, { program: lowered, fusion, kernels }) {
      if (stage !== "lower") return;
      const stored = storedNodes(fusion!, nodesOf(lowered!));
      for (const { group, kernel, recipe } of kernels!)
        if (kinds.has(group.kind) && group.guests.length + group.operandReductions.length === 0)
          found.push({
            naive: lowering.lower(fusion!, group, stored).kernel,
            scheduled: kernel,
            recipe,
          });
    },
  });
  return found;
}
