/**
 * The shapes of the arrays that loaders yield, kept beside them: a batch is a plain typed array for
 * everyone, and a compiled function that is given one still knows its rows.
 */
import { checkList, GraphError, kindOf } from "@kiln-ml/ir";

const shapes = new WeakMap<object, readonly number[]>();

/**
 * Remembers that `array` holds a batch of this shape. No counterpart in PyTorch.
 *
 * @param shape The shape.
 * @example
 *   const x = new Float32Array(6);
 *   setBatchShape(x, [2, 3]); // what a collate function says of the arrays it makes
 *   batchShapeOf(x) // [2, 3]
 */
export function setBatchShape(array: object, shape: readonly number[]): void {
  if (!(array instanceof Object))
    throw new GraphError(
      `setBatchShape: takes a typed array, got ${kindOf(array)}\n  pass the array that the batch is in`,
    );
  checkList("setBatchShape", "shape", shape);
  shapes.set(array, shape);
}

/**
 * The shape of an array that a DataLoader yielded; undefined for any other. No counterpart in
 * PyTorch.
 *
 * @param array A typed array.
 * @example
 *   const dataset = fromArrays([new Float32Array(6)], [[3]]);
 *   const shapes = [];
 *   for await (const [x] of new DataLoader(dataset, { batch: 2 })) shapes.push(batchShapeOf(x));
 *   shapes // [[2, 3]]
 */
export const batchShapeOf = (array: object): readonly number[] | undefined => shapes.get(array);
