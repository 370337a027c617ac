/**
 * Lets kernels be one that differ only in where in their tensors they begin, such as those of the steps of an unrolled
 * recurrence: what is constant in the places a kernel reads and writes becomes part of its arguments.
 */
import { constantIn, type Dim, minOfDim, subDim } from "@kiln-ml/ir";
import type { Kernel } from "../kernel/kernel.ts";
import { keyOfKernel } from "../kernel/key.ts";
import { mapStmts } from "./map.ts";
import { walkStmts } from "./walk.ts";

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

/** The kernel with the least constant of each parameter's indices taken out of them. */
function fromStarts(kernel: Kernel): Started {
  const least = new Map<string, number>();
  const see = (name: string, index: Dim): void => {
    const constant = constantIn(index);
    // Nothing may come to lie before the start.
    const start = minOfDim(index) >= constant ? constant : 0;
    least.set(name, Math.min(start, least.get(name) ?? start));
  };
  walkStmts(kernel.body, {
    stmt: (s) => {
      if (s.kind === "store") see(s.to, s.index);
    },
    expr: (e) => {
      if (e.kind === "load") see(e.from, e.index);
    },
  });
  const names = new Set(kernel.params.map((p) => p.name));
  const startOf = (name: string): number => (names.has(name) ? (least.get(name) ?? 0) : 0);
  const starts = kernel.params.map((p) => startOf(p.name));
  if (starts.every((n) => n === 0)) return atStart(kernel);
  const body = mapStmts(kernel.body, {
    expr: (e) => (e.kind === "load" ? { ...e, index: subDim(e.index, startOf(e.from)) } : e),
    store: (s) => ({ ...s, index: subDim(s.index, startOf(s.to)) }),
  });
  const there = { ...kernel, body };
  return { kernel: there, starts, key: keyOfKernel(there) };
}
