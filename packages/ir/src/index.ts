export * from "./dim.ts";
export * from "./dim-evaluate.ts";
export * from "./dtype.ts";
export * from "./errors.ts";
export * from "./evaluate.ts";
export * from "./grad.ts";
export * from "./host.ts";
export type { Methods } from "./methods.ts";

import "./methods.ts";

export * from "./node.ts";
export * from "./op.ts";
export * from "./ops/broadcast.ts";
export * from "./ops/composite/activation.ts";
export * from "./ops/composite/arithmetic.ts";
export * from "./ops/composite/product.ts";
export * from "./ops/composite/statistics.ts";
export { cond } from "./ops/cond.ts";
export * from "./ops/contraction.ts";
export * from "./ops/control.ts";
export * from "./ops/convolution.ts";
export * from "./ops/create.ts";
export * from "./ops/cumulative.ts";
export * from "./ops/elementwise/binary.ts";
export * from "./ops/elementwise/compare.ts";
export * from "./ops/elementwise/convert.ts";
export { type Binary, binary, type Unary, unary } from "./ops/elementwise/define.ts";
export * from "./ops/elementwise/unary.ts";
export * from "./ops/gather.ts";
export { concat, stack } from "./ops/join.ts";
export * from "./ops/loops.ts";
export * from "./ops/movement.ts";
export * from "./ops/pool.ts";
export * as random from "./ops/random.ts";
export * from "./ops/reduce.ts";
<<<<<<< HEAD
export { type ScanOptions, type ScanStep, scan, scanParts } from "./ops/scan.ts";
=======
export * from "./ops/sort.ts";
>>>>>>> w-sort
export * from "./ops/source.ts";
export { type WhileOptions, whileLoop } from "./ops/while.ts";
export * from "./parse.ts";
export * from "./print.ts";
export { parseDim } from "./scan.ts";
export * from "./shape.ts";
export * from "./site.ts";
export * from "./special.ts";
export * from "./stateful.ts";
export * from "./trace.ts";
export * from "./verify.ts";
