/**
 * Plans memory: gives every stored value a place, temporary ones a slot that is free while they live. Outputs and updates in
 * place are written where they belong; everything else that must reach an output or a state is copied at the end.
 */
import type { BufferRef, Extent, Plan, TargetName } from "@kiln-ml/artifact";
import type { Tensor } from "@kiln-ml/ir";
import { aliasRoot, isLeaf } from "../access.ts";
import { toExtent } from "../kernel/extent.ts";
import type { Program } from "../program.ts";
import type { Ordered } from "./order.ts";
import { planBlock } from "./plan-block.ts";
import { bytesOf, type CopyKernel, launchesOf, type Planned, sameBuffer } from "./planned.ts";
import { Slots } from "./slots.ts";

export function plan(
  program: Program,
  states: readonly Tensor[],
  ordered: Ordered,
  target: TargetName,
  copy: CopyKernel = () => {
    throw new Error("plan: regions need a kernel that copies");
  },
): Planned {
  const slots = new Slots();
  const fixed = fixedPlaces(program, states, ordered);
  const asked = [...program.outputs.map((o) => o.value), ...program.updates.map(([, v]) => v)];
  const block = planBlock({ slots, target, copy }, ordered, fixed, asked);
  const copies = copiesOf(program, states, ordered, block.placeOf, slots, target);
  const places = launchesOf(block.steps).map((s) => s.places);
  return { steps: block.steps, places, slots: slots.sizes(), copies };
}

/** Places that are given: leaves where they come from, outputs and updates in place where they go. */
function fixedPlaces(
  program: Program,
  states: readonly Tensor[],
  ordered: Ordered,
): Map<Tensor, BufferRef> {
  const fixed = new Map<Tensor, BufferRef>();
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

/**
 * What must still be moved when all kernels have run. Old values of states that others take over are saved first, so
 * that a swap works.
 */
function copiesOf(
  program: Program,
  states: readonly Tensor[],
  ordered: Ordered,
  placeOf: (t: Tensor) => BufferRef,
  slots: Slots,
  target: TargetName,
): Plan["copies"] {
  const written = new Set(program.updates.map(([param]) => param));
  const [first, last]: Plan["copies"][number][][] = [[], []];
  const source = (t: Tensor): BufferRef => {
    const root = aliasRoot(t);
    const place = placeOf(root);
    if (!isLeaf(root) || !written.has(root)) return place;
    const bytes = bytesOf(root, target);
    const saved: BufferRef = { in: "slot", index: slots.take(bytes) };
    first!.push({ from: place, to: saved, bytes: toExtent(bytes) });
    return saved;
  };
  const moves: { from: Tensor; to: BufferRef }[] = [];
  program.outputs.forEach((o, index) => {
    moves.push({ from: o.value, to: { in: "output", index } });
  });
  for (const [param, value] of program.updates)
    if (ordered.inPlace.get(aliasRoot(value)) !== param)
      moves.push({ from: value, to: { in: "state", index: states.indexOf(param) } });
  for (const { from, to } of moves) {
    const place = source(from);
    if (sameBuffer(place, to)) continue;
    const bytes: Extent = toExtent(bytesOf(from, target));
    last!.push({ from: place, to, bytes });
  }
  return [...first!, ...last!];
}
