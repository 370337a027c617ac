/**
 * Algebra and movement by rules, to a fixpoint.
 *
 * before:
 *   TODO
 *
 * Runs first and again after folding. Exact rules only, unless the caller opts in to `fast`.
 */
import type { Pass } from "../pass.ts";
import { rewriteByRules } from "../rewrite.ts";
import { exactRules, fastRules } from "../rules/index.ts";

export function simplify(options: { fast?: boolean } = {}): Pass {
  return {
    name: options.fast ? "simplify-fast" : "simplify",
    run: (program) => rewriteByRules(program, options.fast ? fastRules() : exactRules()),
  };
}
