/**
 * Lets kernels be one that differ only in where in their tensors they begin, such as those of the
 * steps of an unrolled recurrence: what is constant in the places a kernel reads and writes becomes
 * part of its arguments.
 */
import { type Step, storageBytes, type TargetName } from "@kiln-ml/artifact";
import {
  anyInteger,
  constantIn,
  type Dim,
  minOfDim,
  subDim,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";
import type { Kernel } from "../kernel/kernel.ts";
import { mapStmts } from "../kernel/map.ts";
import { keyOfKernel } from "../kernel/print.ts";
import { heldDtype } from "../kernel/types.ts";
import { walkStmts } from "../kernel/walk.ts";

/** A kernel and, for each of its parameters, the element at which it begins. */
export interface Started {
  readonly kernel: Kernel;
  readonly starts: readonly number[];
  /** The kernel's key. */
  readonly key: string;
}

/** The kernels as they are but for those that become equal to another when they begin elsewhere. */
export function shareStarts(kernels: readonly Kernel[]): Started[] {
  const moved = kernels.map(onceEach(fromStarts));
  const starts = new Map<string, Set<string>>();
  for (const m of moved) starts.set(m.key, (starts.get(m.key) ?? new Set()).add(m.starts.join()));
  const whole = onceEach(atStart);
  return kernels.map((kernel, i) => {
    const m = moved[i]!;
    return starts.get(m.key)!.size > 1 || m.kernel === kernel ? m : whole(kernel);
  });
}

/** The kernels beginning where their parameters do. */
export const allAtStart = (kernels: readonly Kernel[]): Started[] => kernels.map(onceEach(atStart));

/**
 * Where the parameters begin in bytes, as a step of an artifact says it: nothing where all of them
 * begin at the start.
 */
export function startBytes({ kernel, starts }: Started, target: TargetName): Pick<Step, "starts"> {
  if (starts.every((n) => n === 0)) return {};
  return { starts: starts.map((n, i) => n * storageBytes(heldDtype(kernel.params[i]!), target)) };
}

const atStart = (kernel: Kernel): Started => ({
  kernel,
  starts: kernel.params.map(() => 0),
  key: keyOfKernel(kernel),
});

/** A function of a kernel that remembers: groups of one structure share theirs. */
function onceEach(of: (kernel: Kernel) => Started): (kernel: Kernel) => Started {
  const known = new Map<Kernel, Started>();
  return (kernel) => {
    const found = known.get(kernel) ?? of(kernel);
    known.set(kernel, found);
    return found;
  };
}

/**
 * Where each parameter may begin: the least constant of the places that the kernel reads, writes or
 * touches. A start lies in its tensor: places that a guard keeps from being read may be negative,
 * or beyond the end.
 */
function leastPlaces(kernel: Kernel): Map<string, number> {
  const least = new Map(kernel.params.map((p) => [p.name, leastSize(p.size)]));
  const seen = new Set<string>();
  const see = (name: string, index: Dim = 0): void => {
    seen.add(name);
    const before = least.get(name);
    if (before === undefined) return;
    const constant = constantIn(index);
    // Nothing may come to lie before the start.
    const start = minOfDim(index) >= constant ? Math.max(0, constant) : 0;
    least.set(name, Math.min(start, before));
  };
  walkStmts(kernel.body, { memory: see });
  return new Map([...least].filter(([name]) => seen.has(name)));
}

/** The least size of a tensor that has elements. */
function leastSize(size: Dim): number {
  const symbols = [...symbolsIn(size).values()].filter((s) => s.min === 0);
  const all = typeof size !== "number" && size.terms.length === 1;
  const some = symbols.map(({ name, max }) => [name, anyInteger(name, 1, max)] as const);
  return Math.max(0, minOfDim(all ? substitute(size, new Map(some)) : size));
}

/** The kernel with the least constant of each parameter's indices taken out of them. */
function fromStarts(kernel: Kernel): Started {
  const least = leastPlaces(kernel);
  const startOf = (name: string): number => least.get(name) ?? 0;
  const starts = kernel.params.map((p) => startOf(p.name));
  if (starts.every((n) => n === 0)) return atStart(kernel);
  const body = mapStmts(kernel.body, {
    place: (memory, index) => subDim(index, startOf(memory)),
  });
  const there = { ...kernel, body };
  return { kernel: there, starts, key: keyOfKernel(there) };
}
