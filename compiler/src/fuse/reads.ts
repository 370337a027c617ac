/**
 * What computing a node reads from memory, through everything that is inlined in it. Remembered,
 * and made of what is known of operands, so that a long chain is not walked again for each of its
 * nodes.
 */
import type { Tensor } from "@kiln-ml/ir";
import { isLeaf } from "../access.ts";
import type { Fusion } from "./state.ts";

/** The stored nodes and leaves that computing `node` reads, through everything that is inlined. */
export function terminals(state: Fusion, node: Tensor): ReadonlySet<Tensor> {
  const { read, groupOf } = state;
  const stack = [node];
  const isTerminal = (t: Tensor): boolean => isLeaf(t) || groupOf.has(t);
  for (let next = stack.at(-1); next; next = stack.at(-1)) {
    const height = stack.length;
    if (!read.has(next))
      for (const o of next.operands) if (!isTerminal(o) && !read.has(o)) stack.push(o);
    if (stack.length > height) continue;
    if (!read.has(next)) read.set(next, joined(next.operands, isTerminal, read));
    stack.pop();
  }
  return read.get(node)!;
}

function joined(
  operands: readonly Tensor[],
  isTerminal: (t: Tensor) => boolean,
  read: ReadonlyMap<Tensor, ReadonlySet<Tensor>>,
): ReadonlySet<Tensor> {
  // Most nodes read what their only operand that is made of anything reads.
  const made = operands.filter((o) => isTerminal(o) || read.get(o)!.size > 0);
  const [only] = made;
  if (only && !isTerminal(only) && made.every((o) => o === only)) return read.get(only)!;
  const out = new Set<Tensor>();
  for (const o of made)
    if (isTerminal(o)) out.add(o);
    else for (const t of read.get(o)!) out.add(t);
  return out;
}

/** `node` came to be stored, or ceased to be, after what reads it was looked at. */
export function readAgain(state: Fusion, node: Tensor): void {
  const seen = new Set([node]);
  for (const t of seen)
    for (const r of state.readers.get(t) ?? [])
      if (state.read.delete(r) && !state.groupOf.has(r)) seen.add(r);
}
