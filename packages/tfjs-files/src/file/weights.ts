/**
 * The bytes of a group of shards as tensors: cut as the manifest says, brought from quantised forms
 * to the numbers that they stand for.
 */

import { fromHost } from "@kiln-ml/ir";
import { ArtifactError } from "@kiln-ml/ir/errors";
import type { TensorData, TensorDef } from "@kiln-ml/onnx";
import type { WeightGroup, WeightSpec } from "./manifest.ts";

const bytesOfType: Readonly<Record<string, number>> = {
  float32: 4,
  int32: 4,
  bool: 1,
  complex64: 8,
  uint8: 1,
  uint16: 2,
  float16: 2,
};

/**
 * The weights of a group, by name. Throws ArtifactError where the bytes are fewer or more than the
 * manifest says.
 */
export function readWeights(
  file: string,
  { shards, weights }: WeightGroup,
  bytes: Uint8Array,
): TensorDef[] {
  const where = `${file}: shards ${shards.slice(0, 3).join(", ")}${shards.length > 3 ? ", …" : ""}`;
  let at = 0;
  const take = (count: number, name: string): Uint8Array => {
    if (at + count > bytes.length)
      throw new ArtifactError(
        `${where}: ${bytes.length} bytes, but the weight ${JSON.stringify(name)} ends at ${at + count}\n  copy all of the shards again: one is cut short, or of another model`,
      );
    // A copy with a buffer of its own, which a view of a Buffer would not have.
    const own = new Uint8Array(count);
    own.set(bytes.subarray(at, at + count));
    at += count;
    return own;
  };
  const defs = weights.map((spec) => tensorOf(spec, take));
  if (at < bytes.length)
    throw new ArtifactError(
      `${where}: ${bytes.length} bytes, but the weights end at ${at}\n  the shards are of another model, or joined in another order`,
    );
  return defs;
}

type Take = (count: number, name: string) => Uint8Array;

function tensorOf(spec: WeightSpec, take: Take): TensorDef {
  const { name, type, dims, size, quantization } = spec;
  const of = (data: TensorData): TensorDef => ({ name, type, dims, data });
  if (type === "string") return of(texts(spec, take));
  const stored = quantization?.type ?? type;
  const bytes = take(size * bytesOfType[stored]!, name);
  const buffer = bytes.buffer as ArrayBuffer;
  if (!quantization) {
    if (type === "bool") return of(bytes.map((b) => Number(b !== 0)));
    return of(type === "int32" ? new Int32Array(buffer) : new Float32Array(buffer));
  }
  if (quantization.type === "float16")
    return of(Float32Array.from(fromHost("f16", new Uint16Array(buffer))));
  const { scale, min } = quantization;
  const steps = quantization.type === "uint8" ? bytes : new Uint16Array(buffer);
  const whole = type === "int32";
  const values = whole ? new Int32Array(size) : new Float32Array(size);
  for (let i = 0; i < size; i++) {
    const value = steps[i]! * scale + min;
    values[i] = whole ? Math.round(value) : value;
  }
  return of(values);
}

/** Each text has its length in front, in four bytes. */
function texts({ name, size }: WeightSpec, take: Take): string[] {
  const list: string[] = [];
  const decoder = new TextDecoder();
  for (let i = 0; i < size; i++) {
    const length = new DataView(take(4, name).buffer).getUint32(0, true);
    list.push(decoder.decode(take(length, name)));
  }
  return list;
}
