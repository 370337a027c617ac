export * from "./dim.ts";
export * from "./dtype.ts";
export * from "./errors.ts";
export * from "./node.ts";
export * from "./op.ts";
export * from "./shape.ts";
export * from "./site.ts";
export * from "./trace.ts";
