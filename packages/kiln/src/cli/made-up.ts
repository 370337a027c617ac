/** Made-up arguments for a model that is run for its time. */
import { evaluateDim, isFloat, symbolsIn } from "@kiln-ml/ir";
import { declare, isSpec } from "../compile/inputs.ts";
import { mapArguments } from "../compile/tree.ts";
import type { Dims } from "./extents.ts";
import { PlainError } from "./failure.ts";
import { checkDims } from "./usage.ts";

/** Arguments of a model: floats uniform in [-1, 1), others 0; 32 for symbols without a value. */
export function madeUpArguments(
  command: string,
  inputs: readonly unknown[],
  dims: Dims,
): unknown[] {
  const names = new Set<string>();
  mapArguments(inputs, isSpec, (spec, path) => {
    for (const d of declare(spec, path).shape)
      for (const name of symbolsIn(d).keys()) names.add(name);
  });
  checkDims(command, dims, [...names]);
  let seed = 1;
  const next = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 31 - 1;
  };
  return mapArguments(inputs, isSpec, (spec, path) => {
    const { dtype, shape } = declare(spec, path);
    const symbols = new Map(shape.flatMap((d) => [...symbolsIn(d)]));
    const values = Object.fromEntries([...symbols.keys()].map((s) => [s, dims[s] ?? 32]));
    const extents = shape.map((d) => evaluateDim(d, values));
    const size = extents.reduce((a, b) => a * b, 1);
    if (dtype !== "f32" && dtype !== "i32" && dtype !== "u32" && dtype !== "f64")
      throw new PlainError(`kiln ${command}: cannot make up an input of dtype ${dtype}`);
    const data = new { f32: Float32Array, f64: Float64Array, i32: Int32Array, u32: Uint32Array }[
      dtype
    ](size);
    if (isFloat(dtype)) for (let i = 0; i < size; i++) data[i] = next();
    return { data, shape: extents };
  });
}
