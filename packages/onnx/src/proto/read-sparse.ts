/**
 * SparseTensorProto → a dense `TensorDef`. What all of a file's sparse tensors expand to is bounded by the file's size,
 * as a few bytes could declare terabytes.
 */
import { storages } from "./element-storage.ts";
import { sparseFields } from "./fields.ts";
import type { TensorDef } from "./model.ts";
import { readFields } from "./read-fields.ts";
import { readTensorMessage, sizeOf } from "./read-tensor.ts";
import { failAt, quote, type Source } from "./source.ts";

const readers = { values: readTensorMessage, indices: readTensorMessage };

/** Values at indices [n] (row-major places) or [n, rank] (coordinates), zeros elsewhere. */
export function readSparseMessage(source: Source, end: number): TensorDef {
  const { at, values, indices, dims } = readFields(source, end, sparseFields, readers);
  if (!values || !indices) return failAt(source, at, "a sparse tensor without values or indices");
  const { name, type } = values;
  const what = `sparse tensor ${quote(name)}`;
  const size = sizeOf(source, at, dims, what);
  if (type === "string") return failAt(source, at, `${what} is of strings`);
  const { entries, bits, make } = storages[type];
  source.expansion -= (size * Math.max(bits, 8)) / 8;
  if (source.expansion < 0)
    failAt(
      source,
      at,
      `${what} of dims [${dims}] is too large for a file of ${source.bytes.length} bytes`,
    );
  const data = make(size * entries) as Float64Array;
  const from = values.data as Float64Array;
  const count = from.length / entries;
  placesOf(source, at, indices, dims, size, count, what).forEach((place, i) => {
    for (let e = 0; e < entries; e++) data[place * entries + e] = from[i * entries + e]!;
  });
  return { name, type, dims, data };
}

/** The row-major place of each value. */
function placesOf(
  source: Source,
  at: number,
  indices: TensorDef,
  dims: readonly number[],
  size: number,
  count: number,
  what: string,
): number[] {
  const { data } = indices;
  if (!(data instanceof BigInt64Array))
    return failAt(source, at, `${what}: indices are ${indices.type}, not int64`);
  const linear = indices.dims.length === 1;
  const parts = linear ? 1 : dims.length;
  if (data.length !== count * parts || indices.dims.length > 2)
    failAt(source, at, `${what}: indices [${indices.dims}] for ${count} values of dims [${dims}]`);
  return Array.from({ length: count }, (_, i) => {
    let place = 0;
    for (let p = 0; p < parts; p++) {
      const extent = linear ? size : dims[p]!;
      const index = Number(data[i * parts + p]);
      if (index < 0 || index >= extent)
        failAt(source, at, `${what}: index ${index} of value ${i} is outside of [${dims}]`);
      place = place * (linear ? 1 : extent) + index;
    }
    return place;
  });
}
