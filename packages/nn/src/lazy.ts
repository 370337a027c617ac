/**
 * Layers that learn the size of their input from the first one they see: until then they have no parameters. Knows which those are and how
 * they are built; the layers say what of.
 */
import { checkTensor, GraphError, printShape, ShapeError, type Tensor } from "@kiln-ml/ir";

/** Layers that are not built, and what builds them from the size of their input. */
const waiting = new WeakMap<object, (size: number) => void>();

/** Sizes of those that were built late. */
const learnt = new WeakMap<object, number>();

/** Builds a layer of a known size now, and one of no size when its input is there. */
export function buildOrWait(
  layer: object,
  size: number | undefined,
  build: (size: number) => void,
): void {
  if (size === undefined) waiting.set(layer, build);
  else build(size);
}

/**
 * Builds a layer that waits, from axis `axis` of its input. Throws ShapeError where that is a
 * symbol.
 */
export function ensureBuilt(op: string, layer: object, x: Tensor, axis: number): void {
  if (isBuilt(layer)) return;
  checkTensor(op, x);
  const size = x.shape.at(axis);
  if (typeof size !== "number")
    throw new ShapeError(
      `${op}: the layer takes its size from axis ${axis} of ${printShape(x.shape)}, which is no number\n  give the size to the constructor`,
    );
  buildWith(layer, size);
}

/** The size that a layer was built with when its input was there, if it was. */
export const learntSize = (layer: object): number | undefined => learnt.get(layer);

/** Builds a layer that waits as an input of that size would. */
export function buildWith(layer: object, size: number): void {
  waiting.get(layer)?.(size);
  waiting.delete(layer);
  learnt.set(layer, size);
}

export const isBuilt = (layer: object): boolean => !waiting.has(layer);

/** Throws GraphError for a layer without parameters so far. */
export function refuseUnbuilt(layer: object, path: string): void {
  if (!isBuilt(layer))
    throw new GraphError(
      `${path || layer.constructor.name}: the layer is not built, the size of its input is unknown\n  call forward or nn.build(net, [shape]) first, or give the size to the constructor, or an Input to the Sequential`,
    );
}

/**
 * Arguments of a constructor whose first, the size of the input, may be left out: of `count` in front of the options. What is left out is
 * undefined.
 */
export function withSize<T>(
  args: readonly unknown[],
  count: number,
): readonly [size: number | undefined, ...T[]] {
  const last = args[count - 1];
  const isOptions = typeof last === "object" && last !== null && !Array.isArray(last);
  const short = args.length < count || last === undefined || isOptions;
  return (short ? [undefined, ...args] : args) as [number | undefined, ...T[]];
}
