/**
 * Halves that are read eight at a time: where fours come in neighbouring pairs, as a tile's do, a buffer is an array of 16 bytes and
 * the two share an access. A device reads no more at a time, and halves are all that it would otherwise read less of.
 */
import { type Dim, floorDiv, modDim, subDim, substitute } from "@kiln-ml/ir";
import type { Kernel, Param } from "../../kernel/kernel.ts";
import { strideOf } from "../../kernel/stride.ts";
import { walkStmts } from "../../kernel/walk.ts";

/** Buffers of halves whose every access is a load of four at a place that is known to be even or odd, its neighbour beside it. */
export function eightsOf(kernel: Kernel): Set<string> {
  const lanes = new Set<string>();
  const loads = new Map<string, Dim[] | undefined>();
  for (const p of kernel.params) if (isCandidate(p)) loads.set(p.name, []);
  if (loads.size === 0) return new Set();
  walkStmts(kernel.body, {
    stmt: (s) => {
      if (s.kind === "loop" && s.loop === "vector") lanes.add(s.name);
    },
    expr: (e) => {
      if (e.kind === "load") loads.get(e.from)?.push(e.index);
    },
  });
  const isEven = (all: readonly Dim[]): boolean => {
    const places = all.map((d) => placeOf(d, lanes));
    const keys = new Set(places.map(String));
    return places.length > 0 && places.every((at) => isPaired(at, keys));
  };
  return new Set([...loads].filter(([, all]) => isEven(all!)).map(([name]) => name));
}

/** Of a length in eights, or the last four would be out of reach. */
const isCandidate = ({ dtype, access, width, size }: Param): boolean =>
  dtype === "f16" && access === "read" && width === 4 && modDim(size, 8) === 0;

/** The element in lane 0 of a load that takes four neighbours. */
function placeOf(index: Dim, lanes: ReadonlySet<string>): Dim | undefined {
  const lane = [...lanes].find((name) => strideOf(index, name) === 1);
  return lane === undefined ? undefined : substitute(index, new Map([[lane, 0]]));
}

function isPaired(at: Dim | undefined, keys: ReadonlySet<string>): boolean {
  if (at === undefined) return false;
  const within = modDim(at, 8);
  return (within === 0 || within === 4) && keys.has(String(subDim(at, within === 0 ? -4 : 4)));
}

/** One half of an array of eights, for loops whose lanes do not run together. */
export function oneOf(base: string, index: Dim, place: (d: Dim) => string): string {
  const [eight, pair] = [floorDiv(index, 8), floorDiv(modDim(index, 8), 2)];
  return `bitcast<vec2<f16>>(${base}[${place(eight)}][${place(pair)}])[${place(modDim(index, 2))}]`;
}

/** The four halves numbered `quad` of an array of eights. */
export function fourOf(base: string, quad: Dim, place: (d: Dim) => string): string {
  const half = modDim(quad, 2) === 0 ? "xy" : "zw";
  return `bitcast<vec4<f16>>(${base}[${place(floorDiv(quad, 2))}].${half})`;
}
