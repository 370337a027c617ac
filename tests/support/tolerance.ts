/**
 * How far from the reference a target may be that rounds otherwise: every op of the program is off by what its record
 * allows and every term of a sum by its rounding, at random and several times. What the results move by is the tolerance,
 * so that cancellation loosens it and nothing else does.
 */
import {
  evaluate,
  isFloat,
  opRecord,
  type Tensor,
  topologicalOrder,
  type Value,
} from "@kiln-ml/ir";
import { type Program, rootsOf } from "../../compiler/src/program.ts";

type Dims = Readonly<Record<string, number>>;

const samples = 12;
/** Samples do not find the worst case, which lies further out. */
const margin = 3;
const sums = new Set(["reduce", "contraction", "scan", "scatter"]);

/** Units in the last place that each element of a node may be off, and each of its terms if it is a sum. */
function allowedOf({ op, dtype }: Tensor): { own: number; terms: number } {
  if (dtype !== "f32") return { own: 0, terms: 0 };
  const { family, ulp = 0 } = opRecord(op);
  if (sums.has(family)) return { own: 1, terms: 2 };
  // One for products and sums that become one instruction, or that keep more digits until they are stored.
  const exact =
    family !== "elementwise" || ["neg", "abs", "maximum", "minimum", "select"].includes(op);
  return { own: exact ? 0 : Math.max(ulp, 1), terms: 0 };
}

/** A fixed sequence of signs without pattern. */
function signs(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state < 0 ? -1 : 1;
  };
}

const moved = (v: Value, ulps: number, sign: () => number): Value =>
  v.dtype !== "f32" || ulps === 0
    ? v
    : { ...v, data: v.data.map((x) => Math.fround(x * (1 + sign() * ulps * 2 ** -23))) };

/** The results of the program if every op is off. */
function disturbed(
  program: Program,
  feeds: ReadonlyMap<Tensor, Value>,
  dims: Dims,
  seed: number,
): Value[] {
  const sign = signs(seed);
  const values = new Map(feeds);
  for (const node of topologicalOrder(rootsOf(program))) {
    // Several values at once have no place here; they are computed anew for each of their results.
    if (values.has(node) || node.op === "call") continue;
    const { own, terms } = allowedOf(node);
    const inputs = new Map(values);
    for (const t of node.operands) {
      const v = values.get(t);
      if (v) inputs.set(t, moved(v, terms, sign));
    }
    values.set(node, moved(evaluate([node], { inputs, dims })[0]!, own, sign));
  }
  return rootsOf(program).map((t) => values.get(t)!);
}

/** For each element of each result, what it may be off; `want` is what the reference gives. */
export function tolerances(
  program: Program,
  feeds: ReadonlyMap<Tensor, Value>,
  dims: Dims,
  want: readonly Value[],
): Float64Array[] {
  const allowed = want.map(({ dtype, data }) => data.map((x) => (dtype === "f32" ? ulpsOf(x) : 0)));
  for (let seed = 1; seed <= samples; seed++)
    for (const [i, v] of disturbed(program, feeds, dims, seed).entries())
      for (const [k, x] of v.data.entries()) {
        const off = margin * Math.abs(x - want[i]!.data[k]!);
        // An f64 is off by what the f32 are that it was made of.
        if (isFloat(v.dtype) && off < Infinity) allowed[i]![k] = Math.max(allowed[i]![k]!, off);
      }
  return allowed;
}

/** A few units in the last place: the least that is allowed. */
const ulpsOf = (x: number): number =>
  Number.isFinite(x) ? 4 * Math.max(Math.abs(x) * 2 ** -23, 2 ** -149) : 0;

/** The first element that is further off than allowed, or −1; NaN is only near NaN. */
export const farOff = (got: Value, want: Value, allowed: Float64Array): number =>
  want.data.findIndex((x, i) => {
    const y = got.data[i]!;
    return !(Object.is(x, y) || x === y || Math.abs(x - y) <= allowed[i]!);
  });
