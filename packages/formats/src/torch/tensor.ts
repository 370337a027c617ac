/**
 * Tensors as PyTorch pickles them: a storage, and a view of it by offset, sizes and strides. The view is checked against
 * the storage, and gathered where it is not contiguous.
 */
import type { Constant } from "@kiln-ml/artifact";
import { constantOf } from "../elements.ts";
import { gathered } from "../numpy/dtype.ts";
import { Foreign } from "../pickle/values.ts";
import { checkName, countOf, quoted, type Reading } from "../reading.ts";
import type { TorchDtype } from "./names.ts";

/** Where a storage's bytes stand in the file; found only once the pickle is read in old files. */
export interface StorageBytes {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly bigEndian: boolean;
}

export class Storage extends Foreign {
  readonly kind = "a storage";
  readonly dtype: TorchDtype;
  /** In elements of its dtype. */
  readonly count: number;
  readonly locate: () => StorageBytes;
  constructor(dtype: TorchDtype, count: number, locate: () => StorageBytes) {
    super();
    this.dtype = dtype;
    this.count = count;
    this.locate = locate;
  }
}

export interface View {
  /** In elements. */
  readonly start: number;
  readonly size: readonly number[];
  readonly stride: readonly number[];
}

export class TorchTensor extends Foreign {
  readonly kind = "a tensor";
  readonly dtype: TorchDtype;
  readonly storage: Storage;
  readonly view: View;
  /** Of the pickle's call that made it. */
  readonly offset: number;
  constructor(dtype: TorchDtype, storage: Storage, view: View, offset: number) {
    super();
    this.dtype = dtype;
    this.storage = storage;
    this.view = view;
    this.offset = offset;
  }
}

/** The elements of a tensor. Its data are a view of the file where the tensor is contiguous and needs no conversion. */
export function readTensor(tensor: TorchTensor, name: string, reading: Reading): Constant {
  const { fail } = reading;
  const { dtype, storage, view } = tensor;
  const called = `tensor ${quoted(name)}`;
  checkName(name, fail, tensor.offset);
  if (dtype.stored === undefined)
    return fail(`${called} is ${dtype.name}, which Kiln does not have`, tensor.offset);
  const count = countOf(view.size, fail, tensor.offset);
  const found = storage.locate();
  const has = Math.floor(found.bytes.length / dtype.bytes);
  const last = view.size.reduce((at, d, axis) => at + (d - 1) * view.stride[axis]!, view.start);
  if (count > 0 && !(last < has))
    fail(`${called} reaches element ${last} of a storage of ${has}`, tensor.offset);
  const from = count > 0 ? view.start * dtype.bytes : 0;
  const packed = isContiguous(view);
  if (!packed) reading.take(count * dtype.bytes, called, tensor.offset);
  const bytes = packed
    ? found.bytes.subarray(from, from + count * dtype.bytes)
    : gathered(
        found.bytes,
        from,
        view.size,
        view.stride.map((s) => s * dtype.bytes),
        dtype.bytes,
      );
  const { bigEndian } = found;
  // Of a gathered tensor only the first element stands where the file has it.
  const offset = found.offset + from;
  return constantOf(
    { stored: dtype.stored, shape: view.size, bytes, bigEndian, name, offset },
    reading,
  );
}

/** Strides of axes with one place do not matter. */
function isContiguous({ size, stride }: View): boolean {
  if (size.includes(0)) return true;
  let expected = 1;
  for (let axis = size.length - 1; axis >= 0; axis--) {
    if (size[axis] !== 1 && stride[axis] !== expected) return false;
    expected *= size[axis]!;
  }
  return true;
}
