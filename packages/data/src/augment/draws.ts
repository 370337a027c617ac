/** What all augmentations ask: is it a batch of pictures, is the option in range, and one draw for each sample. */
import {
  type Dim,
  DtypeError,
  GraphError,
  isFloat,
  kindOf,
  printShape,
  random,
  ShapeError,
  Tensor,
} from "@kiln-ml/ir";

/** Extents of a batch of pictures [n, channels, height, width]. Throws ShapeError or DtypeError for another. */
export function pictures(op: string, x: Tensor): readonly [Dim, Dim, Dim, Dim] {
  checkBatch(op, x, 4, "[n, channels, height, width]");
  return x.shape as readonly Dim[] as readonly [Dim, Dim, Dim, Dim];
}

/** Throws unless x is a batch of floats of that many axes. */
export function checkBatch(op: string, x: Tensor, rank: number, form: string): void {
  if (!(x instanceof Tensor)) throw new GraphError(`${op}: needs a tensor, got ${kindOf(x)}`);
  if (x.rank !== rank) throw new ShapeError(`${op}: needs ${form}, got ${printShape(x.shape)}`);
  if (!isFloat(x.dtype))
    throw new DtypeError(
      `${op}: needs floats, got ${x.dtype}\n  fromBytes makes pictures of bytes floats`,
    );
}

/** Throws GraphError unless low ≤ value ≤ high. */
export function checkRange(
  op: string,
  what: string,
  value: number,
  low: number,
  high: number,
): number {
  if (typeof value !== "number" || !(value >= low && value <= high))
    throw new GraphError(
      `${op}: ${what} must be from ${low} to ${high}, got ${kindOf(value)}\n  give a number of that range, or leave it out`,
    );
  return value;
}

/** Uniform in [low, high), one for each sample, f32[n, 1, …] of the rank of x. */
export const perSample = (key: Tensor, x: Tensor, low: number, high: number): Tensor =>
  random.uniform(key, [x.shape[0]!, ...new Array<number>(x.rank - 1).fill(1)], { low, high });

/** Whole numbers from low to high, both among them, one for each sample: i32[n, 1, …]. */
export const wholePerSample = (key: Tensor, x: Tensor, low: number, high: number): Tensor =>
  random.randint(key, [x.shape[0]!, ...new Array<number>(x.rank - 1).fill(1)], low, high + 1);
