/** Compiles deep programs in a process of its own, whose stack is small, and says what became of each, one a line. */
import type { TargetName } from "@kiln-ml/artifact";
import { parseGraph, printGraph, verifyGraph } from "@kiln-ml/ir";
import { deepCases } from "../../bench/deep-cases.ts";
import { compileProgram } from "../../compiler/src/all.ts";
import { nodesOf, type Program } from "../../compiler/src/program.ts";

const [count, targets] = process.argv.slice(2) as [string, string];

function compiled(program: Program, target: TargetName, fusion: boolean): object {
  const { plan, kernels } = compileProgram(program, { target, fusion }).artifact;
  return { steps: plan.steps.length, bindings: Math.max(...kernels.map((k) => k.bindings.length)) };
}

/** Text of the graph and back. */
function written({ inputs, outputs }: Program): object {
  const graph = { params: inputs, results: outputs.map((o) => o.value) };
  verifyGraph(graph);
  const text = printGraph(graph);
  if (printGraph(parseGraph(text).graph) !== text) throw new Error("the text changes");
  return {};
}

function say(about: object, run: () => object): void {
  try {
    console.log(JSON.stringify({ ...about, ...run() }));
  } catch (error) {
    const text = String((error as Error).stack).slice(0, 600);
    console.log(JSON.stringify({ ...about, error: text }));
  }
}

for (const [name, make] of Object.entries(deepCases)) {
  const program = make(Number(count));
  const nodes = nodesOf(program).length;
  say({ name, nodes, target: "text" }, () => written(program));
  for (const target of targets.split(",") as TargetName[])
    for (const fusion of [true, false])
      say({ name, nodes, target, fusion }, () => compiled(program, target, fusion));
}
