/**
 * Plans memory: gives every stored value a place, temporary ones a slot that is free while they live. Outputs and updates in
 * place are written where they belong; everything else that must reach an output or a state is copied at the end.
 */
import {
  type Extent,
  type Place,
  type Plan,
  storageBytes,
  type TargetName,
} from "@kiln-ml/artifact";
import { type Dim, keyOfDim, mulDim, sizeOf, type Tensor } from "@kiln-ml/ir";
import { aliasRoot, isLeaf } from "../access.ts";
import { toExtent } from "../kernel/extent.ts";
import type { Lowered } from "../lower/lower.ts";
import type { Program } from "../program.ts";
import type { Ordered } from "./order.ts";

export interface Planned {
  /** The place of each parameter of each kernel, in order. */
  readonly places: readonly (readonly Place[])[];
  readonly slots: Plan["slots"];
  readonly copies: Plan["copies"];
}

interface Slot {
  readonly sizes: Map<string, Dim>;
  free: boolean;
}

export function plan(
  program: Program,
  states: readonly Tensor[],
  ordered: Ordered,
  target: TargetName,
): Planned {
  const fixed = fixedPlaces(program, states, ordered);
  const lastUse = lastUses(ordered.kernels);
  for (const o of program.outputs) keep(lastUse, o.value);
  for (const [, value] of program.updates) keep(lastUse, value);
  const slots: Slot[] = [];
  const slotOf = new Map<Tensor, number>();
  const places = ordered.kernels.map((k, step) => {
    const scratch: number[] = [];
    const args = k.kernel.params.map((p, i): Place => {
      const t = k.tensors[i];
      const bytes = mulDim(p.size, storageBytes(p.dtype, target));
      if (t) {
        const place = fixed.get(t);
        if (place) return place;
        if (!slotOf.has(t)) slotOf.set(t, takeSlot(slots, bytes));
        return { in: "slot", index: slotOf.get(t)! };
      }
      const index = takeSlot(slots, bytes);
      scratch.push(index);
      return { in: "slot", index };
    });
    for (const i of scratch) slots[i]!.free = true;
    for (const t of k.tensors) {
      const slot = t && slotOf.get(t);
      if (t && slot !== undefined && lastUse.get(t) === step) slots[slot]!.free = true;
    }
    return args;
  });
  const placeOf = (t: Tensor): Place => fixed.get(t) ?? { in: "slot", index: slotOf.get(t)! };
  const copies = copiesOf(program, states, ordered, placeOf, slots, target);
  const sizes = slots.map((s) => ({ sizes: [...s.sizes.values()].map(toExtent) }));
  return { places, slots: sizes, copies };
}

const keep = (lastUse: Map<Tensor, number>, t: Tensor) => lastUse.set(aliasRoot(t), Infinity);

function lastUses(kernels: readonly Lowered[]): Map<Tensor, number> {
  const last = new Map<Tensor, number>();
  for (const [step, k] of kernels.entries()) for (const t of k.tensors) if (t) last.set(t, step);
  return last;
}

/** Places that are given: leaves where they come from, outputs and updates in place where they go. */
function fixedPlaces(
  program: Program,
  states: readonly Tensor[],
  ordered: Ordered,
): Map<Tensor, Place> {
  const fixed = new Map<Tensor, Place>();
  for (const [index, t] of program.inputs.entries()) fixed.set(t, { in: "input", index });
  for (const [index, t] of states.entries()) fixed.set(t, { in: "state", index });
  for (const [value, param] of ordered.inPlace)
    fixed.set(value, { in: "state", index: states.indexOf(param) });
  program.outputs.forEach((o, index) => {
    const root = aliasRoot(o.value);
    if (!fixed.has(root)) fixed.set(root, { in: "output", index });
  });
  return fixed;
}

/** A slot that is free: one that held the same size if possible, else any, else a new one. */
function takeSlot(slots: Slot[], bytes: Dim): number {
  const key = keyOfDim(bytes);
  let found = slots.findIndex((s) => s.free && s.sizes.has(key));
  if (found < 0) found = bestFit(slots, bytes);
  if (found < 0) found = slots.push({ sizes: new Map(), free: true }) - 1;
  const slot = slots[found]!;
  slot.free = false;
  slot.sizes.set(key, bytes);
  return found;
}

/** The free slot whose size is nearest; a static value never grows a slot of symbolic size or the other way round. */
function bestFit(slots: readonly Slot[], bytes: Dim): number {
  let [best, distance] = [-1, Infinity];
  for (const [i, s] of slots.entries()) {
    if (!s.free) continue;
    const sizes = [...s.sizes.values()];
    const symbolic = sizes.some((d) => typeof d !== "number");
    if (symbolic !== (typeof bytes !== "number")) continue;
    const own = symbolic ? 0 : Math.max(...(sizes as number[]));
    const d = typeof bytes === "number" ? Math.abs(Math.log((own + 1) / (bytes + 1))) : 0;
    if (d < distance) [best, distance] = [i, d];
  }
  return best;
}

/**
 * What must still be moved when all kernels have run. Old values of states that others take over are saved first, so
 * that a swap works.
 */
function copiesOf(
  program: Program,
  states: readonly Tensor[],
  ordered: Ordered,
  placeOf: (t: Tensor) => Place,
  slots: Slot[],
  target: TargetName,
): Plan["copies"] {
  const bytesOf = (t: Tensor): Dim => mulDim(sizeOf(t.shape), storageBytes(t.dtype, target));
  const written = new Set(program.updates.map(([param]) => param));
  const [first, last]: Plan["copies"][number][][] = [[], []];
  const source = (t: Tensor): Place => {
    const root = aliasRoot(t);
    const place = placeOf(root);
    if (!isLeaf(root) || !written.has(root)) return place;
    const saved: Place = { in: "slot", index: takeSlot(slots, bytesOf(root)) };
    first!.push({ from: place, to: saved, bytes: toExtent(bytesOf(root)) });
    return saved;
  };
  const moves: { from: Tensor; to: Place }[] = [];
  program.outputs.forEach((o, index) => {
    moves.push({ from: o.value, to: { in: "output", index } });
  });
  for (const [param, value] of program.updates)
    if (ordered.inPlace.get(aliasRoot(value)) !== param)
      moves.push({ from: value, to: { in: "state", index: states.indexOf(param) } });
  for (const { from, to } of moves) {
    const place = source(from);
    if (place.in === to.in && place.index === to.index) continue;
    const bytes: Extent = toExtent(bytesOf(from));
    last!.push({ from: place, to, bytes });
  }
  return [...first!, ...last!];
}
