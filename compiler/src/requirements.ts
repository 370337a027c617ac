/**
 * What a run must see to before it begins: what the trace required of symbols, and what each node
 * does, asked of its record again, so that graphs that were read from text or put together by hand
 * are told too. What stands in regions counts: whether it will run is not known.
 */
import {
  opRecord,
  type Requirement,
  type Tensor,
  topologicalOrder,
  withRequirements,
} from "@kiln-ml/ir";
import { nodesOf, type Program } from "./program.ts";

/** Every requirement of the program, the earliest first. */
export function requirementsOf(program: Program): readonly Requirement[] {
  const { requirements } = withRequirements(() => {
    infer(nodesOf(program));
  });
  const given = program.requirements ?? [];
  return [...given, ...requirements];
}

function infer(nodes: readonly Tensor[]): void {
  for (const t of nodes) {
    if (t.regions.length === 0) opRecord(t.op).infer(t.operands, t.attrs, t);
    for (const { results } of t.regions) infer(topologicalOrder(results));
  }
}
