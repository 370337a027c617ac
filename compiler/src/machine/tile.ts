/** How large a GPU's tiles of a product are, and what they take. */

export interface Tiling {
  /** Results of a workgroup: lines of the one operand, lines of the other. */
  readonly bm: number;
  readonly bn: number;
  /** Results of an invocation; those of columns are multiples of 4. */
  readonly tm: number;
  readonly tn: number;
  /** Steps of k between barriers. */
  readonly bk: number;
  /** Invocations that share out the steps of k of the same results; 1 if absent. */
  readonly slices?: number;
}

export function invocationsOf(t: Tiling): number {
  return (t.bm / t.tm) * (t.bn / t.tn) * (t.slices ?? 1);
}

/**
 * Bytes of workgroup memory for elements of so many bytes, with `more` between the lines of a step
 * and those of the next.
 */
export function memoryOf(t: Tiling, element: number, more = 0): number {
  return (t.bm + t.bn + 2 * more) * t.bk * element;
}
