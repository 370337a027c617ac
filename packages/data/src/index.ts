/**
 * Data sets and loaders: plain arrays in, batches of typed arrays out. Imports the IR's errors and generator only.
 */
export { batchShapeOf } from "./batch-shape.ts";
export {
  type Dataset,
  type Fields,
  fromArrays,
  type NumericArray,
  split,
  subset,
} from "./dataset.ts";
export { type Idx, type IdxOptions, readIdx } from "./idx.ts";
export { DataLoader, type LoaderOptions, type LoaderState } from "./loader.ts";
export { type Digit, type Mnist, mnistFromDigits, mnistFromIdx } from "./mnist.ts";
export { permutation } from "./permutation.ts";
