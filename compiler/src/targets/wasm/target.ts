/**
 * The wasm target: SIMD loops in one WebAssembly module, for one thread or several. Nothing limits
 * what is fused: a kernel binds as many buffers as it has parameters, and rows of any length are
 * one work item. Sums of large tensors are split into parts in the graph, so that threads share
 * them; the number of parts depends on extents alone.
 */
import { siblings } from "../../machine/wasm.ts";
import { splitConcat } from "../../passes/split-concat.ts";
import { splitReduce } from "../../passes/split-reduce.ts";
import { serialScatter } from "../../schedule/scatter.ts";
import { besidePhases } from "../../schedule/simd/beside.ts";
import { simdContraction } from "../../schedule/simd/contraction.ts";
import { simdRows } from "../../schedule/simd/rows.ts";
import { simdScan } from "../../schedule/simd/scan.ts";
import { lineSort } from "../../schedule/sort.ts";
import type { Target } from "../../target.ts";
import { emitWasm, functionsOf } from "./emit.ts";
import { encodeModules } from "./module.ts";
import { sortFunctions } from "./sort.ts";

export const wasm: Target = {
  name: "wasm",
  fusionLimits: () => ({
    row: Infinity,
    total: Infinity,
    bindings: Infinity,
    siblings,
  }),
  defaultLimits: {},
  startsAnywhere: true,
  passes: [splitConcat, splitReduce],
  schedule: {
    rows: (context) => ({ ...simdRows(context), workgroupSize: 1 }),
    scan: (context) => ({ ...simdScan(context), workgroupSize: 1 }),
    contraction: simdContraction,
    scatter: (context) => ({ body: serialScatter(context, true), workgroupSize: 1 }),
    sort: (context) => ({ body: lineSort(context), workgroupSize: 1 }),
    beside: besidePhases,
  },
  emit: (kernel) => emitWasm(kernel),
  link: (kernels) => {
    const functions = kernels.flatMap(functionsOf);
    return encodeModules([...functions, ...sortFunctions(functions)]);
  },
};
