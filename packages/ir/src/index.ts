export * from "./dim.ts";
export * from "./dtype.ts";
export * from "./errors.ts";
export * from "./host.ts";
export type { Methods } from "./methods.ts";

import "./methods.ts";

export * from "./node.ts";
export * from "./op.ts";
export * from "./ops/broadcast.ts";
export * from "./ops/contraction.ts";
export * from "./ops/create.ts";
export * from "./ops/elementwise/binary.ts";
export * from "./ops/elementwise/compare.ts";
export * from "./ops/elementwise/convert.ts";
export type { Binary, Unary } from "./ops/elementwise/define.ts";
export * from "./ops/elementwise/unary.ts";
export { concat, stack } from "./ops/join.ts";
export * from "./ops/loops.ts";
export * from "./ops/movement.ts";
export * from "./ops/reduce.ts";
export * from "./ops/source.ts";
export * from "./shape.ts";
export * from "./site.ts";
export * from "./trace.ts";
