/**
 * Puts attentions into the order of nodes: each once all that its sums are made of has come, and
 * before what reads any of them, or the maxima and totals of its rows. Everything else keeps its
 * order.
 */
import type { Tensor } from "@kiln-ml/ir";
import type { Attention } from "./attention.ts";

export function arranged(
  order: readonly Tensor[],
  attentions: readonly Attention[],
): readonly (Tensor | Attention)[] {
  if (attentions.length === 0) return order;
  const owner = ownersOf(attentions);
  const out: (Tensor | Attention)[] = [];
  const opened = new Set<Attention>();
  const reached = new Set<Tensor>();
  /** Of nodes that wait, what they wait for. */
  const waiting = new Map<Tensor, ReadonlySet<Attention>>();
  let held: Tensor[] = [];
  const open = (a: Attention): void => {
    opened.add(a);
    out.push(a);
    const again = held;
    held = [];
    again.forEach(enter);
  };
  const enter = (node: Tensor): void => {
    const own = owner.get(node);
    const waits = new Set<Attention>();
    for (const o of node.operands)
      for (const a of [owner.get(o), ...(waiting.get(o) ?? [])])
        if (a && a !== own && !opened.has(a)) waits.add(a);
    if (waits.size) {
      held.push(node);
      waiting.set(node, waits);
      return;
    }
    waiting.set(node, new Set(own ? [own] : []));
    if (!own) out.push(node);
    reached.add(node);
    if (own && !opened.has(own) && own.sums.every((s) => reached.has(s.result))) open(own);
  };
  order.forEach(enter);
  return out;
}

/** The attention that each sum, maximum and total is computed in. */
function ownersOf(attentions: readonly Attention[]): Map<Tensor, Attention> {
  const owner = new Map<Tensor, Attention>();
  for (const a of attentions) {
    for (const s of a.sums) owner.set(s.result, a);
    if (a.softmax) owner.set(a.softmax.max, a).set(a.softmax.total, a);
  }
  return owner;
}
