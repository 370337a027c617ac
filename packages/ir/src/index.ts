export * from "./dim.ts";
export * from "./dtype.ts";
export * from "./errors.ts";
export * from "./evaluate.ts";
export * from "./host.ts";
export type { Methods } from "./methods.ts";

import "./methods.ts";

export * from "./node.ts";
export * from "./op.ts";
export * from "./ops/broadcast.ts";
export * from "./ops/create.ts";
export * from "./ops/elementwise/binary.ts";
export * from "./ops/elementwise/compare.ts";
export * from "./ops/elementwise/convert.ts";
export type { Binary, Unary } from "./ops/elementwise/define.ts";
export * from "./ops/elementwise/unary.ts";
export * from "./ops/movement.ts";
export * from "./ops/source.ts";
export * from "./parse.ts";
export * from "./print.ts";
export { parseDim } from "./scan.ts";
export * from "./shape.ts";
export * from "./site.ts";
export * from "./special.ts";
export * from "./trace.ts";
export * from "./verify.ts";
