/**
 * Lowers an argSort on the CPU: a line's keys are gathered, sorted by one statement, and the
 * epilogue is computed from the order. Keys are i32 that rise with the element, but for f64, whose
 * keys are the elements: integers compare in one instruction, and NaN and −0 have their places
 * without a test.
 */
import { type Dim, mulDim, opOf, type SortAttrs, sortAttrs, type Tensor } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import { call, constant, load } from "../kernel/expr.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { type LoweringContext, openBlock, storeMembers } from "../lower/context.ts";
import { decode, nest, totalOf } from "../lower/loops.ts";

export interface SortParts extends SortAttrs {
  readonly node: Tensor;
  readonly x: Tensor;
  /** The loops over lines, and the one over the places of the result. */
  readonly lines: readonly Loop[];
  readonly places: Loop;
}

export function sortParts(context: LoweringContext): SortParts {
  const node = context.group.anchor!;
  const x = node.operands[0]!;
  const attrs = sortAttrs(x, opOf(node, "argSort").attrs);
  const lines = context.group.outer.filter((_, a) => a !== attrs.axis);
  return { ...attrs, node, x, lines, places: context.group.outer[attrs.axis]! };
}

/** The coordinates of the line with `at` along the axis. */
export const coordsAt = ({ x, axis, lines }: SortParts, at: Dim): Dim[] => {
  let next = 0;
  return x.shape.map((_, a) => (a === axis ? at : lines[next++]!.at));
};

/** Sorts in one array of the line after another; lines are independent. */
export function lineSort(context: LoweringContext): Stmt[] {
  const p = sortParts(context);
  const extent = p.x.shape[p.axis]!;
  const dtype = p.x.dtype === "f64" ? "f64" : "i32";
  const array = (name: string, kind: "f64" | "i32", size: Dim): Stmt => ({
    kind: "array",
    name,
    dtype: kind,
    size,
    space: "private",
  });
  const from = makeLoop("k", extent);
  const fill = openBlock(context);
  const element = fill.at(p.x, coordsAt(p, from.at));
  const value = dtype === "f64" ? element : risingKey(element);
  fill.body.push({ kind: "store", to: "keys", index: from.at, value });
  const sort: Stmt = {
    kind: "sort",
    keys: "keys",
    order: "order",
    // The keys with their places, twice.
    spare: "spare",
    size: extent,
    count: p.count,
    descending: p.descending,
  };
  const line = makeLoop("line", totalOf(p.lines));
  return [
    array("keys", dtype, extent),
    array("order", "i32", extent),
    array("spare", "i32", mulDim(dtype === "f64" ? 8 : 4, extent)),
    ...nest([line], "parallel", [
      ...decode(p.lines, line.at),
      ...nest([from], "serial", fill.body),
      sort,
      ...nest([p.places], "serial", finished(context, p, load("order", "i32", p.places.at))),
    ]),
  ];
}

/** Stores what the group computes from the element of the order at the places loop. */
export function finished(context: LoweringContext, { node }: SortParts, place: Expr): Stmt[] {
  const block = openBlock(context);
  block.bind(node, place);
  storeMembers(context, block, new Map());
  return block.body;
}

/**
 * An i32 that is greater where the element is: integers as they are, u32 with its first bit turned,
 * floats by their bits as f32, which rise with positive numbers and fall with negative ones. −0
 * becomes 0 first, and NaN the greatest.
 */
export function risingKey(x: Expr): Expr {
  const i32 = (op: string, ...args: Expr[]): Expr => call(op, "i32", ...args);
  if (x.dtype === "i32") return x;
  if (x.dtype === "u32") return i32("xor", i32("bitcast", x), constant("i32", -0x80000000));
  if (x.dtype === "bool" || x.dtype === "u8" || x.dtype === "i8") return i32("convert", x);
  const wide = x.dtype === "f32" ? x : call("convert", "f32", x);
  const raw = i32("bitcast", wide);
  const [zero, most] = [constant("i32", 0), constant("i32", 0x7fffffff)];
  const minusZero = call("equal", "bool", raw, constant("i32", -0x80000000));
  const bits = i32("select", minusZero, zero, raw);
  const negative = call("less", "bool", bits, zero);
  const rising = i32("select", negative, i32("xor", bits, most), bits);
  return i32("select", call("isNan", "bool", wide), most, rising);
}
