/**
 * The webgpu target: WGSL compute shaders, compiled for the adapter's limits. Its graph passes
 * split what one workgroup would do alone (long sums, scans, contractions of few results) into
 * parts, since workgroups of one launch cannot wait for each other.
 */

import { attentionFusion } from "../../fuse/attention-group.ts";
import { skinnyLines } from "../../fuse/contraction.ts";
import { fuseEqualLoops } from "../../fuse/equal-loops.ts";
import { siblings } from "../../machine/products.ts";
import { alone, card, guaranteed } from "../../machine/webgpu.ts";
import { factorSums } from "../../passes/factor-sums.ts";
import { joinSums } from "../../passes/join-sums.ts";
import { reuseProduct } from "../../passes/reuse-product.ts";
import { splitColumns } from "../../passes/split-columns.ts";
import { splitConcat } from "../../passes/split-concat.ts";
import { splitContraction } from "../../passes/split-contraction.ts";
import { splitReduce } from "../../passes/split-reduce.ts";
import { splitScan } from "../../passes/split-scan.ts";
import { splitVariance } from "../../passes/split-variance.ts";
import { gpuAttention } from "../../schedule/gpu/attention.ts";
import { besideGrid } from "../../schedule/gpu/beside.ts";
import { gpuContraction } from "../../schedule/gpu/contraction.ts";
import { matrixUnitOf } from "../../schedule/gpu/matrix-unit.ts";
import { gpuRows } from "../../schedule/gpu/rows.ts";
import { gpuScan } from "../../schedule/gpu/scan.ts";
import { gpuScatter } from "../../schedule/gpu/scatter.ts";
import { gpuSort } from "../../schedule/gpu/sort.ts";
import type { Target } from "../../target.ts";
import { customWgsl } from "./custom.ts";
import { emitWgsl } from "./emit.ts";

export const webgpu: Target = {
  name: "webgpu",
  fusionLimits: (limits, features) => ({
    row: alone.row,
    total: alone.total,
    attention: attentionFusion,
    equalLoops: fuseEqualLoops,
    guestElements: alone.guest,
    siblings: { sums: skinnyLines, ...siblings },
    machine: card,
    halves: features.includes("shader-f16"),
    matrixUnits: features.includes("shader-f16") && matrixUnitOf(features) !== undefined,
    bindings: limits.maxStorageBuffersPerShaderStage ?? guaranteed.maxStorageBuffersPerShaderStage,
  }),
  defaultLimits: guaranteed,
  startsAnywhere: false,
  passes: [
    joinSums,
    splitConcat,
    reuseProduct,
    splitContraction,
    factorSums,
    splitVariance,
    splitReduce,
    splitColumns,
    splitScan,
  ],
  schedule: {
    rows: gpuRows,
    scan: gpuScan,
    contraction: (context) => gpuContraction(context),
    scatter: gpuScatter,
    sort: gpuSort,
    attention: gpuAttention,
    beside: besideGrid,
  },
  emit: (kernel, { features }) =>
    kernel.custom
      ? customWgsl(kernel, kernel.custom)
      : emitWgsl(kernel, {
          subgroups: features.includes("subgroups"),
          f16: features.includes("shader-f16"),
        }),
};
