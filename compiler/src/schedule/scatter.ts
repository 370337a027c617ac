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
import type { Values } from "../lower/value.ts";
import { compensated as limits } from "../sizes.ts";
import { compensate, compensated } from "./compensate.ts";

/** Where a scatter writes, and the loops over its coordinates. */
export interface ScatterPlace {
  readonly node: Tensor;
  /** The memory of the result. */
  readonly to: string;
  /** The element of `to` at the coordinates of all loops. */
  readonly here: Dim;
  /** Loops over coordinates that are not indexed, over those that are, and over the updates. */
  readonly rest: readonly Loop[];
  readonly indexed: readonly Loop[];
  readonly positions: readonly Loop[];
  readonly offset: Dim;
}

export function scatterPlace(context: LoweringContext): ScatterPlace {
  const node = opOf(context.group.anchor!, "scatter");
  const [, , first] = node.operands as [Tensor, Tensor, Tensor];
  const { axes } = node.attrs;
  const { outer } = context.group;
  const { tensor, offset } = context.storage(node);
  context.writes.add(node);
  const at = outer.map((l) => l.at);
  return {
    node,
    to: context.buffers.nameOf(tensor),
    here: addDim(offsetOf(node.shape, at), offset),
    rest: outer.filter((_, axis) => !axes.includes(axis)),
    indexed: outer.filter((_, axis) => axes.includes(axis)),
    positions: first.shape.map((d, i) => makeLoop(`s${i}`, d)),
    offset,
  };
}

/** Puts the target's element where the result will be. */
export function copyOf(context: LoweringContext, { node, to, here }: ScatterPlace): Stmt[] {
  const block = openBlock(context);
  const at = context.group.outer.map((l) => l.at);
  block.body.push({ kind: "store", to, index: here, value: block.at(node.operands[0]!, at) });
  return block.body;
}

/** Where an update lands: a coordinate for each indexed axis in their order, all of them tested. */
export interface Landing {
  readonly at: readonly Dim[];
  readonly inRange: readonly Condition[];
}

/** Binds the indices at the coordinates of the loops over positions. */
export function landingOf(block: Values, { node, positions }: ScatterPlace): Landing {
  const indices = node.operands.slice(2);
  const { axes } = opOf(node, "scatter").attrs;
  const from = positions.map((l) => l.at);
  const inRange: Condition[] = [];
  const at: Dim[] = [];
  for (const [axis, extent] of node.shape.entries()) {
    const which = axes.indexOf(axis);
    if (which < 0) continue;
    const name = indexName(`to${axis}`);
    const index = block.at(indices[which]!, from);
    const value = index.dtype === "i32" ? index : call("convert", "i32", index);
    block.body.push({ kind: "letDynamic", name, value });
    // Nothing is known of its range before it is tested.
    const raw = anyInteger(name);
    inRange.push(isAtLeast0(raw), isBelow(raw, extent));
    at.push(raw);
  }
  return { at, inRange };
}

/** The update at the coordinates of all loops. */
export const updateOf = (block: Values, { node, positions, rest }: ScatterPlace): Expr =>
  block.at(
    node.operands[1]!,
    [...positions, ...rest].map((l) => l.at),
  );

/** What follows once an element has all of its updates. */
export function finishOf(context: LoweringContext, { node, to, here }: ScatterPlace): Stmt[] {
  const finish = openBlock(context);
  finish.bind(node, load(to, node.dtype, here));
  for (const [member] of membersOf(context.group))
    if (member !== node && context.stored.has(member))
      finish.body.push(storeMember(context, finish, member));
  return finish.body;
}

/** The three runs of a scatter: statements per rest coordinate. */
export interface ScatterParts extends ScatterPlace {
  readonly copy: readonly Stmt[];
  readonly combine: readonly Stmt[];
  readonly finish: readonly Stmt[];
}

/** `exact`: sums of many updates keep what is left over of them, element for element. */
export function scatterParts(context: LoweringContext, exact = false): ScatterParts {
  const place = scatterPlace(context);
  const { node, to, positions } = place;
  const { outer } = context.group;
  let copy = copyOf(context, place);
  const combine = openBlock(context);
  const { at, inRange } = landingOf(combine, place);
  const { axes } = opOf(node, "scatter").attrs;
  const landed = [...at];
  const coords = outer.map((l, axis) => (axes.includes(axis) ? landed.shift()! : l.at));
  const element = offsetOf(node.shape, coords);
  const target = addDim(element, place.offset);
  const update = updateOf(combine, place);
  const before = load(to, node.dtype, target);
  let then: Stmt[] = [{ kind: "store", to, index: target, value: combined(node, before, update) }];
  const { mode } = opOf(node, "scatter").attrs;
  const long = mode === "add" && maxOfDim(totalOf(positions)) > limits.updates;
  if (exact && long && compensated(node.dtype)) {
    const left = context.buffers.scratch("sumsLeft", "f32", sizeOf(node.shape));
    const clear = offsetOf(
      node.shape,
      outer.map((l) => l.at),
    );
    copy = [...copy, { kind: "store", to: left, index: clear, value: constant("f32", 0) }];
    then = compensate("sum", update, [before, load(left, "f32", element)], (total, over) => [
      { kind: "store", to: left, index: element, value: over },
      { kind: "store", to, index: target, value: total },
    ]);
  }
  combine.body.push({ kind: "if", when: inRange, then });
  return { ...place, copy, combine: combine.body, finish: finishOf(context, place) };
}

/** An element with one more update. */
export function combined(node: Tensor, before: Expr, update: Expr): Expr {
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
