/**
 * Dead code: updates that leave their parameter as it is.
 *
 * before:
 *   graph f(%x: f32[2], %p: param f32[2], %q: param f32[2]) {
 *     %1: f32[2] = add %p %x
 *     assign %p %1
 *     assign %q %q
 *     return %x
 *   }
 * after:
 *   graph f(%x: f32[2], %p: param f32[2]) {
 *     %1: f32[2] = add %p %x
 *     assign %p %1
 *     return %x
 *   }
 *
 * A program is what its roots reach, so a node that no root needs is gone by construction; only
 * roots themselves can be dead. Inputs stay even if unused: they are the signature.
 */
import type { Pass } from "../pass.ts";

export const dce: Pass = {
  name: "dce",
  run(program) {
    const updates = program.updates.filter(([param, value]) => param !== value);
    return updates.length === program.updates.length ? program : { ...program, updates };
  },
};
