/**
 * The rewriter: applies tables of rules to a program until none fits. Bottom-up, each node once: a
 * rule sees operands in normal form, and what it returns is brought to normal form in turn, so one
 * sweep reaches the fixpoint. It decides nothing; whether a rule is sound is the business of
 * `rules/` and their tests.
 */
import { bug, inPlaceOf, type Tensor, withOperands } from "@kiln-ml/ir";
import { mapRoots, type Program, rootsOf } from "./program.ts";
import type { Rule } from "./rules/match.ts";

/** How often each rule fired in this process, by name. A test deletes rules that never do. */
export const ruleHits: Map<string, number> = new Map();

/**
 * More rewrites of one node in place than any chain of sound rules needs; a cycle reaches it at
 * once.
 */
const maxRewrites = 64;

export function rewriteByRules(program: Program, rules: readonly Rule[]): Program {
  const normalize = makeNormalizer(rules);
  for (const root of rootsOf(program)) normalize(root);
  return mapRoots(program, normalize);
}

/** A function from node to normal form, with its own memo. */
export function makeNormalizer(rules: readonly Rule[]): (root: Tensor) => Tensor {
  const byOp = indexByOp(rules);
  const normal = new Map<Tensor, Tensor>();

  const finish = (node: Tensor, depth: number): Tensor => {
    const rebuilt = withOperands(
      node,
      node.operands.map((t) => normal.get(t)!),
    );
    const known = normal.get(rebuilt);
    if (known) return known;
    const next = applyFirst(byOp.get(rebuilt.op), rebuilt);
    if (depth > maxRewrites)
      bug("rewrite", `rules do not come to an end at ${rebuilt}, then ${next}`);
    const result = next ? walk(next, depth + 1) : rebuilt;
    normal.set(rebuilt, result);
    return result;
  };

  const walk = (root: Tensor, depth: number): Tensor => {
    const stack = [root];
    while (stack.length) {
      const node = stack[stack.length - 1]!;
      if (!normal.has(node)) {
        const height = stack.length;
        for (const t of node.operands) if (!normal.has(t)) stack.push(t);
        if (stack.length > height) continue;
        const result = inPlaceOf(node, () => finish(node, depth));
        normal.set(node, result);
      }
      stack.pop();
    }
    return normal.get(root)!;
  };

  return (root) => walk(root, 0);
}

function indexByOp(rules: readonly Rule[]): Map<string, Rule[]> {
  const byOp = new Map<string, Rule[]>();
  for (const rule of rules)
    for (const op of rule.ops) {
      const list = byOp.get(op);
      if (list) list.push(rule);
      else byOp.set(op, [rule]);
    }
  return byOp;
}

function applyFirst(rules: readonly Rule[] | undefined, node: Tensor): Tensor | undefined {
  for (const rule of rules ?? []) {
    const next = rule.apply(node);
    if (!next || next === node) continue;
    ruleHits.set(rule.name, (ruleHits.get(rule.name) ?? 0) + 1);
    return next;
  }
  return undefined;
}
