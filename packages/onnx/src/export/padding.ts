/**
 * Padding of a named value: negative amounts are slices, interior padding is done along a new axis that is then joined
 * with its own. Amounts of unknown sign go to Pad as they are, which crops too.
 */
import { addDim, type Dim, isStatic, minOfDim, mulDim, type Shape, subDim } from "@kiln-ml/ir";
import type { Builder } from "./builder.ts";

export interface Sides {
  readonly low: readonly Dim[];
  readonly high: readonly Dim[];
  readonly interior: readonly number[];
}

/** A value and its shape. */
interface Shaped {
  readonly name: string;
  readonly shape: Shape;
}

export function padded(b: Builder, x: Shaped, fill: string, sides: Sides): Shaped {
  const spread = sides.interior.reduce(
    (t, count, axis) => (count > 0 ? spreadAxis(b, t, fill, axis, count) : t),
    x,
  );
  return padSides(b, crop(b, spread, sides), fill, sides);
}

/** [D] → [D, 1] → [D, count + 1] → [D·(count + 1)], without the last `count`. */
function spreadAxis(b: Builder, x: Shaped, fill: string, axis: number, count: number): Shaped {
  const extent = x.shape[axis]!;
  const at = (list: readonly Dim[]): Dim[] => x.shape.flatMap((d, i) => (i === axis ? list : [d]));
  const ends = [...x.shape.map(() => 0), 0, ...x.shape.map((_, i) => (i === axis ? 0 : 0)), 0];
  ends[x.shape.length + 1 + axis + 1] = count;
  const apart = b.op("Pad", [b.unsqueeze(x.name, [axis + 1]), b.ints(ends), fill]);
  const joined = at([mulDim(extent, count + 1)]);
  const long = b.reshape(apart, at([extent, count + 1]), joined);
  const limit = subDim(joined[axis]!, count);
  return { name: b.slice(long, [axis], [0], [limit]), shape: at([limit]) };
}

const negative = (d: Dim): boolean => isStatic(d) && d < 0;

function crop(b: Builder, { name, shape }: Shaped, { low, high }: Sides): Shaped {
  const axes = shape.flatMap((_, i) => (negative(low[i]!) || negative(high[i]!) ? [i] : []));
  const start = axes.map((i) => (negative(low[i]!) ? -(low[i] as number) : 0));
  const end = axes.map((i) => (negative(high[i]!) ? addDim(shape[i]!, high[i]!) : shape[i]!));
  const cropped = shape.map((d, i) => {
    const k = axes.indexOf(i);
    return k < 0 ? d : subDim(end[k]!, start[k]!);
  });
  return { name: b.slice(name, axes, start, end), shape: cropped };
}

function padSides(b: Builder, { name, shape }: Shaped, fill: string, { low, high }: Sides): Shaped {
  const rest = (d: Dim): Dim => (negative(d) ? 0 : d);
  const amounts = [...low.map(rest), ...high.map(rest)];
  const wide = shape.map((d, i) => addDim(addDim(d, rest(low[i]!)), rest(high[i]!)));
  if (amounts.every((d) => d === 0)) return { name, shape };
  return { name: b.op("Pad", [name, b.dims(amounts), fill]), shape: wide };
}

/** Whether Conv and the pools take the amounts as attributes. */
export const isPlain = (amounts: readonly Dim[]): amounts is readonly number[] =>
  amounts.every((d) => isStatic(d) && minOfDim(d) >= 0);
