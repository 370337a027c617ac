/**
 * Lowers a scatter: the target is copied, then the updates are combined into it in row-major order
 * of the index positions, which makes the result independent of the machine; then the epilogue
 * runs. An update whose index is out of range is dropped.
 *
 * Why serial along the updates: two may name one element, and atomics would add them in any order,
 * which f32 sums show. Parallelism comes from axes that are not indexed.
 */
import {
  addDim,
  anyInteger,
  type Condition,
  type Dim,
  maxOfDim,
  offsetOf,
  opOf,
  sizeOf,
  type Tensor,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import { isAtLeast0, isBelow } from "../kernel/conditions.ts";
import { call, constant, load } from "../kernel/expr.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { indexName } from "../kernel/names.ts";
import { type LoweringContext, membersOf, openBlock, storeMember } from "../lower/context.ts";
import { nest, totalOf } from "../lower/loops.ts";
import { compensated as limits } from "../sizes.ts";
import { compensate, compensated } from "./compensate.ts";

/** The three runs of a scatter, and the loops over coordinates that are not indexed ("rest"). */
export interface ScatterParts {
  readonly rest: readonly Loop[];
  /** Statements per rest coordinate: copying, combining, finishing. */
  readonly copy: Stmt[];
  readonly combine: Stmt[];
  readonly finish: Stmt[];
  readonly indexed: readonly Loop[];
  readonly positions: readonly Loop[];
}

/** `exact`: sums of many updates keep what is left over of them, element for element. */
export function scatterParts(context: LoweringContext, exact = false): ScatterParts {
  const node = opOf(context.group.anchor!, "scatter");
  const [x, updates, ...indices] = node.operands as [Tensor, Tensor, ...Tensor[]];
  const { axes } = node.attrs;
  const outer = context.group.outer;
  const rest = outer.filter((_, axis) => !axes.includes(axis));
  const indexed = outer.filter((_, axis) => axes.includes(axis));
  const positions = indices[0]!.shape.map((d, i) => makeLoop(`s${i}`, d));
  const storage = context.storage(node);
  context.writes.add(node);
  const to = context.buffers.nameOf(storage.tensor);
  const here = addDim(
    offsetOf(
      node.shape,
      outer.map((l) => l.at),
    ),
    storage.offset,
  );
  const first = openBlock(context);
  first.body.push({
    kind: "store",
    to,
    index: here,
    value: first.at(
      x,
      outer.map((l) => l.at),
    ),
  });
  const combine = openBlock(context);
  const at = positions.map((l) => l.at);
  const inRange: Condition[] = [];
  const place = node.shape.map((extent, axis): Dim => {
    const which = axes.indexOf(axis);
    if (which < 0) return outer[axis]!.at;
    const name = indexName(`to${axis}`);
    const index = combine.at(indices[which]!, at);
    const value = index.dtype === "i32" ? index : call("convert", "i32", index);
    combine.body.push({ kind: "letDynamic", name, value });
    // Nothing is known of its range before it is tested.
    const raw = anyInteger(name);
    inRange.push(isAtLeast0(raw), isBelow(raw, extent));
    return raw;
  });
  const element = offsetOf(node.shape, place);
  const target = addDim(element, storage.offset);
  const update = combine.at(updates, [...at, ...rest.map((l) => l.at)]);
  const before = load(to, node.dtype, target);
  let then: Stmt[] = [{ kind: "store", to, index: target, value: combined(node, before, update) }];
  const long = node.attrs.mode === "add" && maxOfDim(totalOf(positions)) > limits.updates;
  if (exact && long && compensated(node.dtype)) {
    const left = context.buffers.scratch("sumsLeft", "f32", sizeOf(node.shape));
    const clear = offsetOf(
      node.shape,
      outer.map((l) => l.at),
    );
    first.body.push({ kind: "store", to: left, index: clear, value: constant("f32", 0) });
    then = compensate("sum", update, [before, load(left, "f32", element)], (total, over) => [
      { kind: "store", to: left, index: element, value: over },
      { kind: "store", to, index: target, value: total },
    ]);
  }
  combine.body.push({ kind: "if", when: inRange, then });
  const finish = openBlock(context);
  finish.bind(node, load(to, node.dtype, here));
  for (const [member] of membersOf(context.group))
    if (member !== node && context.stored.has(member))
      finish.body.push(storeMember(context, finish, member));
  return { rest, copy: first.body, combine: combine.body, finish: finish.body, indexed, positions };
}

function combined(node: Tensor, before: Expr, update: Expr): Expr {
  const { mode } = opOf(node, "scatter").attrs;
  if (mode === "set") return update;
  const op = { add: "add", mul: "mul", max: "maximum", min: "minimum" }[mode];
  return call(op, node.dtype, before, update);
}

/** One thread: positions outside, so that memory is walked in order. */
export function serialScatter(context: LoweringContext, exact = false): Stmt[] {
  const p = scatterParts(context, exact);
  const finish = p.finish.length ? nest(context.group.outer, "serial", p.finish) : [];
  return [
    ...nest(context.group.outer, "serial", p.copy),
    ...nest([...p.positions, ...p.rest], "serial", p.combine),
    ...finish,
  ];
}
