/**
 * TensorProto → `TensorDef`, in every encoding it has. The number of elements that the dims declare is held against
 * the data before any memory is asked for. Knows nothing of graphs; segments are refused.
 */
import { type Storage, storages } from "./element-storage.ts";
import { readExternal } from "./external.ts";
import { entryFields, tensorFields } from "./fields.ts";
import { type ElementType, elementTypes, type TensorData, type TensorDef } from "./model.ts";
import { decodeText, type ReadMessage, readFields, type Values } from "./read-fields.ts";
import { failAt, quote, type Source } from "./source.ts";

const maxRank = 64;

export const readEntry = (source: Source, end: number) => readFields(source, end, entryFields, {});

const stepOver: ReadMessage<true> = (source, end) => {
  source.reader.pos = end;
  return true;
};

const readers = { segment: stepOver, external: readEntry };
type Fields = Values<typeof tensorFields, typeof readers>;

/** A tensor's message. Throws ArtifactError where the data are not what type and dims declare. */
export function readTensorMessage(source: Source, end: number): TensorDef {
  const fields = readFields(source, end, tensorFields, readers);
  const { at, dims, name = "" } = fields;
  const what = `tensor ${quote(name)}`;
  if (fields.segment) failAt(source, at, `${what} is a segment of another`);
  const type = elementTypeAt(source, at, fields.type, what);
  const size = sizeOf(source, at, dims, what);
  return { name, type, dims, data: dataOf(source, fields, type, size, what) };
}

/** The element type with the number `code` in TensorProto.DataType. */
export function elementTypeAt(
  source: Source,
  at: number,
  code: number | undefined,
  what: string,
): ElementType {
  const type = code === undefined ? undefined : elementTypes[code - 1];
  return type ?? failAt(source, at, `${what} has element type ${code ?? "none"}, none of ONNX's`);
}

/** The number of elements; dims must be counts whose product is one too. */
export function sizeOf(source: Source, at: number, dims: readonly number[], what: string): number {
  if (dims.length > maxRank)
    failAt(source, at, `${what} has ${dims.length} dims, more than ${maxRank}`);
  let size = 1;
  for (const d of dims) {
    if (d < 0) failAt(source, at, `${what} has dim ${d}`);
    size *= d;
  }
  // A zero among huge dims: their product may have passed through infinity.
  if (dims.includes(0)) return 0;
  if (!Number.isSafeInteger(size))
    failAt(source, at, `${what} of dims [${dims}] has more elements than can be counted`);
  return size;
}

function dataOf(
  source: Source,
  fields: Fields,
  type: ElementType,
  size: number,
  what: string,
): TensorData {
  const { at } = fields;
  const takes = `${what} is ${type}[${fields.dims}], of ${size} elements`;
  const strings = fields.strings;
  if (type === "string") {
    if (strings.length !== size) failAt(source, at, `${takes}, but has ${strings.length} strings`);
    return strings.map((s) => decodeText(source, at, s));
  }
  const storage = storages[type];
  const bytes = Math.ceil((size * storage.bits) / 8);
  const taken = { bytes, takes: `${takes} in ${bytes} bytes` };
  const raw =
    fields.location === 1
      ? readExternal(source, at, fields.external, what, taken)
      : fields.raw?.length || size === 0
        ? fields.raw
        : undefined;
  if (raw === undefined) return fromNumbers(source, fields, storage, size, takes, type);
  if (raw.length !== bytes) failAt(source, at, `${taken.takes}, but its data have ${raw.length}`);
  return fromBytes(source, at, raw, storage, size, type, what);
}

/** Elements as they lie in memory, little-endian: a view where they are aligned, else a copy. */
function fromBytes(
  source: Source,
  at: number,
  raw: Uint8Array,
  storage: Storage,
  size: number,
  type: ElementType,
  what: string,
): TensorData {
  if (storage.bits < 8) return unpack(raw, storage, size);
  if (type === "bool") checkBools(source, at, raw, what);
  const { buffer, byteOffset } = raw;
  const width = storage.bits / storage.entries / 8;
  if (byteOffset % width === 0) return storage.view(buffer, byteOffset, size * storage.entries);
  return storage.view(raw.slice().buffer, 0, size * storage.entries);
}

function checkBools(source: Source, at: number, values: ArrayLike<number>, what: string): void {
  for (let i = 0; i < values.length; i++)
    if (values[i] !== 0 && values[i] !== 1)
      failAt(source, at, `${what}: element ${i} is ${values[i]}, a bool is 0 or 1`);
}

/** Elements of 2 or 4 bits, the first in the lowest bits. */
function unpack(packed: ArrayLike<number>, { bits, signed, make }: Storage, size: number) {
  const out = make(size) as Uint8Array | Int8Array;
  const each = 8 / bits;
  for (let i = 0; i < size; i++) {
    const high = packed[Math.floor(i / each)]! << (32 - bits * ((i % each) + 1));
    out[i] = signed ? high >> (32 - bits) : high >>> (32 - bits);
  }
  return out;
}

/** Elements that were written as numbers, each of which must fit. */
function fromNumbers(
  source: Source,
  fields: Fields,
  storage: Storage,
  size: number,
  takes: string,
  type: ElementType,
): TensorData {
  const { at } = fields;
  const numbers = fields[storage.field];
  const needed = storage.bits < 8 ? Math.ceil((size * storage.bits) / 8) : size * storage.entries;
  if (numbers.length !== needed)
    failAt(source, at, `${takes}, but has ${numbers.length} of ${needed} numbers`);
  if (type === "bool") checkBools(source, at, numbers as Int32Array, takes);
  if (storage.bits < 8) {
    checkRange(source, at, numbers as Int32Array, 0, 255, takes);
    return unpack(numbers as Int32Array, storage, size);
  }
  const out = storage.make(needed);
  if (numbers.constructor === out.constructor) return numbers;
  const low = storage.signed ? -(2 ** (storage.bits - 1)) : 0;
  checkRange(source, at, numbers, low, low + 2 ** storage.bits - 1, takes);
  for (let i = 0; i < needed; i++) out[i] = Number(numbers[i]);
  return out;
}

function checkRange(
  source: Source,
  at: number,
  numbers: Int32Array | BigUint64Array | ArrayLike<number | bigint>,
  low: number,
  high: number,
  takes: string,
): void {
  for (let i = 0; i < numbers.length; i++)
    if (!(numbers[i]! >= low && numbers[i]! <= high))
      failAt(source, at, `${takes}, but element ${i} is ${numbers[i]}`);
}
