/**
 * The meaning of rule texts: matching a pattern against a node and building the replacement.
 * Operands of commutative ops match in either order; a variable named twice must meet the same node
 * twice. Patterns see operands and dtypes only; a rule about attributes or shapes is a function
 * (`movement.ts`).
 */
import {
  type Attrs,
  bug,
  type Dtype,
  isFloat,
  isInteger,
  makeNode,
  opRecord,
  type Tensor,
} from "@kiln-ml/ir";
import { type DtypeTest, type Pattern, parseRule, type RuleText } from "./pattern.ts";
import { uniform, uniformValue } from "./uniform.ts";

/** One local rewrite. `apply` returns the replacement, of the same dtype and shape, or nothing. */
export interface Rule {
  readonly name: string;
  /** The ops a node must have for the rule to be tried. */
  readonly ops: readonly string[];
  apply(node: Tensor): Tensor | undefined;
  /** The parsed form, where the rule is text; its test samples from it. */
  readonly text?: RuleText;
}

export type Bindings = Map<string, Tensor>;

export const commutative: ReadonlySet<string> = new Set(
  "add mul maximum minimum and or xor equal notEqual".split(" "),
);

/** A rule from its text. */
export function rule(text: string): Rule {
  const parsed = parseRule(text);
  const apply = (node: Tensor): Tensor | undefined => {
    if (!looksLike(parsed.lhs, node)) return undefined;
    const bindings: Bindings = new Map();
    const found = match(parsed.lhs, node, bindings, () =>
      parsed.where.every((w) => dtypeHolds(w, bindings)),
    );
    return found ? instantiate(parsed.rhs, bindings, node) : undefined;
  };
  return { name: text, ops: [parsed.lhs.op], apply, text: parsed };
}

/**
 * False where ops and constants alone tell that the pattern does not fit, as they do of most nodes.
 */
function looksLike(p: Pattern, node: Tensor): boolean {
  if (p.kind === "variable") return true;
  if (p.kind === "constant") return isUniform(node, p.value, p.bool);
  const { operands } = node;
  if (node.op !== p.op || operands.length !== p.args.length) return false;
  if (p.args.every((a, i) => looksLike(a, operands[i]!))) return true;
  if (!commutative.has(p.op)) return false;
  return looksLike(p.args[0]!, operands[1]!) && looksLike(p.args[1]!, operands[0]!);
}

function isUniform(node: Tensor, value: number, bool: boolean): boolean {
  return (node.dtype === "bool") === bool && Object.is(uniformValue(node), value);
}

/** True if the pattern fits and then `next` holds; bindings are undone where they lead nowhere. */
function match(p: Pattern, node: Tensor, bindings: Bindings, next: () => boolean): boolean {
  if (p.kind === "constant") return isUniform(node, p.value, p.bool) && next();
  if (p.kind === "variable") {
    const bound = bindings.get(p.name);
    if (bound) return bound === node && next();
    bindings.set(p.name, node);
    if (next()) return true;
    bindings.delete(p.name);
    return false;
  }
  if (node.op !== p.op || node.operands.length !== p.args.length) return false;
  const from = (i: number, operands: readonly Tensor[]): boolean =>
    i === p.args.length
      ? next()
      : match(p.args[i]!, operands[i]!, bindings, () => from(i + 1, operands));
  if (from(0, node.operands)) return true;
  return commutative.has(p.op) && from(0, [node.operands[1]!, node.operands[0]!]);
}

function dtypeHolds({ test, variable }: DtypeTest, bindings: Bindings): boolean {
  const dtype = bindings.get(variable)!.dtype;
  if (test === "float") return isFloat(dtype);
  if (test === "integer") return isInteger(dtype);
  return dtype === test;
}

/**
 * The node a pattern stands for. A constant takes dtype and shape of the operand beside it, or of
 * `like`.
 */
export function instantiate(p: Pattern, bindings: Bindings, like: Tensor): Tensor {
  if (p.kind === "variable") return bindings.get(p.name) ?? bug("rules", `${p.name} is not bound`);
  if (p.kind === "constant") return uniform(p.value, p.bool ? "bool" : like.dtype, like.shape);
  const beside = p.args.find((a) => a.kind !== "constant");
  const model = beside ? instantiate(beside, bindings, like) : like;
  return build(
    p.op,
    p.args.map((a) => (a === beside ? model : instantiate(a, bindings, model))),
  );
}

/** A node of the type that its record infers. */
export function build(op: string, operands: readonly Tensor[], attrs: Attrs = {}): Tensor {
  return makeNode({ op, operands, attrs, ...opRecord(op).infer(operands, attrs) });
}

/** A node like `node`, of its dtype and shape, with another op, operands and attributes. */
export const replaceBy = (
  node: Tensor,
  op: string,
  operands: readonly Tensor[],
  attrs: Attrs = {},
  dtype: Dtype = node.dtype,
): Tensor => makeNode({ op, operands, attrs, dtype, shape: node.shape });
