/**
 * Algebra and movement by rules, to a fixpoint.
 *
 * before:
 *   graph f(%x: f32[2,3], %w: f32[3]) {
 *     %1: f32[] = constant {value=1}
 *     %2: f32[2,3] = broadcastInDim %1 {dims=[]}
 *     %3: f32[2,3] = mul %x %2
 *     %4: f32[3] = neg %w
 *     %5: f32[2,3] = broadcastInDim %4 {dims=[1]}
 *     %6: f32[2,3] = add %3 %5
 *     %7: f32[3,2] = transpose %6 {perm=[1, 0]}
 *     %8: f32[2,3] = transpose %7 {perm=[1, 0]}
 *     return %8
 *   }
 * after:
 *   graph f(%x: f32[2,3], %w: f32[3]) {
 *     %1: f32[3] = neg %w
 *     %2: f32[2,3] = broadcastInDim %1 {dims=[1]}
 *     %3: f32[2,3] = add %x %2
 *     return %3
 *   }
 *
 * Runs first and again after folding. Exact rules only; `simplifyFast` is for a caller that opts
 * in.
 */
import type { Pass } from "../pass.ts";
import { rewriteByRules } from "../rewrite.ts";
import { exactRules, fastRules } from "../rules/index.ts";

export const simplify = (): Pass => ({
  name: "simplify",
  run: (program) => rewriteByRules(program, exactRules()),
});

/**
 * `simplify` with rules that may change the last bits. A function of its own: the compiler does not
 * carry them.
 */
export const simplifyFast = (): Pass => ({
  name: "simplify-fast",
  run: (program) => rewriteByRules(program, fastRules()),
});
