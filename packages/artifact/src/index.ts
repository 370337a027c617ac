export * from "./artifact.ts";
export * from "./errors.ts";
export * from "./extent.ts";
