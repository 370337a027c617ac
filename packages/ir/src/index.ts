export {
  type AttrsOf,
  isOp,
  type NodeOf,
  type OpAttrs,
  opOf,
  type ReduceOp,
  reducedAxes,
  type UpdateMode,
} from "./attributes.ts";
export * from "./claim.ts";
export * from "./dim.ts";
export * from "./dim-evaluate.ts";
export * from "./dtype.ts";
export * from "./errors.ts";
export * from "./evaluate.ts";
export * as fft from "./fft/index.ts";
export * from "./frozen.ts";
export * from "./grad.ts";
export * from "./host.ts";
export { checkList, checkRecord, kindOf } from "./kind.ts";
export { det, slogdet } from "./linalg/decompositions.ts";
export * as linalg from "./linalg/index.ts";
export type { Methods } from "./methods.ts";

import "./methods.ts";

export * from "./node.ts";
export * from "./op.ts";
export { asFactor, checkTensor } from "./ops/apply.ts";
export * from "./ops/broadcast.ts";
export * from "./ops/composite/activation.ts";
export * from "./ops/composite/analysis.ts";
export * from "./ops/composite/arithmetic.ts";
export * from "./ops/composite/deform.ts";
export * from "./ops/composite/einsum.ts";
export * from "./ops/composite/grid.ts";
export { inFloat32, roundedOnce, widened } from "./ops/composite/in-float32.ts";
export { at, get, type Index, type Place } from "./ops/composite/indexing.ts";
export * from "./ops/composite/interpolate.ts";
export * from "./ops/composite/numeric.ts";
export * from "./ops/composite/order-statistics.ts";
export * from "./ops/composite/pool-places.ts";
export * from "./ops/composite/product.ts";
export * from "./ops/composite/quantize.ts";
export * from "./ops/composite/quantized.ts";
export * from "./ops/composite/rearrange.ts";
export * as sampling from "./ops/composite/sampling.ts";
export * from "./ops/composite/search.ts";
export * from "./ops/composite/segments.ts";
export * from "./ops/composite/select-places.ts";
export * from "./ops/composite/special-functions.ts";
export * from "./ops/composite/statistics.ts";
export * from "./ops/composite/triangle.ts";
export * from "./ops/composite/vectors.ts";
export { cond } from "./ops/cond.ts";
export * from "./ops/contraction.ts";
export * from "./ops/control.ts";
export { type ConvTransposeOptions, convTranspose } from "./ops/conv-transpose.ts";
export * from "./ops/convolution.ts";
export * from "./ops/create.ts";
export * from "./ops/cumulative.ts";
export { type CustomKernelOptions, customKernel } from "./ops/custom-kernel.ts";
export { nextKey } from "./ops/draws.ts";
export * from "./ops/elementwise/binary.ts";
export * from "./ops/elementwise/compare.ts";
export * from "./ops/elementwise/convert.ts";
export { type Binary, binary, type Unary, unary } from "./ops/elementwise/define.ts";
export * from "./ops/elementwise/unary.ts";
export * from "./ops/gather.ts";
export { concat, stack } from "./ops/join.ts";
export * from "./ops/loops.ts";
export * from "./ops/movement.ts";
export { type AveragePoolOptions, avgPool, maxPool, type PoolOptions } from "./ops/pool.ts";
export * as random from "./ops/random-names.ts";
export * from "./ops/reduce.ts";
export { type ScanOptions, type ScanStep, scan, scanParts } from "./ops/scan.ts";
export { isShard, type ShardSpec, shard, shardSpecOf, specText } from "./ops/shard.ts";
export * from "./ops/sort.ts";
export * from "./ops/source.ts";
export { type WhileOptions, whileLoop } from "./ops/while.ts";
export * from "./parse.ts";
export { autocast, fullDtype, type ProductDtype } from "./precision.ts";
export * from "./premise.ts";
export * from "./print.ts";
export * from "./requirement.ts";
export { parseDim } from "./scan.ts";
export * from "./scope.ts";
export * from "./shape.ts";
export * from "./site.ts";
export * from "./special.ts";
export * from "./stateful.ts";
export * from "./tap.ts";
export * from "./trace.ts";
export { type CustomVjp, checkpoint, customVjp } from "./transforms/custom-vjp.ts";
export type { TensorFunction } from "./transforms/function.ts";
export { hessian, type JacobianOptions, jacobian } from "./transforms/jacobian.ts";
export { jvp, type ValueAndTangent } from "./transforms/jvp.ts";
export { type ValueAndPullback, vjp } from "./transforms/vjp.ts";
export { type BatchAxes, type VmapOptions, vmap } from "./transforms/vmap.ts";
export * from "./verify.ts";
