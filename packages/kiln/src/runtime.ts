/** The runtime: artifacts on devices, without the compiler. The same as `@kiln-ml/runtime`, for whoever depends on `kiln-ml` alone. */
export * from "@kiln-ml/runtime";
