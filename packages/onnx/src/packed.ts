/**
 * Integers of 2 and 4 bits as the graph holds them: several in a byte, from the low end along the
 * last axis, and the ops that take them apart, which become part of whatever reads them.
 */
import {
  convert,
  dataLeaf,
  expandDims,
  type HostArray,
  iota,
  isStatic,
  reshape,
  type Tensor,
} from "@kiln-ml/ir";
import { dtypeOf } from "./element.ts";
import type { TensorDef } from "./proto/model.ts";

/**
 * Fewer elements gain nothing, and may be axes or extents, which are read when the graph is built.
 */
const fewest = 256;

/** The integers in bytes x[…, n], as i32 values from 0 to 2^bits − 1 of shape […, n · 8 / bits]. */
export function unpack(x: Tensor, bits: number): Tensor {
  const wide = convert(x, "i32");
  if (bits === 8) return wide;
  const each = 8 / bits;
  const shape = [...x.shape, each];
  const bytes = expandDims(wide, x.rank).broadcastTo(shape);
  const values = bytes.shiftRight(iota(shape, x.rank).mul(bits)).and(2 ** bits - 1);
  const packed = x.shape[x.rank - 1]!;
  const last = isStatic(packed) ? packed * each : -1;
  return reshape(values, [...x.shape.slice(0, -1), last]);
}

/**
 * Blocks of unsigned integers as MatMulNBits has them, in signed steps and the words that
 * `quantizedOf` takes: 2^(bits − 1) less, which is the highest bit the other way around.
 */
export function blockWords(bytes: ArrayLike<number>, bits: 4 | 8): Uint32Array {
  const [run, each] = [128 / bits, 8 / bits];
  const words = new Uint32Array(bytes.length / 4);
  for (let e = 0; e < bytes.length * each; e++) {
    const value = (bytes[Math.floor(e / each)]! >> ((e % each) * bits)) & (2 ** bits - 1);
    const within = e % run;
    const [j, i, h] = [within & 3, (within >> 2) & 3, within >> 4];
    words[Math.floor(e / run) * 4 + j]! |= (value ^ (2 ** (bits - 1))) << (8 * i + 4 * h);
  }
  return words;
}

/** A large tensor of narrow integers, held in packed bytes; undefined for any other. */
export function packedLeaf(def: TensorDef, host: HostArray): Tensor | undefined {
  const [, sign, width] = /^(u?)int([24])$/.exec(def.type) ?? [];
  if (!width || host.length < fewest) return undefined;
  const bits = Number(width);
  const each = 8 / bits;
  if (host.length % each !== 0) return undefined;
  const bytes = new Uint8Array(host.length / each);
  for (let i = 0; i < host.length; i++)
    bytes[Math.floor(i / each)]! |= (host[i]! & (2 ** bits - 1)) << ((i % each) * bits);
  // Rows of whole bytes need no arithmetic across rows.
  const last = def.dims.at(-1)!;
  const rows = last % each === 0 ? [...def.dims.slice(0, -1), last / each] : [bytes.length];
  const values = unpack(dataLeaf("u8", rows, bytes), bits);
  const half = 2 ** (bits - 1);
  const signed = sign ? values : values.xor(half).sub(half);
  return reshape(convert(signed, dtypeOf(def.type)), def.dims);
}
