/**
 * Arrays that a file of NumPy or a safetensors file holds, as data sets. Reading the file is for
 * `@kiln-ml/formats`; its records fit.
 */
import {
  checkList,
  checkRecord,
  DtypeError,
  GraphError,
  kindOf,
  printShape,
  ShapeError,
} from "@kiln-ml/ir";
import { type Dataset, type Fields, fromArrays, type NumericArray } from "./dataset.ts";

/**
 * An array with its shape: a typed array, or bytes with the dtype that they hold, as `readNpz` and
 * `readSafetensors` give them.
 */
export interface NamedArray {
  readonly shape: readonly number[];
  readonly data: ArrayBufferView;
  readonly dtype?: string;
}

type ArrayOf = new (buffer: ArrayBufferLike, offset: number, length: number) => NumericArray;

const arrays: Readonly<Record<string, ArrayOf>> = {
  f32: Float32Array,
  f64: Float64Array,
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  bool: Uint8Array,
};

/**
 * A data set of the arrays of those names, whose first axis counts the samples.
 *
 * Throws GraphError for a name that is not there, with those that are, ShapeError for arrays of
 * different numbers of samples, and DtypeError for halves, which have no array.
 * `torch.utils.data.TensorDataset` of what `numpy.load` gave.
 *
 * @param tensors Arrays with shapes, by name.
 * @param names Which, in the order of the fields.
 * @example
 *   const x = { shape: [2, 3], data: new Float32Array(6) }; // as `readNpz` gives them
 *   const dataset = fromTensors({ x }, ["x"]);
 *   dataset.length // 2
 */
export function fromTensors(
  tensors: Readonly<Record<string, NamedArray>> | ReadonlyMap<string, NamedArray>,
  names: readonly string[],
): Dataset<Fields> {
  checkRecord("fromTensors", tensors, "tensors");
  checkList("fromTensors", "names", names);
  const all = new Map<string, NamedArray>(
    tensors instanceof Map ? tensors : Object.entries(tensors),
  );
  const found = names.map((name) => {
    const array = all.get(name);
    if (!array)
      throw new GraphError(
        `fromTensors: there is no array ${typeof name === "string" ? name : kindOf(name)}\n  there are ${[...all.keys()].join(", ")}`,
      );
    if (array.shape.length === 0)
      throw new ShapeError(`fromTensors: ${name} is a number, not one for each sample`);
    const { shape } = all.get(names[0]!)!;
    if (array.shape[0] !== shape[0])
      throw new ShapeError(
        `fromTensors: samples differ: ${names[0]} is ${printShape(shape)}, ${name} is ${printShape(array.shape)}`,
      );
    return array;
  });
  return fromArrays(
    found.map((a, i) => typed(a, names[i]!)),
    found.map((a) => a.shape.slice(1)),
  );
}

function typed({ data, dtype }: NamedArray, name: string): NumericArray {
  if (dtype === undefined || !(data instanceof Uint8Array)) return data as NumericArray;
  const array = arrays[dtype];
  if (!array)
    throw new DtypeError(
      `fromTensors: ${name} is ${dtype}, which no array of numbers holds\n  store it as f32`,
    );
  // A view must begin at a whole element, which a place in a file need not be.
  const aligned = data.byteOffset % 8 ? data.slice() : data;
  const one = (array as unknown as { BYTES_PER_ELEMENT: number }).BYTES_PER_ELEMENT;
  return new array(aligned.buffer, aligned.byteOffset, aligned.byteLength / one);
}
