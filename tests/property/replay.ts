/**
 * Replays a memory plan without computing anything: what is kept is which tensor each place holds. Reading a place that holds
 * another tensor than the kernel was built for throws, and so does everything else that a plan must not do. Whether a
 * kernel may overwrite what it reads is not seen here; `plan.test.ts` runs programs on poisoned memory for that.
 */
import {
  type BufferRef,
  evaluateExtent,
  type Plan,
  storageBytes,
  type TargetName,
} from "@kiln-ml/artifact";
import { evaluateDim, mulDim, sizeOf, type Tensor } from "@kiln-ml/ir";
import { aliasRoot } from "../../compiler/src/access.ts";
import { heldDtype } from "../../compiler/src/kernel/types.ts";
import type { Lowered } from "../../compiler/src/lower/lower.ts";
import type { Planned } from "../../compiler/src/plan/planned.ts";
import type { Program } from "../../compiler/src/program.ts";

export interface Replayed {
  readonly program: Program;
  readonly states: readonly Tensor[];
  readonly kernels: readonly Lowered[];
  readonly planned: Planned;
  readonly target: TargetName;
  readonly dims: Readonly<Record<string, number>>;
}

type Memory = Map<string, Tensor>;
const keyOf = ({ in: space, index }: BufferRef): string => `${space} ${index}`;

/** Throws Error saying which step or copy is wrong. */
export function replay(r: Replayed): void {
  const memory: Memory = new Map();
  for (const [i, t] of r.program.inputs.entries()) memory.set(`input ${i}`, t);
  for (const [i, t] of r.states.entries()) memory.set(`state ${i}`, t);
  let temporary = 0;
  for (const [i, k] of r.kernels.entries()) temporary += replayStep(r, i, k, memory);
  temporary += replayCopies(r, memory);
  checkResults(r, memory);
  const peak = r.planned.slots.reduce((sum, s) => sum + capacity(s, r), 0);
  if (peak > temporary) throw new Error(`slots take ${peak} bytes, all values ${temporary}`);
}

/** Bytes that the step's scratch memory and new temporaries take. */
function replayStep(r: Replayed, step: number, k: Lowered, memory: Memory): number {
  const places = r.planned.places[step]!;
  let bytes = 0;
  for (const [i, p] of k.kernel.params.entries()) {
    const place = places[i]!;
    const where = `step ${step} ${k.kernel.name}, ${p.name} at ${keyOf(place)}`;
    const size = evaluateDim(mulDim(p.size, storageBytes(heldDtype(p), r.target)), r.dims);
    if (place.in === "slot") checkFits(r, place, size, where);
    const beside = places.flatMap((q, j) => (j !== i && keyOf(q) === keyOf(place) ? [j] : []));
    if (p.access === "read") {
      expect(memory, place, k.tensors[i]!, where);
      continue;
    }
    if (p.access === "scratch" && beside.length) throw new Error(`${where}: scratch is shared`);
    for (const j of beside) checkInPlace(r, k, place, j, where);
    if (place.in === "input" || place.in === "constant") throw new Error(`${where}: written`);
    if (place.in === "slot") bytes += size;
  }
  for (const [i, p] of k.kernel.params.entries())
    if (p.access === "scratch") memory.delete(keyOf(places[i]!));
    else if (p.access !== "read") memory.set(keyOf(places[i]!), k.tensors[i]!);
  return bytes;
}

/** A kernel may overwrite what it reads only if that is the old value of a state. */
function checkInPlace(
  r: Replayed,
  k: Lowered,
  place: BufferRef,
  other: number,
  where: string,
): void {
  const isOld = place.in === "state" && k.tensors[other] === r.states[place.index];
  if (k.kernel.params[other]!.access !== "read" || !isOld)
    throw new Error(`${where}: ${k.kernel.params[other]!.name} lies there too`);
}

function replayCopies(r: Replayed, memory: Memory): number {
  let bytes = 0;
  for (const [i, { from, to, bytes: extent }] of r.planned.copies.entries()) {
    const found = memory.get(keyOf(from));
    if (!found) throw new Error(`copy ${i}: ${keyOf(from)} holds nothing`);
    const size = evaluateExtent(extent, r.dims);
    const whole = evaluateDim(bytesOf(found, r.target), r.dims);
    if (size !== whole) throw new Error(`copy ${i}: ${size} of ${whole} bytes`);
    if (to.in === "slot") {
      checkFits(r, to, size, `copy ${i}`);
      bytes += size;
    }
    memory.set(keyOf(to), found);
  }
  return bytes;
}

const bytesOf = (t: Tensor, target: TargetName) =>
  mulDim(sizeOf(t.shape), storageBytes(t.dtype, target));

function checkResults({ program, states }: Replayed, memory: Memory): void {
  program.outputs.forEach((o, index) => {
    expect(memory, { in: "output", index }, aliasRoot(o.value), `output ${o.name}`);
  });
  const updates = new Map(program.updates);
  states.forEach((t, index) => {
    const value = aliasRoot(updates.get(t) ?? t);
    expect(memory, { in: "state", index }, value, `state ${t.attrs.name}`);
  });
}

function expect(memory: Memory, place: BufferRef, t: Tensor, where: string): void {
  const found = memory.get(keyOf(place));
  if (found !== t)
    throw new Error(
      `${where}: holds ${found ? `${found.op} ${found.id}` : "nothing"}, not ${t.op} ${t.id}`,
    );
}

function checkFits(r: Replayed, place: BufferRef, size: number, where: string): void {
  const slot = r.planned.slots[place.index];
  if (!slot) throw new Error(`${where}: there is no such slot`);
  if (capacity(slot, r) < size)
    throw new Error(`${where}: takes ${size} bytes of ${capacity(slot, r)}`);
}

const capacity = (slot: Plan["slots"][number], { dims }: Replayed): number =>
  Math.max(0, ...slot.sizes.map((e) => evaluateExtent(e, dims)));
