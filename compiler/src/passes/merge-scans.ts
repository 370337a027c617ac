/**
 * Makes one of scans that begin with the same values, run over the same operands and carry the
 * same: the new one stacks what any of them stacks. Part of the pass `regions`.
 */
import {
  attrKey,
  type Graph,
  isOp,
  makeNode,
  opOf,
  replaceNodes,
  resultsOf,
  type Tensor,
  withOperands,
} from "@kiln-ml/ir";
import { mapRoots, nodesOf, type Program } from "../program.ts";

export function mergeScans(program: Program): Program {
  const nodes = nodesOf(program);
  const sets = new Map<string, Tensor[]>();
  for (const t of nodes)
    if (t.op === "scan") {
      const key = `${t.operands.map((o) => o.id)} ${attrKey(t.attrs)}`;
      sets.set(key, [...(sets.get(key) ?? []), t]);
    }
  const merged = new Map<Tensor, readonly Tensor[]>();
  for (const [first, ...others] of sets.values())
    if (others.length) for (const [t, results] of merge(first!, others)) merged.set(t, results);
  if (merged.size === 0) return program;
  const done = new Map<Tensor, Tensor>();
  for (const node of nodes) {
    const from = isOp(node, "result")
      ? merged.get(node.operands[0]!)?.[node.attrs.index]
      : undefined;
    // The merged scan's own operands may have been rebuilt.
    const scan =
      from &&
      withOperands(
        from.operands[0]!,
        from.operands[0]!.operands.map((t) => done.get(t)!),
      );
    done.set(
      node,
      scan
        ? makeNode({ ...partsOf(from), operands: [scan] })
        : withOperands(
            node,
            node.operands.map((t) => done.get(t)!),
          ),
    );
  }
  return mapRoots(program, (root) => done.get(root)!);
}

const partsOf = ({ op, attrs, dtype, shape }: Tensor) => ({ op, attrs, dtype, shape });

/** For each scan that became part of another, what its results are now. */
function merge(first: Tensor, others: readonly Tensor[]): Map<Tensor, readonly Tensor[]> {
  const n = opOf(first, "scan").attrs.carries;
  const { params, results } = first.regions[0]!;
  const all = [...results];
  const types = [...first.results!];
  const places = new Map<Tensor, number[]>([[first, results.map((_, i) => i)]]);
  for (const other of others) {
    const own = inTermsOf(params, other.regions[0]!);
    if (own.slice(0, n).some((t, i) => t !== results[i])) continue;
    places.set(
      other,
      own.map((t, i) => {
        const found = i < n ? i : all.indexOf(t, n);
        if (found >= 0) return found;
        types.push(other.results![i]!);
        return all.push(t) - 1;
      }),
    );
  }
  if (places.size === 1) return new Map();
  const { op, operands, attrs } = first;
  const made = resultsOf({ op, operands, attrs, regions: [{ params, results: all }] }, types);
  return new Map([...places].map(([t, at]) => [t, at.map((i) => made[i]!)] as const));
}

/** The results of a region with other parameters. */
const inTermsOf = (params: readonly Tensor[], region: Graph): Tensor[] =>
  replaceNodes(region.results, new Map(region.params.map((p, i) => [p, params[i]!] as const)));
