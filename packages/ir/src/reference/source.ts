/**
 * Reference values of what has no operands to read element by element: data, constants, iota, random bits, bitcast.
 */
import { fromHost, type HostArray, toHost } from "../host.ts";
import { hostDataOf, threefry2x32 } from "../ops/source.ts";
import type { Evaluate } from "./value.ts";
import { concreteShape, tabulate } from "./walk.ts";

const data: Evaluate<"data"> = (node) => ({
  dtype: node.dtype,
  shape: node.shape as readonly number[],
  data: fromHost(node.dtype, hostDataOf(node)),
});

const constant: Evaluate<"constant"> = (node) => ({
  dtype: node.dtype,
  shape: [],
  data: Float64Array.of(node.attrs.value),
});

const iota: Evaluate<"iota"> = (node, _operands, dims) =>
  tabulate(node, dims, (at) => at[node.attrs.axis]!);

const randomBits: Evaluate<"randomBits"> = (node, [key], dims) => {
  const [k0, k1] = key!.data;
  const shape = concreteShape(node.shape, dims);
  const words = Float64Array.from(
    { length: shape.reduce((a, b) => a * b, 1) },
    (_, i) => threefry2x32(k0!, k1!, i, 0)[0],
  );
  return { dtype: "u32", shape, data: words };
};

const bitcast: Evaluate<"bitcast"> = (node, [x]) => {
  const stored = toHost(x!.dtype, x!.data);
  const cast = toHost(node.dtype, new Float64Array(stored.length));
  new Uint8Array(cast.buffer).set(new Uint8Array(stored.buffer as ArrayBuffer));
  return { dtype: node.dtype, shape: x!.shape, data: fromHost(node.dtype, cast as HostArray) };
};

export const sources = { data, constant, iota, randomBits, bitcast };
