/**
 * Compares a value with the expected one as the conformance suite does: element type and shape are equal, floats within
 * `atol + rtol·|expected|`, everything else equal; NaN equals NaN. Says where they first differ.
 */
import type { TensorValue, Value } from "./values.ts";

export interface Tolerance {
  readonly rtol: number;
  readonly atol: number;
}

/** What is wrong, in few words that many failures share, and in detail. */
export interface Difference {
  readonly kind: string;
  readonly detail: string;
}

function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const single = new DataView(new ArrayBuffer(4));

function brainToNumber(bits: number): number {
  single.setUint32(0, bits << 16);
  return single.getFloat32(0);
}

/** The elements as numbers, or as they are where those are no numbers of 53 bits. */
export function elementsOf(t: TensorValue): ArrayLike<number | bigint | string> {
  if (t.type === "float16") return Array.from(t.data as Uint16Array, halfToNumber);
  if (t.type === "bfloat16") return Array.from(t.data as Uint16Array, brainToNumber);
  return t.data;
}

export const isFloating = (type: string): boolean => /^b?float|^complex/.test(type);

const within = (got: number, want: number, { rtol, atol }: Tolerance): boolean =>
  Object.is(got, want) ||
  got === want ||
  // Of an infinity nothing is a part.
  (Number.isFinite(want) && Math.abs(got - want) <= atol + rtol * Math.abs(want));

function coordinates(index: number, dims: readonly number[]): string {
  const out: number[] = [];
  let rest = index;
  for (const extent of [...dims].reverse()) {
    out.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  return `[${out}]`;
}

function elementsDiffer(
  name: string,
  got: TensorValue,
  want: TensorValue,
  tolerance: Tolerance,
): Difference | undefined {
  const [g, w] = [elementsOf(got), elementsOf(want)];
  if (g.length !== w.length)
    return { kind: "wrong length", detail: `${name}: ${g.length} elements, expected ${w.length}` };
  const floating = isFloating(want.type);
  const same = (i: number): boolean =>
    floating ? within(g[i] as number, w[i] as number, tolerance) : g[i] === w[i];
  let first = -1;
  let count = 0;
  let worst = 0;
  for (let i = 0; i < w.length; i++) {
    if (same(i)) continue;
    if (first < 0) first = i;
    count++;
    if (floating) worst = Math.max(worst, Math.abs((g[i] as number) - (w[i] as number)));
  }
  if (first < 0) return undefined;
  const by = floating ? `, by ${worst.toExponential(1)} at most` : "";
  return {
    kind: "values differ",
    detail: `${name}${coordinates(first, want.dims)}: expected ${w[first]}, got ${g[first]}; ${count} of ${w.length} differ${by}`,
  };
}

const describe = (v: Value | undefined): string =>
  v === undefined
    ? "nothing"
    : v === null
      ? "an empty optional"
      : "data" in v
        ? "a tensor"
        : "a sequence";

/** How `got` differs from `want`; undefined if it does not. */
export function difference(
  name: string,
  got: Value | undefined,
  want: Value,
  tolerance: Tolerance,
): Difference | undefined {
  if (describe(got) !== describe(want))
    return {
      kind: "wrong kind",
      detail: `${name}: expected ${describe(want)}, got ${describe(got)}`,
    };
  if (got === undefined || got === null || want === null) return undefined;
  if (!("data" in want)) {
    const list = got as readonly Value[];
    if (list.length !== want.length)
      return {
        kind: "wrong length",
        detail: `${name}: ${list.length} values, expected ${want.length}`,
      };
    for (const [i, part] of want.entries()) {
      const found = difference(`${name}(${i})`, list[i], part, tolerance);
      if (found) return found;
    }
    return undefined;
  }
  const tensor = got as TensorValue;
  if (tensor.type !== want.type)
    return { kind: "wrong dtype", detail: `${name}: expected ${want.type}, got ${tensor.type}` };
  if (tensor.dims.join() !== want.dims.join())
    return {
      kind: "wrong shape",
      detail: `${name}: expected [${want.dims}], got [${tensor.dims}]`,
    };
  return elementsDiffer(name, tensor, want, tolerance);
}
