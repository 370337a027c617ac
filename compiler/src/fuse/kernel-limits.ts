/**
 * How much one kernel may compute and bind. A chain of any length is cut into kernels of a size
 * that engines compile well and that takes a bounded time to lower; what is inlined is bounded
 * likewise, so that no walk from a node to what it reads is long. Programs that people write by
 * hand never get near. Decides no fusion site.
 */
import { isMovement, opRecord, type Tensor } from "@kiln-ml/ir";
import { isLeaf } from "../access.ts";
import { kernels } from "../sizes.ts";
import type { Group } from "./group.ts";
import { terminals } from "./reads.ts";
import type { Fusion } from "./state.ts";

/** What is inlined in a floating node: at most so many nodes, and movements on one way. */
export interface Inlined {
  readonly nodes: number;
  readonly moves: number;
}

export const tensorsAllowed = ({ cut, limits }: Fusion): number =>
  cut ? Math.min(kernels.tensorsOfCut, limits.bindings) : kernels.mostTensors;

const isLiteral = (t: Tensor): boolean => t.op === "constant" || t.op === "iota";

/** True for what is computed where it is read. */
const floats = (state: Fusion, t: Tensor): boolean =>
  !isLeaf(t) && !isLiteral(t) && !state.groupOf.has(t);

/**
 * The floating nodes that computing `node` takes besides those of `known`; undefined if they are
 * more than `most`.
 */
function taken(
  state: Fusion,
  node: Tensor,
  known: ReadonlySet<Tensor>,
  most: number,
): Set<Tensor> | undefined {
  const found = new Set([node]);
  for (const t of found) {
    if (found.size > most) return undefined;
    for (const o of t.operands) if (!known.has(o) && floats(state, o)) found.add(o);
  }
  return found.size > most ? undefined : found;
}

const nothing: ReadonlySet<Tensor> = new Set();

/**
 * Notes a node that floats. False if too much would be inlined where it is read: it has to be
 * stored.
 */
export function mayFloat(state: Fusion, node: Tensor): boolean {
  if (isLiteral(node)) return true;
  let [nodes, moves] = [1, 0];
  for (const o of new Set(node.operands)) {
    const inside = floats(state, o) ? state.inlined.get(o) : undefined;
    nodes += inside?.nodes ?? 0;
    moves = Math.max(moves, inside?.moves ?? 0);
  }
  if (isMovement(node)) moves++;
  // What several operands share was counted for each.
  if (nodes > kernels.mostInlined)
    nodes = taken(state, node, nothing, kernels.mostInlined)?.size ?? Infinity;
  state.inlined.set(node, { nodes, moves });
  if (
    nodes <= kernels.mostInlined &&
    moves <= kernels.mostMoves &&
    terminals(state, node).size < tensorsAllowed(state)
  )
    return true;
  state.capped = true;
  return false;
}

/** True if the group may compute `node` as well. */
export function hasRoom(state: Fusion, group: Group, node: Tensor): boolean {
  const { computed, waiting, reads } = group;
  const phases = Math.max(...group.phase.values(), phaseOf(state, group, node));
  const most =
    Math.min(kernels.mostComputed, (4 * kernels.mostComputed) / (phases + 1)) - computed.size;
  let tensors = reads.size + waiting.size;
  for (const t of terminals(state, node)) if (!reads.has(t) && !computed.has(t)) tensors++;
  const fits =
    most > 0 &&
    phases <= kernels.mostPhases &&
    tensors < tensorsAllowed(state) &&
    taken(state, node, computed, most) !== undefined;
  if (!fits) state.capped = true;
  return fits;
}

/**
 * True if none of the groups that read a node, which could compute it as well, has too many tensors
 * to read it from memory.
 */
export function mayBind(state: Fusion, by: Iterable<Group>): boolean {
  for (const { reads, waiting } of by)
    if (reads.size + waiting.size >= tensorsAllowed(state)) {
      state.capped = true;
      return !state.cut;
    }
  return true;
}

/** In which run over a row `node` is known: one after those of the reductions that it needs. */
function phaseOf(state: Fusion, group: Group, node: Tensor): number {
  let phase = 0;
  if (group.inner.length === 0) return 0;
  for (const t of terminals(state, node)) phase = Math.max(phase, group.phase.get(t) ?? 0);
  return opRecord(node.op).family === "reduce" ? phase + 1 : phase;
}

/** Notes what a new member makes a group compute, read and store. */
export function takeRoom(state: Fusion, group: Group, node: Tensor): void {
  const phase = phaseOf(state, group, node);
  if (phase > 0) group.phase.set(node, phase);
  for (const t of terminals(state, node)) if (!group.computed.has(t)) group.reads.add(t);
  for (const t of taken(state, node, group.computed, Infinity)!) {
    if (group.computed.has(t)) continue;
    group.computed.add(t);
    for (const o of new Set(t.operands)) {
      const left = (group.waiting.get(o) ?? 0) - 1;
      if (left > 0) group.waiting.set(o, left);
      else group.waiting.delete(o);
    }
  }
  const readers = state.readers.get(node)?.length ?? 0;
  const asked = state.required.has(node);
  if (readers > 0 || asked) group.waiting.set(node, asked ? Infinity : readers);
}
