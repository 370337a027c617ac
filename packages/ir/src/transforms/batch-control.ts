/**
 * Nodes with regions over a batch. Where what decides is the same for the whole batch, a branch or a loop stays one; where it differs,
 * both branches are computed, and a loop runs until the last place of the batch is done, those that are done keeping what they have.
 */
import type { Dim } from "../dim.ts";
import { bug } from "../errors.ts";
import type { Graph, Tensor } from "../node.ts";
import { range } from "../ops/apply.ts";
import { cond } from "../ops/cond.ts";
import { resultsOf } from "../ops/control.ts";
import { select } from "../ops/elementwise/compare.ts";
import { reshape } from "../ops/movement.ts";
import { any, sum } from "../ops/reduce.ts";
import { scan, scanParts } from "../ops/scan.ts";
import { whileLoop } from "../ops/while.ts";
import { standIn } from "./function.ts";
import { type Lane, laned, moveAxis, type RunLanes, shared, spread } from "./lanes.ts";

type Rule = (node: Tensor, lanes: readonly Lane[], size: Dim, run: RunLanes) => Lane[];

/** All results of a node with regions, of whose operands one at least has lanes. */
export const controlOverLanes: Rule = (node, lanes, size, run) => {
  const rule = rules[node.op];
  return rule ? rule(node, lanes, size, run) : bug("vmap", `${node.op} has no rule`);
};

/** yes where the flag of a place holds. */
const chosen = (flag: Tensor, yes: Tensor, no: Tensor): Tensor =>
  select(reshape(flag, [flag.shape[0]!, ...range(yes.rank - 1).map(() => 1)]), yes, no);

const overCond: Rule = (node, [pred, ...captures], size, run) => {
  const branch = (which: 0 | 1) => run(node.regions[which]!, captures).map((l) => spread(l, size));
  if (!pred!.batched)
    return cond(
      pred!.tensor,
      () => branch(0),
      () => branch(1),
    ).map(laned);
  const no = branch(1);
  return branch(0).map((yes, i) => laned(chosen(pred!.tensor, yes, no[i]!)));
};

const standInFor = (lane: Lane): Lane => ({ ...lane, tensor: standIn(lane.tensor) });

/** Which carries have lanes at last: those that begin with them, and those that come to read one that has. */
function carriedLanes(
  init: readonly Lane[],
  size: Dim,
  step: (carry: readonly Lane[]) => readonly Lane[],
): Lane[] {
  let carry = init.map((l) => l);
  for (;;) {
    const out = step(carry.map(standInFor));
    const next = carry.map((l, i) => (!l.batched && out[i]!.batched ? laned(spread(l, size)) : l));
    if (next.every((l, i) => l.batched === carry[i]!.batched)) return next;
    carry = next;
  }
}

/** A lane of the kind of `like`. */
const inKind = (tensor: Tensor, like: Lane): Lane => ({ tensor, batched: like.batched });
const toKind = (lane: Lane, like: Lane, size: Dim): Tensor =>
  like.batched ? spread(lane, size) : lane.tensor;

const overScan: Rule = (node, lanes, size, run) => {
  const parts = scanParts(node.attrs, lanes);
  const region = node.regions[0]!;
  const xs = parts.xs.map((l) => (l.batched ? laned(moveAxis(l.tensor, 0, 1)) : l));
  const slices = xs.map(
    ({ tensor: { dtype, shape }, batched }): Lane => ({
      tensor: standIn({ dtype, shape: shape.slice(1) }),
      batched,
    }),
  );
  const at = shared(standIn({ dtype: "i32", shape: [] }));
  const init = carriedLanes(parts.init, size, (c) =>
    run(region, [at, ...c, ...slices, ...parts.captures]),
  );
  let kinds: Lane[] = [];
  const body = (carry: Tensor[], x: Tensor[], step: Tensor) => {
    const given = [
      shared(step),
      ...carry.map((t, i) => inKind(t, init[i]!)),
      ...x.map((t, i) => inKind(t, xs[i]!)),
      ...parts.captures,
    ];
    const out = run(region, given);
    kinds = out.slice(init.length);
    return {
      carry: init.map((like, i) => toKind(out[i]!, like, size)),
      ys: kinds.map((l) => l.tensor),
    };
  };
  const { carry, ys } = scan(
    init.map((l) => l.tensor),
    xs.map((l) => l.tensor),
    body,
    { length: node.attrs.length as Dim, reverse: node.attrs.reverse === true },
  );
  const stacked = ys.map((t, i) => (kinds[i]!.batched ? laned(moveAxis(t, 1, 0)) : shared(t)));
  return [...carry.map((t, i) => inKind(t, init[i]!)), ...stacked];
};

const overWhile: Rule = (node, lanes, size, run) => {
  const n = Number(node.attrs.carries);
  const [test, body] = node.regions as [Graph, Graph];
  const captures = lanes.slice(n);
  const flagOf = (carry: readonly Lane[]) => run(test, [...carry, ...captures])[0]!;
  const stepOf = (carry: readonly Lane[]) => run(body, [...carry, ...captures]);
  let init = carriedLanes(lanes.slice(0, n), size, stepOf);
  const each = flagOf(init.map(standInFor)).batched;
  if (each) init = init.map((l) => laned(spread(l, size)));
  const kinds = (carry: readonly Tensor[]) => carry.map((t, i) => inKind(t, init[i]!));
  const { maxTrips } = node.attrs as { maxTrips?: number };
  const out = whileLoop(
    init.map((l) => l.tensor),
    (...carry) => {
      const flag = flagOf(kinds(carry)).tensor;
      return each ? any(flag) : flag;
    },
    (...carry) => {
      const now = kinds(carry);
      const next = stepOf(now).map((l, i) => toKind(l, init[i]!, size));
      if (!each) return next;
      const flag = flagOf(now).tensor;
      return next.map((t, i) => chosen(flag, t, carry[i]!));
    },
    maxTrips === undefined ? {} : { maxTrips },
  );
  return out.map((t, i) => inKind(t, init[i]!));
};

/** A call with a gradient of its own stays one: its regions are those of the batch. */
const overCall: Rule = (node, given, size, run) => {
  // A formula is one for batches of all arguments.
  const whole = node.attrs.gradient === "closed";
  const lanes = whole ? given.map((l) => laned(spread(l, size))) : given;
  const params = lanes.map(standInFor);
  const [forward, rule] = node.regions as [Graph, Graph | undefined];
  const results = run(forward, params).map((l) => spread(l, size));
  const own = params.map((l) => l.tensor);
  const regions: Graph[] = [{ params: own, results }];
  if (rule) {
    const seen = results.map((t) => laned(standIn(t)));
    const gs = results.map((t) => laned(standIn(t, "g")));
    const again = params.map(standInFor);
    const parts = run(rule, [...gs, ...seen, ...again]).map((l, i) =>
      toOperand(l, lanes[i]!, size),
    );
    const all = [...gs, ...seen, ...again].map((l) => l.tensor);
    regions.push({ params: all, results: parts });
  }
  const operands = lanes.map((l) => l.tensor);
  return resultsOf({ op: "call", operands, attrs: node.attrs, regions }, results).map(laned);
};

/** The cotangent of an operand that the whole batch reads is the sum of those of its places. */
const toOperand = (part: Lane, operand: Lane, size: Dim): Tensor =>
  operand.batched ? spread(part, size) : part.batched ? sum(part.tensor, 0) : part.tensor;

const rules: Readonly<Record<string, Rule>> = {
  cond: overCond,
  scan: overScan,
  whileLoop: overWhile,
  call: overCall,
};
