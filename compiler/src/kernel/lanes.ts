/**
 * How many elements of 32 bits a vector of the machine holds, by the name of a feature: four where
 * none is named, which is what WebAssembly has. Schedules cut loops by it, printers spell them.
 */
const named = /^lanes-(4|8|16)$/;

/** The lanes that a list of features names. */
export function lanesOf(features: readonly string[]): number {
  for (const f of features) {
    const found = named.exec(f);
    if (found) return Number(found[1]);
  }
  return 4;
}

/** The feature by which a device says it. */
export const lanesFeature = (lanes: number): string => `lanes-${lanes}`;
