/** What declared inputs ask of the arguments of a call. */
import type { Dim, Dtype } from "@kiln-ml/ir";
import { declare, type InputSpec, isSpec } from "./inputs.ts";
import { isStatic, keyOfStatic } from "./static.ts";
import { mapArguments } from "./tree.ts";

/** A leaf of the declared arguments. */
export interface Wanted {
  readonly path: readonly string[];
  readonly name: string;
  /** The key of its value if it is static. */
  readonly type:
    | { readonly dtype: Dtype; readonly shape: readonly (number | undefined)[] }
    | string;
}

/** What the declared inputs ask of the leaves of the arguments, in order. */
export function wantedOf(specs: readonly InputSpec[]): readonly Wanted[] {
  const leaves: Wanted[] = [];
  mapArguments(specs, isSpec, (spec, path) => {
    if (isStatic(spec) && typeof spec !== "string")
      return leaves.push({ path: path.split("."), name: path, type: keyOfStatic(spec) });
    const { name, dtype, shape } = declare(spec, path);
    const type = { dtype, shape: shape.map(staticExtent) };
    return leaves.push({ path: path.split("."), name, type });
  });
  return leaves;
}

const staticExtent = (d: Dim): number | undefined => (typeof d === "number" ? d : undefined);
