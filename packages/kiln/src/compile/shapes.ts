/**
 * Automatic dynamic shapes: which axes of the arguments are symbols, learnt from the calls so far. Axes that never
 * changed are numbers; axes that changed alike share a symbol. Knows nothing of graphs.
 */

/** For each axis of all arguments in order: its extent, or the name of a symbol that is at least 1. */
export type Pattern = readonly (number | string)[];

/** Whether a call with these extents may use a program of that pattern. */
export function fits(pattern: Pattern, extents: readonly number[]): boolean {
  const bound = new Map<string, number>();
  return pattern.every((p, i) => {
    const extent = extents[i]!;
    if (typeof p === "number") return p === extent;
    if (extent < 1) return false;
    const known = bound.get(p) ?? extent;
    bound.set(p, known);
    return known === extent;
  });
}

export const isSymbolic = (pattern: Pattern): boolean => pattern.some((p) => typeof p === "string");

/** What the symbols of a pattern are in a call. */
export const valuesIn = (pattern: Pattern, extents: readonly number[]): Map<string, number> =>
  new Map(pattern.flatMap((p, i) => (typeof p === "string" ? [[p, extents[i]!] as const] : [])));

/** The extents of the calls that a function saw with arguments of one structure. */
export class ShapeHistory {
  readonly #seen: (readonly number[])[] = [];

  /**
   * The pattern that covers these extents and all earlier ones. Calls with an empty axis are left out: their graphs
   * differ too much for one program to serve both.
   */
  patternFor(extents: readonly number[]): Pattern {
    if (extents.includes(0)) return extents;
    this.#seen.push(extents);
    const symbols = new Map<string, string>();
    return extents.map((extent, axis) => {
      const values = this.#seen.map((e) => e[axis]);
      if (values.every((v) => v === extent)) return extent;
      const key = values.join();
      const name = symbols.get(key) ?? `N${symbols.size}`;
      symbols.set(key, name);
      return name;
    });
  }
}
