/**
 * Random programs for property tests. A program is grown from a list of steps over a pool of tensors: every
 * list is valid, so shrinking drops steps and lowers numbers and never leaves the language. Values are sharable
 * on purpose: operands are drawn from the whole pool. Counterexamples print as IR.
 */
import type { Dim, Dtype, Tensor, Value } from "@kiln-ml/ir";
import { dim, isStatic, setSiteDepth } from "@kiln-ml/ir";
import fc from "fast-check";
import { nodesOf, type Program } from "../../compiler/src/program.ts";
import { Growth, type Step, sampleFeeds } from "./leaves.ts";
import { printProgram } from "./reference.ts";
import { steps } from "./steps.ts";

export interface ProgramOptions {
  /** The longest chain of steps; default 5. */
  readonly maxDepth?: number;
  /** Names of steps (`steps.ts`); all by default. */
  readonly ops?: readonly string[];
  /** Dtypes of leaves; f32 mostly, and i32, u32, bool by default. */
  readonly dtypes?: readonly Dtype[];
  /** Whether shapes may hold the symbol N. */
  readonly symbolic?: boolean;
}

export interface RandomProgram {
  readonly program: Program;
  /** Inputs and parameters that the program needs. */
  readonly leaves: readonly Tensor[];
  /** A value for each leaf, given the symbols. */
  feeds(dims?: Readonly<Record<string, number>>): Map<Tensor, Value>;
}

/** Values of N to try: the least, and one that is no power of two. */
export const sampleDims: readonly Readonly<Record<string, number>>[] = [{ N: 1 }, { N: 3 }];

interface Plan {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
  readonly leaf: number;
  readonly steps: readonly Step[];
  readonly outputs: readonly number[];
  readonly updates: readonly number[];
}

const mostly: readonly Dtype[] = ["f32", "f32", "f32", "i32", "bool", "u32"];

export function randomProgram(options: ProgramOptions = {}): fc.Arbitrary<RandomProgram> {
  const { maxDepth = 5, ops = Object.keys(steps), dtypes = mostly, symbolic = false } = options;
  const number = fc.nat(63);
  const step: fc.Arbitrary<Step> = fc.record({
    op: fc.nat(ops.length - 1),
    x: fc.nat(7),
    y: number,
    k: fc.array(fc.nat(7), { minLength: 6, maxLength: 6 }),
  });
  // 0 shrinks first, so it stands for the plain extent; see `extentOf`.
  const plan: fc.Arbitrary<Plan> = fc.record({
    shape: fc.array(fc.nat(15), { maxLength: 4 }),
    dtype: fc.constantFrom(...dtypes),
    leaf: number,
    steps: fc.array(step, { minLength: 1, maxLength: maxDepth * 4, size: "max" }),
    outputs: fc.array(fc.nat(7), { minLength: 1, maxLength: 3 }),
    updates: fc.array(fc.nat(7), { maxLength: 2 }),
  });
  return plan.map((p) => {
    // Nobody asks where a random node was built, and asking costs more than building it.
    const depth = setSiteDepth(0);
    try {
      return grow(p, ops, { maxDepth, dtypes, symbolic });
    } finally {
      setSiteDepth(depth);
    }
  });
}

/** 2 for 0, then 1 to 5; 15 is an empty axis and 13, 14 are N where symbols are allowed. */
function extentOf(n: number, rank: number, symbolic: boolean): Dim {
  if (n === 15) return 0;
  if (n >= 13 && symbolic) return dim("N");
  return ([2, 3, 1, 4, 5][n % 5] as number) % (rank > 2 ? 4 : 6) || 1;
}

function grow(
  plan: Plan,
  ops: readonly string[],
  { maxDepth, dtypes, symbolic }: Required<Omit<ProgramOptions, "ops">>,
): RandomProgram {
  const growth = new Growth([...new Set(dtypes)], maxDepth);
  const shape = plan.shape.map((n) => extentOf(n, plan.shape.length, symbolic));
  growth.add(growth.leaf(plan.leaf, plan.dtype, shape));
  for (const step of plan.steps) {
    const x = growth.pick(step.x, (t) => growth.isShallow(t))!;
    const made = steps[ops[step.op]!]!(x, step, growth);
    if (made) growth.add(made, [x]);
  }
  const outputs = plan.outputs.map((n, i) => ({ name: `y${i}`, value: growth.pick(n)! }));
  const program = { inputs: growth.inputs, outputs, updates: updatesOf(plan.updates, growth) };
  const needed = new Set([...nodesOf(program), ...program.updates.map(([param]) => param)]);
  const leaves = [...growth.inputs, ...growth.params].filter((t) => needed.has(t));
  const value: RandomProgram = {
    program: { ...program, inputs: growth.inputs.filter((t) => needed.has(t)) },
    leaves,
    feeds: (dims = {}) => sampleFeeds(leaves, dims),
  };
  return Object.assign(value, { [fc.toStringMethod]: () => printProgram(value.program) });
}

/** Static values kept in parameters of their type: one that is there, or a new one. Each at most once. */
function updatesOf(picks: readonly number[], growth: Growth): [Tensor, Tensor][] {
  const updates = new Map<Tensor, Tensor>();
  for (const n of picks) {
    const value = growth.pick(n, (t) => t.shape.every(isStatic));
    if (value) updates.set(growth.paramLike(value, n), value);
  }
  return [...updates];
}
