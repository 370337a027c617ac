/**
 * Whether a kernel may write a parameter where another one lies that it reads: by its footprint,
 * and by where in the kernel each element is touched. What other kernels read is `order.ts`'s.
 */
import { sameDim, symbolsIn } from "@kiln-ml/ir";
import { type Placed, touchedIn } from "../kernel/footprint.ts";
import type { Kernel } from "../kernel/kernel.ts";

/** Groups of one structure share a kernel. */
const known = new WeakMap<Kernel, readonly Placed[]>();

/**
 * True if the kernel reads one parameter only at elements that it overwrites in the other, each
 * before it is overwritten. Elements are told apart by their index expressions: a kernel stores
 * each element of a tensor once.
 */
export function mayOverwrite(kernel: Kernel, reads: string, writes: string): boolean {
  const touched = known.get(kernel) ?? touchedIn(kernel);
  known.set(kernel, touched);
  const stores = touched.filter((t) => t.param === writes && t.how === "writes");
  return touched.every((t) => t.param !== reads || isReadFirst(t, stores));
}

/**
 * Whether an element is read before any of these stores overwrites it. That cannot be said of one
 * that none of them overwrites, and where the read
 * - stands in a statement after the store, other than in another store of the same run of stores;
 * - depends on a guard, and is not of the element that its statement stores;
 * - stands in a block without the store, and iterations of the loops around it read one element:
 *   one may overwrite what the next has to read, and on a GPU nothing holds them in order.
 */
function isReadFirst(read: Placed, stores: readonly Placed[]): boolean {
  const { element, run, statement, guard } = read;
  // What it brings near is read again by who wants it.
  if (statement.kind === "prefetch") return true;
  if (element === undefined) return false;
  const over = stores.filter((s) => s.element !== undefined && sameDim(s.element, element));
  if (over.length === 0 || over.some((s) => s.run < run)) return false;
  if (guard.length > 0 && !over.some((s) => s.statement === statement)) return false;
  const block = read.blocks.at(-1)!;
  if (over.some((s) => s.blocks.includes(block))) return true;
  const symbols = symbolsIn(element);
  return block.over.every(({ by }) => by.extent === 1 || symbols.has(by.name));
}
