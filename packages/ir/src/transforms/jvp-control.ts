/**
 * Tangents through nodes with regions: a region goes on with its values and their tangents side by side, so a loop is run once for both.
 * A `whileLoop` needs no bound here, as a reverse pass does. A rule of the user's is transposed: it is all that is known of the derivative.
 */
import type { Dim } from "../dim.ts";
import { isFloat } from "../dtype.ts";
import { bug } from "../errors.ts";
import { gradWhereReached } from "../grad.ts";
import type { Graph, Tensor } from "../node.ts";
import { filled } from "../ops/apply.ts";
import { bodyFor } from "../ops/call-gradient.ts";
import { cond } from "../ops/cond.ts";
import { replaceNodes } from "../ops/control.ts";
import { scan, scanParts } from "../ops/scan.ts";
import { whileLoop } from "../ops/while.ts";
import { standIn } from "./function.ts";
import type { Dual, PushGraph } from "./jvp.ts";

type Rule = (node: Tensor, operands: readonly Dual[], push: PushGraph) => Dual[];

/** Of all results, from the values and tangents of the operands. */
export const controlTangents: Rule = (node, operands, push) => {
  const rule = rules[node.op];
  return rule ? rule(node, operands, push) : bug("jvp", `${node.op} has no rule`);
};

const zeroOf = (t: Tensor): Tensor => filled(0, t.dtype, t.shape);
const values = (duals: readonly Dual[]): Tensor[] => duals.map((d) => d.value);

/** The values, then a tangent for each float. */
const flat = (duals: readonly Dual[]): Tensor[] => [...values(duals), ...floatTangents(duals)];
const floatTangents = (duals: readonly Dual[]): Tensor[] =>
  duals.flatMap(({ value, tangent }) => (isFloat(value.dtype) ? [tangent ?? zeroOf(value)] : []));

/** The other way. */
function paired(all: readonly Tensor[], count: number): Dual[] {
  let next = count;
  return all.slice(0, count).map((value) => ({
    value,
    tangent: isFloat(value.dtype) ? all[next++] : undefined,
  }));
}

function condTangents(node: Tensor, [pred, ...captures]: readonly Dual[], push: PushGraph): Dual[] {
  const branch = (which: 0 | 1) => () => flat(push(node.regions[which]!, captures));
  return paired(cond(pred!.value, branch(0), branch(1)), node.results!.length);
}

function scanTangents(node: Tensor, operands: readonly Dual[], push: PushGraph): Dual[] {
  const { init, xs, captures } = scanParts(node.attrs, operands);
  const region = node.regions[0]!;
  const ys = region.results.length - init.length;
  const body = (carry: Tensor[], slices: Tensor[], step: Tensor) => {
    const [c, x] = [paired(carry, init.length), paired(slices, xs.length)];
    const out = push(region, [{ value: step, tangent: undefined }, ...c, ...x, ...captures]);
    return { carry: flat(out.slice(0, init.length)), ys: flat(out.slice(init.length)) };
  };
  const options = { length: node.attrs.length as Dim, reverse: node.attrs.reverse === true };
  const out = scan(flat(init), flat(xs), body, options);
  return [...paired(out.carry, init.length), ...paired(out.ys, ys)];
}

function whileTangents(node: Tensor, operands: readonly Dual[], push: PushGraph): Dual[] {
  const n = Number(node.attrs.carries);
  const [test, body] = node.regions as [Graph, Graph];
  const captures = operands.slice(n);
  const { maxTrips } = node.attrs as { maxTrips?: number };
  const out = whileLoop(
    flat(operands.slice(0, n)),
    (...carry) => bodyFor(test, [...carry.slice(0, n), ...values(captures)])[0]!,
    (...carry) => flat(push(body, [...paired(carry, n), ...captures])),
    maxTrips === undefined ? {} : { maxTrips },
  );
  return paired(out, n);
}

/** The rule is w ↦ Jᵀw; ∂/∂w of ⟨Jᵀw, t⟩ is J·t. */
function callTangents(node: Tensor, operands: readonly Dual[]): Dual[] {
  const [forward, rule] = node.regions as [Graph, Graph];
  const own = rule.results.length;
  const results = bodyFor(forward, values(operands));
  const ws = results.map((t) => standIn(t, "w"));
  const parts = bodyFor(rule, [...ws, ...results, ...values(operands)]);
  const terms = parts.flatMap((part, i) => {
    const t = i < own ? operands[i]!.tangent : undefined;
    return t ? [part.mul(t).sum()] : [];
  });
  const total = terms.reduce<Tensor | undefined>((a, b) => (a ? a.add(b) : b), undefined);
  const found = total ? gradWhereReached(total, ws) : ws.map(() => undefined);
  // Of a linear rule no w is left, but in masks for cotangents of zero.
  const by = new Map(ws.map((w) => [w, w.onesLike()] as const));
  return results.map((value, i) => {
    const g = found[i];
    return { value, tangent: g && replaceNodes([g], by)[0]! };
  });
}

const rules: Readonly<Record<string, Rule>> = {
  cond: condTangents,
  scan: scanTangents,
  whileLoop: whileTangents,
  call: callTangents,
};
