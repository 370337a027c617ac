/**
 * For which values of one symbol a program is what it says, as a range: what the runtime checks
 * first, and what those ask who make up a value. Requirements of several symbols stay what they
 * are.
 */
import {
  type Dim,
  type DimSymbol,
  evaluateDim,
  keyOfDim,
  type Requirement,
  symbolsIn,
} from "@kiln-ml/ir";

export interface DimBounds {
  readonly min: number;
  readonly max: number;
}

/** No extent is larger. */
const largest = 2 ** 31 - 1;

/**
 * The ranges of `symbols` within which all requirements of one symbol hold; each is taken to change
 * its mind once at most.
 */
export function boundsIn(
  requirements: readonly Requirement[],
  symbols: ReadonlyMap<string, DimSymbol>,
): ReadonlyMap<string, DimBounds> {
  const bounds = new Map<string, DimBounds>(symbols);
  const seen = new Set<string>();
  for (const { value: d } of requirements) {
    const [name, ...others] = symbolsIn(d).keys();
    if (name === undefined || others.length > 0 || seen.has(keyOfDim(d))) continue;
    seen.add(keyOfDim(d));
    const before = bounds.get(name);
    if (before) bounds.set(name, narrowed(d, name, before));
  }
  return bounds;
}

/**
 * The requirements that a run has to be told: all of several symbols, and of one symbol those
 * without which its range would be wider, to say why it is not.
 */
export function tellingOf(
  requirements: readonly Requirement[],
  symbols: ReadonlyMap<string, DimSymbol>,
  bounds: ReadonlyMap<string, DimBounds>,
): Requirement[] {
  const told = new Set<string>();
  const isNews = (key: string): boolean => !told.has(key) && told.add(key).size > 0;
  return requirements.filter(({ value }) => {
    const names = [...symbolsIn(value).keys()];
    if (!names.every((name) => bounds.has(name))) return false;
    if (names.length > 1) return isNews(keyOfDim(value));
    const name = names[0]!;
    const [{ min, max }, own] = [bounds.get(name)!, symbols.get(name)!];
    const fails = (n: number) =>
      n >= own.min && n <= Math.min(own.max, largest) && evaluateDim(value, { [name]: n }) < 0;
    if (fails(min)) return isNews(keyOfDim(value));
    return (fails(min - 1) && isNews(`${name} min`)) || (fails(max + 1) && isNews(`${name} max`));
  });
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
