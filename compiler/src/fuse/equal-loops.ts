/**
 * Makes one kernel of several with the same loops that have nothing else in common: where a sum
 * was split, what joins the parts of a layer is like what joins another's, and each is a launch.
 * Both read and store what they did alone. Runs after all else in fusion, for targets that a
 * launch costs something.
 */
import { isMovement, keyOfDim, opRecord } from "@kiln-ml/ir";
import { keyOfCoords } from "../access.ts";
import { kernels } from "../sizes.ts";
import type { Group, Loop } from "./group.ts";
import { absorb, bindable, freedom, independent, isApart, readsOf } from "./horizontal.ts";
import { extentGuess, type Fusion } from "./state.ts";

/** Takes groups in order, each into the last one of its loops if that has room for it. */
export function fuseEqualLoops(state: Fusion): void {
  const open = new Map<string, Group>();
  const reads = readsOf(state);
  const isFree = freedom(state);
  for (const part of [...state.groups]) {
    const key = loopsOf(part);
    if (key === undefined || isApart(state, part)) continue;
    const host = open.get(key);
    const fits =
      host !== undefined &&
      independent(host, part) &&
      isFree(host, part) &&
      bindable(state, reads, host, part);
    if (fits) join(state, host, part);
    else open.set(key, part);
  }
}

/** Members are where they were: loops of one name and extent are one loop. */
function join(state: Fusion, host: Group, part: Group): void {
  const [first] = part.members.keys();
  host.beside.push(first!, ...part.beside);
  for (const [t, at] of part.members) host.members.set(t, at);
  for (const t of part.computed) host.computed.add(t);
  for (const t of part.reads) host.reads.add(t);
  for (const [t, phase] of part.phase) host.phase.set(t, phase);
  host.guests.push(...part.guests);
  absorb(state, host, part);
}

/** What two groups have to have in common; undefined for one that is left alone. */
function loopsOf(group: Group): string | undefined {
  const { kind, outer, inner, fullSpace, axes, members } = group;
  const little = extentGuess(inner) <= kernels.shortRow || joinsParts(group);
  if (kind !== "map" && !(kind === "rows" && fullSpace && little)) return undefined;
  if ([...members.values()].some((p) => p.level === "root")) return undefined;
  const loops = (list: readonly Loop[]): string =>
    list.map((l) => `${l.name}<${keyOfDim(l.extent)}`).join();
  const space = fullSpace ? keyOfCoords(fullSpace.shape) : "";
  return [kind, loops(outer), loops(inner), space, axes.join()].join(" | ");
}

/**
 * Whether a group adds up what others gave of parts. One that reads long rows keeps them in
 * registers, and has no room for others'.
 */
const joinsParts = ({ members }: Group): boolean =>
  [...members.keys()].some((t) => {
    if (opRecord(t.op).family !== "reduce") return false;
    let from = t.operands[0]!;
    while (isMovement(from) || from.op === "convert") from = from.operands[0]!;
    return from.op === t.op || opRecord(from.op).family === "contraction";
  });
