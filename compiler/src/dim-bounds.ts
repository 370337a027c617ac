/**
 * For which values of its symbols a program is what it says: slices begin and end inside of what they are taken from, and no
 * extent is negative. Of a number that is checked where the node is built; of a symbol by the runtime, which is told a range.
 * Conditions of several symbols are not told, nor what stands in a branch or a body.
 */
import {
  type Dim,
  type DimSymbol,
  evaluateDim,
  isNonNegative,
  keyOfDim,
  opRecord,
  subDim,
  symbolsIn,
  type Tensor,
} from "@kiln-ml/ir";

export interface DimBounds {
  readonly min: number;
  readonly max: number;
}

/** No extent is larger. */
const largest = 2 ** 31 - 1;

/** What must not be negative at a node. What is counted but never held, as the iota of an extent's value, may be. */
function conditionsOf(t: Tensor): readonly Dim[] {
  if (opRecord(t.op).family === "source" || t.operands[0]?.op === "iota") return [];
  if (t.op !== "slice") return t.shape;
  const [start, limit] = [t.attrs.start, t.attrs.limit] as [readonly Dim[], readonly Dim[]];
  const ends = limit.map((d, axis) => subDim(t.operands[0]!.shape[axis]!, d));
  return [...start, ...ends, ...limit.map((d, axis) => subDim(d, start[axis]!))];
}

/** The ranges of `symbols` within which all conditions of one symbol hold; each is taken to change its mind once at most. */
export function boundsIn(
  nodes: readonly Tensor[],
  symbols: ReadonlyMap<string, DimSymbol>,
): ReadonlyMap<string, DimBounds> {
  const bounds = new Map<string, DimBounds>(symbols);
  const seen = new Set<string>();
  for (const t of nodes)
    for (const d of conditionsOf(t)) {
      const [name, ...others] = symbolsIn(d).keys();
      if (name === undefined || others.length > 0 || seen.has(keyOfDim(d))) continue;
      seen.add(keyOfDim(d));
      const before = bounds.get(name);
      if (before && !isNonNegative(d)) bounds.set(name, narrowed(d, name, before));
    }
  return bounds;
}

function narrowed(d: Dim, name: string, { min, max }: DimBounds): DimBounds {
  const holds = (n: number): boolean => evaluateDim(d, { [name]: n }) >= 0;
  const [low, high] = [min, Math.min(max, largest)];
  const [first, last] = [holds(low), holds(high)];
  // A condition that never holds is left to whoever meets its extent.
  if (first === last) return { min, max };
  const turn = turningPoint(low, high, (n) => holds(n) === first);
  return first ? { min, max: turn } : { min: turn + 1, max };
}

/** The last number from `low` on for which `still` holds; it does for `low`, and not for `high`. */
function turningPoint(low: number, high: number, still: (n: number) => boolean): number {
  let [inside, outside] = [low, high];
  while (outside - inside > 1) {
    const middle = Math.floor((inside + outside) / 2);
    if (still(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}
