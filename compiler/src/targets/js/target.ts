/**
 * The js target: loops over typed arrays. Nothing limits what is fused but sense.
 */

import { splitConcat } from "../../passes/split-concat.ts";
import { serialScatter } from "../../schedule/scatter.ts";
import { serialContraction } from "../../schedule/serial/contraction.ts";
import { serialRows } from "../../schedule/serial/rows.ts";
import { serialScan } from "../../schedule/serial/scan.ts";
import { lineSort } from "../../schedule/sort.ts";
import type { Target } from "../../target.ts";
import { customJs } from "./custom.ts";
import { emitJs } from "./emit.ts";
import { reserved } from "./language.ts";

export const js: Target = {
  name: "js",
  fusionLimits: () => ({ row: Infinity, total: Infinity, bindings: Infinity }),
  defaultLimits: {},
  startsAnywhere: true,
  reserved,
  passes: [splitConcat],
  schedule: {
    rows: (context) => ({ ...serialRows(context), workgroupSize: 1 }),
    scan: (context) => ({ ...serialScan(context), workgroupSize: 1 }),
    contraction: (context) => ({ ...serialContraction(context), workgroupSize: 1 }),
    scatter: (context) => ({ body: serialScatter(context), workgroupSize: 1 }),
    sort: (context) => ({ body: lineSort(context), workgroupSize: 1 }),
    beside: (main, guests) => ({
      ...main,
      body: [...guests.flatMap((guest) => serialRows(guest).body), ...main.body],
    }),
  },
  emit: (kernel, { rounding }) =>
    kernel.custom ? customJs(kernel, kernel.custom) : emitJs(kernel, { rounding }),
};
