/**
 * Orders steps: each after what it reads, and an update in place after every other one that
 * reads the old value. Among what is ready, one that takes no memory runs first, then the one the
 * program wrote first. Decides which updates can happen in place; runs after lower,
 * before plan.
 */
import { bug, type Tensor } from "@kiln-ml/ir";
import { aliasRoot } from "../access.ts";
import type { Group } from "../fuse/group.ts";
import { type Program, rootsOf } from "../program.ts";
import { isLaunch, type Step } from "./control.ts";
import { mayOverwrite } from "./in-place.ts";
import { Ready } from "./ready.ts";

export interface Ordered {
  readonly steps: readonly Step[];
  /** Updated parameters by the stored value that may overwrite them where they lie. */
  readonly inPlace: ReadonlyMap<Tensor, Tensor>;
}

/** What order asks of a step, or of a group that is to become one. */
export interface Orderable {
  readonly reads: ReadonlySet<Tensor>;
  readonly writes: ReadonlyMap<Tensor, Tensor>;
  /** Nothing is known of where its statements read. */
  readonly opaque: boolean;
  /** Whether each element of a parameter is read only where the value overwrites it. */
  aligned(param: Tensor, value: Tensor): boolean;
}

export function order(program: Program, steps: readonly Step[]): Ordered {
  const asked = steps.map(
    (k): Orderable => ({
      reads: k.reads,
      writes: k.writes,
      opaque: !isLaunch(k) || k.kernel.custom !== undefined,
      aligned: (param, value) => alignedUpdate(k, param, value),
    }),
  );
  const { before, inPlace } = updatesInPlace(program, asked);
  const of = new Map(asked.map((a, i) => [a, steps[i]!] as const));
  const waits = new Map(
    [...before].map(([k, set]) => [of.get(k)!, new Set([...set].map((b) => of.get(b)!))] as const),
  );
  return { steps: sorted(steps, waits, lastingOf(program, inPlace)), inPlace };
}

/** What has memory of its own, or is still asked for in the end. */
const lastingOf = (program: Program, inPlace: ReadonlyMap<Tensor, Tensor>): Set<Tensor> =>
  new Set([...rootsOf(program).map(aliasRoot), ...inPlace.keys()]);

/** What each kernel waits for, and which values overwrite parameters. */
export function updatesInPlace(
  program: Program,
  kernels: readonly Orderable[],
): { before: Map<Orderable, Set<Orderable>>; inPlace: Map<Tensor, Tensor> } {
  const owner = new Map<Tensor, Orderable>();
  const writersOf = new Map<Tensor, Set<Orderable>>();
  for (const k of kernels)
    for (const [node, whole] of k.writes) {
      owner.set(node, k);
      writersOf.set(whole, (writersOf.get(whole) ?? new Set()).add(k));
    }
  const before = new Map<Orderable, Set<Orderable>>(kernels.map((k) => [k, new Set()]));
  const readers = new Map<Tensor, Set<Orderable>>();
  for (const k of kernels)
    for (const t of k.reads) {
      readers.set(t, (readers.get(t) ?? new Set()).add(k));
      const from = owner.get(t);
      if (from && from !== k) before.get(k)!.add(from);
    }
  const inPlace = new Map<Tensor, Tensor>();
  // A parameter whose old value is itself asked for is overwritten last of all, by a copy.
  const wanted = new Set(rootsOf(program).map(aliasRoot));
  for (const [param, value] of program.updates) {
    const root = aliasRoot(value);
    const [writer, ...more] = writersOf.get(root) ?? [];
    if (!writer || more.length > 0 || writer.opaque) continue;
    if (wanted.has(param) || inPlace.has(root) || !writer.aligned(param, root)) continue;
    const others = [...(readers.get(param) ?? [])].filter((r) => r !== writer);
    if (others.some((r) => reaches(before, r, writer))) continue;
    for (const r of others) before.get(writer)!.add(r);
    inPlace.set(root, param);
  }
  return { before, inPlace };
}

/** True if `from` must run after `to`. */
function reaches(
  before: ReadonlyMap<Orderable, ReadonlySet<Orderable>>,
  from: Orderable,
  to: Orderable,
): boolean {
  const seen = new Set(before.get(from)!);
  for (const k of seen) {
    if (k === to) return true;
    for (const b of before.get(k)!) seen.add(b);
  }
  return false;
}

/** True if the value may lie where the parameter does, as far as the kernel itself is concerned. */
export function alignedUpdate(writer: Step, param: Tensor, value: Tensor): boolean {
  if (!isLaunch(writer)) return false;
  const { kernel, tensors } = writer;
  const nameOf = (t: Tensor) => kernel.params[tensors.indexOf(t)]?.name;
  const reads = nameOf(param);
  return reads === undefined || mayOverwrite(kernel, reads, nameOf(value)!);
}

function priority({ members }: Group): number {
  let least = Infinity;
  for (const t of members.keys()) least = Math.min(least, t.id);
  return least;
}

/**
 * Where values are computed again to save memory, what nothing waits for runs as soon as it can: a
 * weight's gradient is the last to read them, and takes no memory but its own place.
 */
const computesAgain = ({ computed }: Group): boolean => {
  for (const t of computed) if (t.op === "after") return true;
  return false;
};

function sorted(
  steps: readonly Step[],
  before: ReadonlyMap<Step, ReadonlySet<Step>>,
  lasting: ReadonlySet<Tensor>,
): Step[] {
  const priorities = new Map(steps.map((k) => [k, priority(k.group)] as const));
  const wanted = [...steps].sort((a, b) => priorities.get(a)! - priorities.get(b)!);
  const rank = new Map(wanted.map((k, i) => [k, i] as const));
  const missing = wanted.map((k) => before.get(k)!.size);
  const after = wanted.map((): number[] => []);
  for (const [i, k] of wanted.entries())
    for (const b of before.get(k)!) after[rank.get(b)!]!.push(i);
  const ready = new Ready(wanted, lasting);
  const early = steps.some(({ group }) => computesAgain(group));
  const add = (i: number) => ready.add(i, early && after[i]!.length === 0);
  for (const [i, n] of missing.entries()) if (n === 0) add(i);
  const out: Step[] = [];
  for (let i = ready.take(); i !== undefined; i = ready.take()) {
    out.push(wanted[i]!);
    for (const later of after[i]!) if (--missing[later]! === 0) add(later);
  }
  const left = wanted.filter((_, i) => missing[i]! > 0);
  if (left.length)
    bug("order", "steps wait for each other", left.map(({ group }) => group.id).join(" "));
  return out;
}
