/**
 * Groups of attentions: loops over the batch, the rows that are left when weights are summed, and the columns of what is summed.
 * Maxima and totals of rows are members too, and lie in one tensor, which is one binding.
 */
import { addDim, makeNode, sizeOf, type Tensor } from "@kiln-ml/ir";
import { arranged } from "./arrange.ts";
import { type Attention, findAttention, type Softmax } from "./attention.ts";
import { addMember } from "./compute-at.ts";
import { makeLoop } from "./group.ts";
import { type AttentionFusion, type Fusion, openGroup } from "./state.ts";

/** The axis of the weights that sums leave. */
export const rowAxisOf = ({ space, sums: [first] }: Attention): number =>
  first!.along === space.length - 1 ? space.length - 2 : space.length - 1;

export const attentionFusion: AttentionFusion = {
  find: findAttention,
  arrange: (order, { all }) => arranged(order, all),
  open: openAttention,
};

function openAttention(state: Fusion, attention: Attention): void {
  const { space, sums, softmax } = attention;
  const [first] = sums;
  const loops = space.map((d, i) => makeLoop(`i${i}`, d));
  const outer = loops.filter((_, axis) => axis !== first!.along);
  const columns = makeLoop("column", first!.columns);
  const coordsOf = (s: (typeof sums)[number]) =>
    s.axes.map((axis) => (axis < 0 ? columns.at : loops[axis]!.at));
  const group = openGroup(state, {
    kind: "attention",
    anchor: first!.result,
    outer: [...outer, columns],
    outerSpace: { shape: first!.result.shape, coords: coordsOf(first!) },
    attention,
  });
  if (softmax) {
    const coords = outer.map((l) => l.at);
    for (const t of [softmax.max, softmax.total])
      addMember(state, group, t, { coords, level: "outer" });
    storeTogether(state, softmax);
  }
  for (const s of sums) addMember(state, group, s.result, { coords: coordsOf(s), level: "outer" });
}

function storeTogether(state: Fusion, { max, total }: Softmax): void {
  if (state.required.has(total)) return;
  const [rows, ...rest] = max.shape;
  const tensor: Tensor = makeNode({
    op: "concat",
    operands: [max, total],
    attrs: { axis: 0 },
    dtype: max.dtype,
    shape: [addDim(rows!, rows!), ...rest],
  });
  state.storedIn.set(max, { tensor, offset: 0 });
  state.storedIn.set(total, { tensor, offset: sizeOf(max.shape) });
}
