/** The form of an inspection. The page that shows one is `@kiln-ml/inspector/node`'s to make. */
export * from "./schema.ts";
