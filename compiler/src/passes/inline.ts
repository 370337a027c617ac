/**
 * Inlining: a `call` is replaced by the body of its region, with the operands in place of the
 * parameters.
 *
 * before:
 *   graph f(%x: f32[2]) {
 *     %1: f32[2] = call %x (%a: f32[2]) {
 *       %2: f32[2] = exp %a
 *       return %2
 *     }
 *     %3: f32[2] = neg %1
 *     return %3
 *   }
 * after:
 *   graph f(%x: f32[2]) {
 *     %1: f32[2] = exp %x
 *     %2: f32[2] = neg %1
 *     return %2
 *   }
 *
 * Run first, so that no later pass meets a region. Bodies may hold further calls and may use nodes
 * from outside; each call gets its own copy, and interning merges what is equal.
 */
import { inlineCalls, type Tensor } from "@kiln-ml/ir";
import type { Pass } from "../pass.ts";
import { mapRoots, rootsOf } from "../program.ts";

export const inline: Pass = {
  name: "inline",
  run(program) {
    const roots = rootsOf(program);
    const flat = inlineCalls(roots);
    const by = new Map<Tensor, Tensor>(roots.map((root, i) => [root, flat[i]!]));
    return mapRoots(program, (root) => by.get(root)!);
  },
};
