/** The type of a tensor as a model declares it. */
import { printDim, type Tensor } from "@kiln-ml/ir";
import { elementTypeOf } from "../element.ts";
import type { ValueDef } from "../proto/model.ts";

/** Symbols keep their names; an extent that is computed is named by its expression. */
export const valueDef = (name: string, t: Tensor): ValueDef => ({
  name,
  type: {
    kind: "tensor",
    type: elementTypeOf(t.dtype),
    shape: t.shape.map((d) => (typeof d === "number" ? d : printDim(d))),
  },
});
