/**
 * What is compiled: a graph with named outputs and updates of parameters. Parameters and data are
 * found by walking from the roots. Programs are values: a pass returns another one and leaves its
 * argument alone.
 */
import {
  type Dim,
  inPlaceOf,
  type Requirement,
  type Tensor,
  topologicalOrder,
  withOperands,
} from "@kiln-ml/ir";

/** Memory of a stored node: that of `tensor`, from element `offset`. */
export interface Storage {
  readonly tensor: Tensor;
  readonly offset: Dim;
}

export interface Output {
  readonly name: string;
  readonly value: Tensor;
  /**
   * Where it is written, if not in a tensor of its own: a step of a scan writes its part of what is
   * stacked.
   */
  readonly within?: Storage;
}

export interface Program {
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly Output[];
  /** Parameter and the value it holds after a run, in the order of assignment. */
  readonly updates: readonly (readonly [Tensor, Tensor])[];
  /**
   * What whoever defined it required of symbols; what its nodes require need not be said. Of a
   * source only.
   */
  readonly requirements?: readonly Requirement[];
}

/** The values a run must produce: outputs, then updates. */
export const rootsOf = (program: Program): Tensor[] => [
  ...program.outputs.map((o) => o.value),
  ...program.updates.map(([, value]) => value),
];

const orders = new WeakMap<Program, readonly Tensor[]>();

/** Every node that a run needs, operands before users. */
export function nodesOf(program: Program): readonly Tensor[] {
  const known = orders.get(program) ?? topologicalOrder(rootsOf(program));
  orders.set(program, known);
  return known;
}

/** Inputs, used or not, then the parameters and data that a run reads or writes. */
export function leavesOf(program: Program): Tensor[] {
  const found = new Set(program.inputs);
  for (const t of nodesOf(program))
    if (t.op === "input" || t.op === "param" || t.op === "data") found.add(t);
  for (const [param] of program.updates) found.add(param);
  return [...found];
}

/** The program with each root replaced; inputs and updated parameters stay what they are. */
export function mapRoots(program: Program, fn: (root: Tensor) => Tensor): Program {
  const mapped = {
    inputs: program.inputs,
    outputs: program.outputs.map((o) => ({ ...o, value: fn(o.value) })),
    updates: program.updates.map(([param, value]) => [param, fn(value)] as const),
  };
  return sameProgram(program, mapped) ? program : mapped;
}

/**
 * Rebuilds the program bottom-up, each node once: `fn` sees a node whose operands are already
 * rebuilt, and as it was, and returns it or another of the same dtype and shape. What it returns is
 * not visited again.
 */
export function rewriteProgram(
  program: Program,
  fn: (node: Tensor, before: Tensor) => Tensor,
): Program {
  const done = new Map<Tensor, Tensor>();
  for (const node of nodesOf(program)) {
    const operands = node.operands.map((t) => done.get(t)!);
    const result = inPlaceOf(node, () => fn(withOperands(node, operands), node));
    done.set(node, result);
  }
  return mapRoots(program, (root) => done.get(root)!);
}

/** Two programs are the same graph; interning makes this a comparison of roots. */
export function sameProgram(a: Program, b: Program): boolean {
  const x = rootsOf(a);
  const y = rootsOf(b);
  return x.length === y.length && x.every((t, i) => t === y[i]);
}

/** The parameters and data leaves a program reads or writes, in order of first use. */
export function statesOf(program: Program): Tensor[] {
  const leaves = nodesOf(program).filter((t) => t.op === "param" || t.op === "data");
  return [...new Set([...leaves, ...program.updates.map(([param]) => param)])];
}
