/**
 * Common subexpressions: two nodes that differ only in the order of commuting operands become one.
 *
 * before:
 *   graph f(%x: f32[2], %y: f32[2]) {
 *     %1: f32[2] = mul %x %y
 *     %2: f32[2] = mul %y %x
 *     %3: f32[2] = sub %1 %2
 *     return %3
 *   }
 * after:
 *   graph f(%x: f32[2], %y: f32[2]) {
 *     %1: f32[2] = mul %x %y
 *     %2: f32[2] = sub %1 %1
 *     return %2
 *   }
 *
 * Equal nodes are one node already, as `makeNode` interns them; this finds `add(y, x)` beside
 * `add(x, y)` and `greater(y, x)` beside `less(x, y)`. The first in the order of evaluation stays.
 * Run before fuse.
 */
import type { Tensor } from "@kiln-ml/ir";
import type { Pass } from "../pass.ts";
import { rewriteProgram } from "../program.ts";
import { commutative } from "../rules/match.ts";

/** a > b is b < a, and so for the others: keyed by the op that the mirrored node would have. */
const mirrored: Readonly<Record<string, string>> = { greater: "less", greaterEqual: "lessEqual" };

export const cse: Pass = {
  name: "cse",
  run(program) {
    const first = new Map<string, Tensor>();
    return rewriteProgram(program, (node) => {
      const key = orderlessKey(node);
      if (key === undefined) return node;
      const twin = first.get(key);
      if (!twin) first.set(key, node);
      return twin ?? node;
    });
  },
};

/** The same text for all spellings of one value; nothing for ops whose operands do not commute. */
function orderlessKey(node: Tensor): string | undefined {
  const ids = node.operands.map((t) => t.id);
  if (commutative.has(node.op)) return `${node.op} ${ids.sort((a, b) => a - b)}`;
  if (node.op === "less" || node.op === "lessEqual") return `${node.op} ${ids}`;
  const op = mirrored[node.op];
  return op && `${op} ${ids.reverse()}`;
}
