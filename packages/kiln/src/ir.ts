/** The language: tensors, ops, gradients, text form. The same as `@kiln-ml/ir`, for whoever depends on `kiln-ml` alone. */
export * from "@kiln-ml/ir";
