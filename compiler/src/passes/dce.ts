/**
 * Dead code: updates that leave their parameter as it is.
 *
 * before:
 *   TODO
 *
 * A program is what its roots reach, so a node that no root needs is gone by construction; only roots
 * themselves can be dead. Inputs stay even if unused: they are the signature.
 */
import type { Pass } from "../pass.ts";

export const dce: Pass = {
  name: "dce",
  run: (program) => ({
    ...program,
    updates: program.updates.filter(([param, value]) => param !== value),
  }),
};
