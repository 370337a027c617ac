/**
 * How long compilation takes, warm and the first time, and whether one artifact serves every batch size.
 */

import { dim } from "@kiln-ml/ir";
import { compileProgram } from "../compiler/src/all.ts";
import { compiled, mlpStep } from "./cases.ts";
import { timed, timingOf } from "./measure.ts";
import { bounded, type Row } from "./row.ts";
import { open } from "./session.ts";

const goalMs = 300;

export async function compileRows(selected: (name: string) => boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (const c of compiled.filter(({ name }) => selected(name))) {
    const times: number[] = [];
    let kernels = 0;
    for (let i = 0; i < 8; i++) {
      const program = c.build();
      const compile = () => {
        kernels = compileProgram(program, { target: "js" }).artifact.plan.steps.length;
      };
      times.push(await timed(compile));
    }
    const [first, ...rest] = times;
    const { median, spread } = timingOf(rest);
    const note = `${kernels} kernels, first time in the process ${first!.toFixed(0)} ms`;
    const row = { case: c.name, target: "js", metric: "compile", unit: "ms", spread, note };
    rows.push(bounded({ ...row, value: median }, goalMs));
  }
  if (selected("recompiles")) rows.push(await recompiles());
  return rows;
}

/** One executable of a symbolic batch runs batches of several sizes; it could not compile again if it wanted. */
async function recompiles(): Promise<Row> {
  const batches = [1, 7, 32];
  const program = mlpStep(dim("batch", { max: 4096 }));
  let compilations = 0;
  const session = await open(program, { observe: (stage) => stage === "fuse" && compilations++ });
  for (const batch of batches) await session.runWith({ batch });
  session.dispose();
  const row = { case: "recompiles", target: "js", metric: "recompiles", unit: "" };
  const note = `batches of ${batches.join(", ")} through one artifact`;
  return bounded({ ...row, value: compilations - 1, note }, 0);
}
