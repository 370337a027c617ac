/** Arguments of a model out of a file of tensors, by the names of its inputs. */

import { readWhole } from "@kiln-ml/artifact/node";
import { readTensors } from "@kiln-ml/formats";
import { declare, isSpec } from "../compile/inputs.ts";
import { mapArguments } from "../compile/tree.ts";
import { PlainError, short } from "./failure.ts";
import { inLine } from "./terminal.ts";

const arrays = {
  f32: Float32Array,
  f64: Float64Array,
  i32: Int32Array,
  u32: Uint32Array,
} as const;

/**
 * Tensors of a .safetensors, .npz or .npy file as arguments. Throws PlainError for inputs that it
 * has not, and those of another dtype.
 */
export async function argumentsFrom(
  command: string,
  path: string,
  inputs: readonly unknown[],
): Promise<unknown[]> {
  const { tensors } = readTensors(await readWhole(path), { file: short(path) });
  const names: string[] = [];
  const made = mapArguments(inputs, isSpec, (spec, at) => {
    const { name, dtype } = declare(spec, at);
    names.push(name);
    const found = Object.hasOwn(tensors, name) ? tensors[name] : undefined;
    if (!found) return undefined;
    const make = arrays[dtype as keyof typeof arrays];
    if (found.dtype !== dtype || !make)
      throw new PlainError(
        `kiln ${command}: ${inLine(name)} in ${short(path)} is ${found.dtype}, the model takes ${dtype}\n  inputs out of files are ${Object.keys(arrays).join(", ")}`,
      );
    const bytes = found.data.slice();
    return { data: new make(bytes.buffer), shape: found.shape };
  });
  const absent = names.filter((name) => !Object.hasOwn(tensors, name));
  if (absent.length)
    throw new PlainError(
      `kiln ${command}: ${short(path)} has no ${absent.map(inLine).join(", ")}\n  it has ${Object.keys(tensors).map(inLine).join(", ") || "nothing"}`,
    );
  return made;
}
