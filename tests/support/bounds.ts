/**
 * Whether the kernels of a program stay inside of their memory: proved for all values of the symbols, or, where that is out of
 * reach, for each of some values, iteration by iteration.
 */
import { anyInteger, type Dim, type DimSymbol, symbolsIn } from "@kiln-ml/ir";
import type { CompileOptions } from "../../compiler/src/all.ts";
import { findOutside } from "../../compiler/src/kernel/in-bounds.ts";
import type { Kernel } from "../../compiler/src/kernel/kernel.ts";
import { dimsIn } from "../../compiler/src/kernel/walk.ts";
import type { Program } from "../../compiler/src/program.ts";
import { startedOf } from "./kernels-of.ts";

export interface Looking {
  /** Fewer values of the symbols, for programs of many kernels. */
  readonly few?: boolean;
  /** All values from 1 to 70 of a symbol that stands alone. */
  readonly all?: boolean;
}

/** The kernel's dims as its index expressions know them. */
function symbolsOf(kernel: Kernel): Map<string, DimSymbol> {
  const found = new Map<string, DimSymbol>();
  const dims = [...dimsIn(kernel.body), ...kernel.params.map((p) => p.size)];
  for (const d of dims)
    for (const [name, symbol] of symbolsIn(d))
      if (kernel.dims.includes(name)) found.set(name, symbol);
  return found;
}

/** Values of an extent at which edges lie differently: around vectors, tiles, groups of panels and blocks. */
const edges: readonly number[] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33, 36, 40, 48, 63, 64, 65, 68, 70,
];
const fewEdges: readonly number[] = [1, 4, 5, 8, 12, 33, 40];
const everyValue: readonly number[] = Array.from({ length: 70 }, (_, i) => i + 1);

/** The values to try: those of one symbol, or of several in such a way that no two are always alike. */
function* valuesOf(symbols: readonly DimSymbol[], { few, all }: Looking) {
  const usual = few ? fewEdges : all && symbols.length === 1 ? everyValue : edges;
  const lists = symbols.map((s) => {
    const inside = usual.filter((v) => v >= s.min && v <= s.max);
    return inside.length > 0 ? inside : [s.min];
  });
  const most = Math.max(0, ...lists.map((l) => l.length));
  const shifts = symbols.length > 1 ? (few ? [0, 3] : [0, 1, 3, 7]) : [0];
  for (let i = 0; i < most; i++)
    for (const shift of shifts)
      yield new Map<string, Dim>(
        symbols.map((s, j) => [s.name, lists[j]![(i + j * shift) % lists[j]!.length]!]),
      );
}

/**
 * Throws where a kernel of the program may reach outside of its memory; how many kernels there are, and how many of them are
 * proved for all values of their symbols. On webgpu only what is written is looked at.
 */
export function staysInside(
  program: Program,
  options: CompileOptions,
  looking: Looking = {},
): { kernels: number; proved: number } {
  const counts = { kernels: 0, proved: 0 };
  for (const { kernel, starts } of startedOf(program, options)) {
    counts.kernels++;
    const symbols = [...symbolsOf(kernel).values()];
    const how = { starts, reads: options.target !== "webgpu" };
    const free = symbols.map(
      (s) => [s.name, s.min === s.max ? s.min : anyInteger(s.name, s.min, s.max)] as const,
    );
    if (findOutside(kernel, new Map<string, Dim>(free), how) === undefined) {
      counts.proved++;
      continue;
    }
    for (const values of valuesOf(symbols, looking)) {
      const outside = findOutside(kernel, values, how);
      if (outside === undefined) continue;
      const at = [...values].map(([name, v]) => `${name} ${v}`).join(", ");
      throw new Error(`${options.target}: kernel ${kernel.name}: ${outside} (${at})`);
    }
  }
  return counts;
}
