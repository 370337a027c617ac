/** `TensorDef` → TensorProto: raw little-endian data, packed below 8 bits; strings in their own field. */
import { ArtifactError } from "@kiln-ml/ir/errors";
import { storages } from "./element-storage.ts";
import { tensorFields } from "./fields.ts";
import { elementTypes, type TensorDef } from "./model.ts";
import { type WriteMessage, writeFields } from "./write-fields.ts";

const utf8 = new TextEncoder();

export const writeTensorMessage: WriteMessage<TensorDef> = (writer, tensor) => {
  const { name, dims, type, data } = tensor;
  const size = dims.reduce((n, d) => n * d, 1);
  const entries = type === "string" ? 1 : storages[type].entries;
  if (data.length !== size * entries)
    throw new ArtifactError(
      `writeTensor: ${JSON.stringify(name)} is ${type}[${dims}], its data have ${data.length} entries`,
    );
  const content =
    type === "string"
      ? { strings: (data as readonly string[]).map((s) => utf8.encode(s)) }
      : { raw: bytesOf(data as Uint8Array, storages[type].bits) };
  writeFields(writer, tensorFields, {
    name: name || undefined,
    dims,
    type: elementTypes.indexOf(type) + 1,
    ...content,
  });
};

function bytesOf(data: Uint8Array, bits: number): Uint8Array {
  if (bits >= 8) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const each = 8 / bits;
  const packed = new Uint8Array(Math.ceil(data.length / each));
  for (let i = 0; i < data.length; i++)
    packed[Math.floor(i / each)]! |= (data[i]! & (2 ** bits - 1)) << (bits * (i % each));
  return packed;
}
