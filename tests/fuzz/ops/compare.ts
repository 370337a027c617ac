/**
 * Whether two results are one: types and shapes equal, integers equal, floats within the tolerances
 * of the conformance suite; for half floats, and where an op sums, differences are judged against
 * the greatest number there.
 */

import { fromHost, type HostArray } from "@kiln-ml/ir";
import { dtypeOf, type TensorDef } from "@kiln-ml/onnx";
import { isFloatType } from "./draw.ts";
import type { Sample } from "./sample.ts";

export type Result = Pick<TensorDef, "type" | "dims" | "data">;

const numbersOf = ({ type, data }: Result): ArrayLike<number | bigint> =>
  type === "float16"
    ? fromHost(dtypeOf("float16"), data as HostArray)
    : (data as ArrayLike<number | bigint>);

/** What differs, or undefined. */
export function difference(name: string, got: Result, want: Result, s: Sample): string | undefined {
  if (got.type !== want.type) return `type of ${name}: ${got.type}, expected ${want.type}`;
  if (`${got.dims}` !== `${want.dims}` || got.dims.length !== want.dims.length)
    return `shape of ${name}: [${got.dims}], expected [${want.dims}]`;
  const [a, b] = [numbersOf(got), numbersOf(want)];
  if (a.length !== b.length) return `size of ${name}: ${a.length}, expected ${b.length}`;
  const half = want.type === "float16";
  let greatest = 0;
  for (let i = 0; i < b.length; i++) {
    const x = Math.abs(Number(b[i]));
    if (x > greatest && x < Infinity) greatest = x;
  }
  const rtol = Math.max(s.rtol ?? 1e-3, half ? 4e-3 : 0);
  const atol = Math.max(
    s.atol ?? 1e-7,
    half ? 2e-3 * greatest + 1e-6 : s.sums ? 1e-5 * greatest : 0,
  );
  for (let i = 0; i < b.length; i++) {
    const [x, y] = [Number(a[i]), Number(b[i])];
    const close = isFloatType(want.type)
      ? Object.is(x, y) || x === y || Math.abs(x - y) <= atol + rtol * Math.abs(y)
      : x === y;
    if (!close) return `value of ${name}: element ${i} is ${x}, expected ${y}`;
  }
  return undefined;
}
