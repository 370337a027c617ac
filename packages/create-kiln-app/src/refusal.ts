/**
 * What the user must change: a line that says what is wrong, and mostly one that says how to mend
 * it.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/** The one of `names` that `given` is nearly, if any. */
export function near(given: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => [editsBetween(given.toLowerCase(), name), name] as const)
    .filter(([n, name]) => n <= Math.max(1, name.length / 3))
    .sort(([a], [b]) => a - b);
  return best?.[1];
}

/**
 * Optimal string alignment: insertions, deletions, substitutions, and neighbours that changed
 * places.
 */
function editsBetween(a: string, b: string): number {
  const d = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const differs = Number(a[i - 1] !== b[j - 1]);
      const least = Math.min(d[i - 1]![j]! + 1, d[i]![j - 1]! + 1, d[i - 1]![j - 1]! + differs);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      d[i]![j] = swapped ? Math.min(least, d[i - 2]![j - 2]! + 1) : least;
    }
  return d[a.length]![b.length]!;
}
