/**
 * Programs and the reference: printing, reading, verifying and evaluating a `Program` with what `packages/ir`
 * offers for graphs, and comparing values bit for bit.
 */
import {
  evaluate,
  parseGraph,
  printGraph,
  type Tensor,
  type Value,
  verifyGraph,
} from "@kiln-ml/ir";
import { leavesOf, type Program, rootsOf } from "../../compiler/src/program.ts";

/** The program as IR text. */
export function printProgram(program: Program): string {
  const graph = { params: leavesOf(program), results: program.outputs.map((o) => o.value) };
  return printGraph(graph, { updates: new Map(program.updates) });
}

/** The program that IR text describes; outputs are named y0, y1, …. */
export function parseProgram(text: string): Program {
  const { graph, updates } = parseGraph(text);
  return {
    inputs: graph.params.filter((t) => t.op === "input"),
    outputs: graph.results.map((value, i) => ({ name: `y${i}`, value })),
    updates: [...updates],
  };
}

/** Throws unless every node has the type its record infers and every input belongs to the program. */
export function verifyProgram(program: Program): void {
  const graph = { params: leavesOf(program), results: rootsOf(program) };
  verifyGraph(graph, new Map(program.updates));
}

/** Outputs, then updates. */
export function evaluateProgram(
  program: Program,
  feeds: ReadonlyMap<Tensor, Value>,
  dims: Readonly<Record<string, number>> = {},
): Value[] {
  return evaluate(rootsOf(program), { inputs: feeds, dims });
}

/** The same bits: −0 is not 0, every NaN is every other NaN. */
export function sameValue(a: Value, b: Value): boolean {
  return (
    a.dtype === b.dtype &&
    String(a.shape) === String(b.shape) &&
    a.data.length === b.data.length &&
    a.data.every((x, i) => Object.is(x, b.data[i]!))
  );
}
