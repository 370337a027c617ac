/**
 * The webgpu target: WGSL compute shaders, compiled for the adapter's limits. Its graph passes
 * split what one workgroup would do alone (long sums, scans, contractions of few results) into
 * parts, since workgroups of one launch cannot wait for each other.
 */

import { attentionFusion } from "../../fuse/attention-group.ts";
import { joinSums } from "../../passes/join-sums.ts";
import { reuseProduct } from "../../passes/reuse-product.ts";
import { splitColumns } from "../../passes/split-columns.ts";
import { splitConcat } from "../../passes/split-concat.ts";
import { splitContraction } from "../../passes/split-contraction.ts";
import { splitReduce } from "../../passes/split-reduce.ts";
import { splitScan } from "../../passes/split-scan.ts";
import { gpuAttention } from "../../schedule/gpu/attention.ts";
import { gpuContraction } from "../../schedule/gpu/contraction.ts";
import { besideGrid } from "../../schedule/gpu/gpu.ts";
import { matrixUnitOf } from "../../schedule/gpu/matrix-unit.ts";
import { gpuRows } from "../../schedule/gpu/rows.ts";
import { gpuScan } from "../../schedule/gpu/scan.ts";
import { gpuScatter } from "../../schedule/gpu/scatter.ts";
import { gpuSort } from "../../schedule/gpu/sort.ts";
import type { Target } from "../../target.ts";
import { customWgsl } from "./custom.ts";
import { emitWgsl } from "./emit.ts";

/** What every WebGPU device guarantees (WebGPU 3.6.2). */
const guaranteed = {
  maxStorageBuffersPerShaderStage: 8,
  maxStorageBufferBindingSize: 134217728,
  maxBufferSize: 268435456,
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupsPerDimension: 65535,
};

export const webgpu: Target = {
  name: "webgpu",
  fusionLimits: (limits, features) => ({
    // A row is walked by one workgroup, once a phase.
    row: 1 << 16,
    // A reduction over rows as well keeps the whole device waiting for one workgroup.
    total: 1 << 18,
    attention: attentionFusion,
    // Four to an invocation: less than a launch takes.
    guestElements: 1024,
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
    splitReduce,
    splitColumns,
    splitScan,
  ],
  schedule: {
    rows: gpuRows,
    scan: gpuScan,
    contraction: gpuContraction,
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
