/** Placeholder until the reader is in. */
export * from "./proto/model.ts";
