/**
 * What is compiled: named inputs, named outputs and updates of parameters. Parameters and data leaves are found by walking.
 */
import { type Tensor, topologicalOrder } from "@kiln-ml/ir";

export interface Program {
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly { readonly name: string; readonly value: Tensor }[];
  /** New values of parameters, written when the run ends. */
  readonly updates: readonly (readonly [param: Tensor, value: Tensor])[];
}

/** Everything a program must compute. */
export const rootsOf = (p: Program): Tensor[] => [
  ...p.outputs.map((o) => o.value),
  ...p.updates.map(([, value]) => value),
];

/** The parameters and data leaves a program reads or writes, in order of first use. */
export function statesOf(p: Program): Tensor[] {
  const leaves = topologicalOrder(rootsOf(p)).filter((t) => t.op === "param" || t.op === "data");
  return [...new Set([...leaves, ...p.updates.map(([param]) => param)])];
}
