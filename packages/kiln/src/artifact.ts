/** The artifact: a compiled program as data and as files. The same as `@kiln-ml/artifact`, for whoever depends on `kiln-ml` alone. */
export * from "@kiln-ml/artifact";
