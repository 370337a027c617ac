/**
 * The compiler's order, on one screen. Graph passes run first, in this order; then fuse, lower,
 * order, plan and emit, which `compile.ts` chains.
 */
import type { Pass } from "./pass.ts";
import { cse } from "./passes/cse.ts";
import { dce } from "./passes/dce.ts";
import { fold } from "./passes/fold.ts";
import { inline } from "./passes/inline.ts";
import { orient } from "./passes/orient.ts";
import { regions } from "./passes/regions.ts";
import { simplify } from "./passes/simplify.ts";

export const graphPasses: readonly Pass[] = [
  inline,
  regions,
  simplify(),
  fold,
  simplify(),
  cse,
  regions,
  orient,
  dce,
];

/** Everything the compiler does, by name, for `kiln inspect` and `--skip`. */
export const stages = [...graphPasses.map((p) => p.name), "fuse", "lower", "order", "plan", "emit"];
