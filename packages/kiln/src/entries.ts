/**
 * Artifacts with several entries over shared states, without the compiler. The same as
 * `@kiln-ml/artifact/entries` and `@kiln-ml/runtime/entries`, for whoever depends on `kiln-ml`
 * alone.
 */
export * from "@kiln-ml/artifact/entries";
export * from "@kiln-ml/runtime/entries";
