/**
 * Inputs of a model as its programs see them: the forms of a call, the types of the feeds, and the key by which programs are found.
 */
import { dtypeOf, type Known, type ValueDef } from "@kiln-ml/onnx";
import type { InputSpec } from "../compile/inputs.ts";
import type { Feeds } from "./stage.ts";
import { type Form, leavesOf } from "./values.ts";

/** What each input is, in the order of the call. */
export type Forms = readonly (readonly [string, Form])[];
export type Spec = Record<string, InputSpec>;

/** What tells stages apart: forms, extents or the symbols that are 0, and what is known. */
export function keyOf(
  forms: Forms,
  shapes: readonly (readonly unknown[])[] | string,
  known: Known = new Map(),
): string {
  const values = [...known].map(([key, v]) => `${key}=${v.join()}`).join(";");
  return `${JSON.stringify(forms)}|${typeof shapes === "string" ? `symbolic ${shapes}` : JSON.stringify(shapes)}|${values}`;
}

/** The shapes that a file declares for its inputs, if all are tensors that have one. */
export function declaredShapes(inputs: readonly ValueDef[]) {
  const shapes = inputs.map(({ type }) => (type?.kind === "tensor" ? type.shape : undefined));
  return shapes.every((shape) => shape !== undefined) ? shapes : undefined;
}

/** Types of the inputs at hand, extents and all. */
export function specOf(forms: Forms, feeds: Feeds): Spec {
  const spec: Spec = {};
  for (const [name, form] of forms)
    for (const { feed, type } of leavesOf(form))
      spec[feed] = {
        shape: feeds[feed]!.shape,
        dtype: dtypeOf(type),
        name: feed === name ? name : `${name}.${feed}`,
      };
  return spec;
}
