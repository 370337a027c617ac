/**
 * Merges small kernels into large ones that run anyway: a column sum of an operand of a contraction (the gradient of a
 * bias) runs along with the packing of that operand, and updates of single numbers (step counters, seeds) run
 * beside another kernel. Runs last in fusion.
 */
import { type Dim, minOfDim, sameDim, symbolOf, type Tensor } from "@kiln-ml/ir";
import { isLeaf, reach, walkAccesses } from "../access.ts";
import { type ContractionOperand, dependsOn, type Group, type Loop } from "./group.ts";
import { terminals } from "./place.ts";
import { type Fusion, isSingle } from "./state.ts";

/** Two groups neither of which waits for the other. */
const independent = (a: Group, b: Group): boolean => !dependsOn(a, b) && !dependsOn(b, a);

/** A kernel over no elements is not run at all, so it can carry nothing. */
const surelyRuns = (g: Group): boolean => g.outer.every((l) => minOfDim(l.extent) >= 1);

export function mergeSideSums(state: Fusion): void {
  for (const sums of [...state.groups]) {
    if (!isPlainSum(sums)) continue;
    for (const host of state.groups) {
      if (host.kind !== "contraction" || !independent(sums, host)) continue;
      if (host.contraction!.batch.length > 0 || !surelyRuns(host)) continue;
      const found = matchSide(state, sums, host);
      if (!found) continue;
      if (bindingsOf(state, host).size + bindingsOf(state, sums).size > state.limits.bindings)
        continue;
      host.sideSums.push({ ...found, group: sums });
      absorb(state, host, sums);
      break;
    }
  }
}

/** Everything that waited for `part`, or that `part` waited for, is now about `host`. */
function absorb(state: Fusion, host: Group, part: Group): void {
  for (const d of part.deps) if (d !== host) host.deps.add(d);
  for (const g of state.groups) if (g.deps.delete(part) && g !== host) g.deps.add(host);
  for (const m of part.members.keys()) state.groupOf.set(m, host);
  state.groups.splice(state.groups.indexOf(part), 1);
}

/** A group of plain sums over one operand, with pointwise nodes of the result's shape after them. */
function isPlainSum(g: Group): boolean {
  if (g.kind !== "rows" || !g.fullSpace) return false;
  let reduces = 0;
  for (const [m, p] of g.members) {
    if (p.level !== "outer") return false;
    if (m.op === "reduceSum") reduces++;
    else if (m.op.startsWith("reduce") || m.op.startsWith("arg")) return false;
  }
  return reduces === 1;
}

type Match = Pick<Group["sideSums"][number], "side" | "rename">;

function matchSide(state: Fusion, sums: Group, host: Group): Match | undefined {
  const { contraction } = host;
  const { a, b, m, n, k } = contraction!;
  const reduce = [...sums.members.keys()].find((t) => t.op === "reduceSum")!;
  const source = onlyAccess(state, reduce.operands[0]!, sums.fullSpace!.coords);
  if (!source) return undefined;
  for (const [side, operand, outer] of [
    ["a", a, m],
    ["b", b, n],
  ] as const) {
    const rename = matchOperand(state, source, operand, sums, outer, k);
    if (rename) return { side, rename };
  }
  return undefined;
}

/** The one stored element that an element of `t` equals, if it is that element unchanged. */
function onlyAccess(
  state: Fusion,
  t: Tensor,
  coords: readonly Dim[],
): { tensor: Tensor; coords: readonly Dim[] } | undefined {
  const found: { tensor: Tensor; coords: readonly Dim[] }[] = [];
  let pure = true;
  reach(
    t,
    coords,
    (x) => {
      const inlined = !isLeaf(x) && !state.groupOf.has(x);
      // Arithmetic, padding and joining change the value or choose between values.
      if (inlined && !["transpose", "reshape", "broadcastInDim", "reverse"].includes(x.op))
        pure = false;
      return inlined;
    },
    (tensor, at) => found.push({ tensor, coords: at }),
  );
  return pure && found.length === 1 ? found[0] : undefined;
}

/** The renaming of the sum's loops to the contraction's, if both read the same elements. */
function matchOperand(
  state: Fusion,
  source: { tensor: Tensor; coords: readonly Dim[] },
  operand: ContractionOperand,
  sums: Group,
  outer: readonly Loop[],
  k: readonly Loop[],
): Map<string, Dim> | undefined {
  if (operand.when.length > 0) return undefined;
  const own = onlyAccess(state, operand.operand, operand.coords);
  if (own?.tensor !== source.tensor) return undefined;
  const rename = new Map<string, Dim>();
  for (const [axis, c] of source.coords.entries()) {
    const [x, y] = [symbolOf(c), symbolOf(own.coords[axis]!)];
    if (!x || !y) {
      if (sameDim(c, 0) && sameDim(own.coords[axis]!, 0)) continue;
      return undefined;
    }
    const inner = sums.inner.some((l) => l.name === x.name);
    const target = (inner ? k : outer).find((l) => l.name === y.name);
    const from = [...sums.inner, ...sums.outer].find((l) => l.name === x.name);
    if (!target || !from || !sameDim(target.extent, from.extent)) return undefined;
    rename.set(x.name, target.at);
  }
  const covered = new Set([...rename.values()].map((d) => symbolOf(d)!.name));
  const wanted = [...outer, ...k].filter((l) => !sameDim(l.extent, 1));
  return wanted.every((l) => covered.has(l.name)) ? rename : undefined;
}

/** The tensors a kernel of this group would bind. */
export function bindingsOf(state: Fusion, group: Group): Set<Tensor> {
  const out = new Set<Tensor>();
  for (const part of [group, ...group.scalars, ...group.sideSums.map((s) => s.group)])
    for (const m of part.members.keys()) {
      for (const t of terminals(state, m)) if (!part.members.has(t)) out.add(t);
      if (state.required.has(m) || readOutside(state, m)) out.add(m);
    }
  return out;
}

export function readOutside(state: Fusion, node: Tensor): boolean {
  const own = state.groupOf.get(node);
  for (const g of state.groups) {
    if (g === own) continue;
    for (const m of g.members.keys()) if (terminals(state, m).has(node)) return true;
  }
  return false;
}

/** Lets updates of single numbers run beside another kernel that neither needs them nor is needed by them. */
export function mergeScalars(state: Fusion): void {
  for (const part of [...state.groups]) {
    // A part that is itself a host would take its guests out of sight.
    if (part.kind !== "map" || part.scalars.length || ![...part.members.keys()].every(isSingle))
      continue;
    const leaves = leavesOf(state, part);
    const host = state.groups.find(
      (g) =>
        g !== part &&
        g.kind !== "scatter" &&
        surelyRuns(g) &&
        independent(g, part) &&
        // What the part overwrites, the host must not read in the same run of the kernel.
        ![...leavesOf(state, g)].some((t) => leaves.has(t)) &&
        bindingsOf(state, g).size + bindingsOf(state, part).size <= state.limits.bindings,
    );
    if (!host) continue;
    const parts = [part, ...part.scalars.splice(0)];
    host.scalars.push(...parts);
    absorb(state, host, part);
    for (const p of parts) for (const m of p.members.keys()) state.groupOf.set(m, host);
  }
}

function leavesOf(state: Fusion, group: Group): Set<Tensor> {
  const out = new Set<Tensor>();
  for (const [m, p] of group.members)
    walkAccesses(
      m,
      p.coords,
      (t) => !isLeaf(t) && !state.groupOf.has(t),
      (t) => {
        if (isLeaf(t)) out.add(t);
      },
    );
  for (const m of group.members.keys())
    for (const t of terminals(state, m)) if (isLeaf(t)) out.add(t);
  return out;
}
