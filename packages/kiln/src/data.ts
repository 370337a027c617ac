/**
 * `kiln-ml/data`: data sets, loaders and augmentations, the same as `data` of the front door. A bundler that does not see through `export * as`, as
 * esbuild, keeps of a namespace imported from here only what a page names.
 */
export * from "@kiln-ml/data";
