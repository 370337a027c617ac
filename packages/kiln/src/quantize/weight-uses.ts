/**
 * How a program reads its weights: which are matrices of products and nothing else, along which
 * axis, and why the others are not. Says nothing of what is made of them.
 */
import { dotAxes, inlineCalls, isFloat, isOp, type Tensor, topologicalOrder } from "@kiln-ml/ir";

/** Of a product, the axis of the weight that is summed over; of any other, why it is none. */
export type WeightUse = { readonly contracts: 0 | 1 } | { readonly kept: string };

/** A node that is a weight with its axes in another order. */
interface View {
  readonly leaf: Tensor;
  /** The weight's axis that each axis of the node is. */
  readonly axes: readonly number[];
}

/** The parameters of floats behind `roots` by what reads them; `written` change as they run. */
export function weightUses(
  roots: readonly Tensor[],
  written: ReadonlySet<Tensor>,
): Map<Tensor, WeightUse> {
  const flat = inlineCalls(roots);
  const uses = new Map<Tensor, WeightUse>();
  const views = new Map<Tensor, View>();
  const read = (leaf: Tensor, use: WeightUse): void => {
    uses.set(leaf, joined(uses.get(leaf), use));
  };
  for (const node of topologicalOrder(flat)) {
    if (node.op === "param" && isFloat(node.dtype)) {
      views.set(node, { leaf: node, axes: node.shape.map((_, i) => i) });
      if (written.has(node)) read(node, { kept: "changes as it runs" });
      else if (node.rank !== 2) read(node, { kept: kindOfRank(node.rank) });
    }
    for (const [i, operand] of node.operands.entries()) {
      const view = views.get(operand);
      if (!view) continue;
      const seen = viewOf(node, view);
      if (seen) views.set(node, seen);
      else read(view.leaf, useOf(node, i, view));
    }
  }
  for (const root of flat) {
    const view = views.get(root);
    if (view) read(view.leaf, { kept: "is a result" });
  }
  return uses;
}

const kindOfRank = (rank: number): string =>
  rank === 0 ? "one number" : rank === 1 ? "a vector" : `has ${rank} axes`;

function joined(before: WeightUse | undefined, now: WeightUse): WeightUse {
  if (!before || "kept" in now) return before && "kept" in before ? before : now;
  if ("kept" in before || before.contracts === now.contracts) return before;
  return { kept: "is summed over along both axes" };
}

/** What only changes the dtype or the order of axes is the weight still. */
function viewOf(node: Tensor, { leaf, axes }: View): View | undefined {
  if (isOp(node, "transpose"))
    return { leaf, axes: (node.attrs.perm as readonly number[]).map((p) => axes[p]!) };
  const isSame = node.rank === axes.length && `${node.shape}` === `${node.operands[0]!.shape}`;
  const isPlain = node.op === "convert" ? isFloat(node.dtype) : node.op === "reshape";
  return isPlain && isSame ? { leaf, axes } : undefined;
}

function useOf(node: Tensor, operand: number, { axes }: View): WeightUse {
  if (!isOp(node, "dotGeneral")) return { kept: `is read by ${node.op}` };
  const d = dotAxes(node.attrs);
  const [batch, contract] =
    operand === 0 ? [d.lhsBatch, d.lhsContract] : [d.rhsBatch, d.rhsContract];
  if (batch.length || contract.length !== 1) return { kept: "is a product of another form" };
  return { contracts: axes[contract[0]!] as 0 | 1 };
}
