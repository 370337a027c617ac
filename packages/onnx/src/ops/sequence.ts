/**
 * Sequences and optionals: lists and maybe-absent values whose lengths and presence are known during import, so that nothing of
 * them is left in the graph.
 */
import {
  concat,
  constant,
  type Dim,
  isStatic,
  reshape,
  sliceAxis,
  stack,
  type Tensor,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import {
  asTensorValue,
  optional,
  type SequenceValue,
  sequence,
  typed,
  type Value,
} from "../value.ts";

function listOf(n: NodeContext, i: number): SequenceValue {
  const value = n.value(i);
  const inner = value.kind === "optional" ? value.value : value;
  return inner?.kind === "sequence" ? inner : n.fail(`input ${i} is not a sequence`);
}

/** A place in a list; counts from the end if negative. */
function placeIn(n: NodeContext, i: number, length: number, last: number): number {
  const at = n.number(i);
  const place = at < 0 ? at + length : at;
  return place >= 0 && place <= last
    ? place
    : n.fail(`position ${at} is outside a sequence of ${length}`);
}

function insert(n: NodeContext): Value {
  const { items } = listOf(n, 0);
  const at = n.has(2) ? placeIn(n, 2, items.length, items.length) : items.length;
  return sequence([...items.slice(0, at), n.value(1), ...items.slice(at)]);
}

function erase(n: NodeContext): Value {
  const { items } = listOf(n, 0);
  const at = n.has(1) ? placeIn(n, 1, items.length, items.length - 1) : items.length - 1;
  return sequence(items.filter((_, i) => i !== at));
}

function join(n: NodeContext): Value {
  const tensors = listOf(n, 0).items.map((v, i) => asTensorValue(v, `element ${i}`));
  const [first] = tensors;
  if (!first) return n.fail("the sequence is empty");
  const parts = tensors.map((v) => v.tensor);
  const axis = n.int("axis");
  return typed(n.flag("new_axis") ? stack(parts, axis) : concat(parts, axis), first.type);
}

function split(n: NodeContext): Value {
  const x = n.typed(0);
  const t = x.tensor;
  const given = n.int("axis", 0);
  const axis = given < 0 ? given + t.rank : given;
  const extent = t.shape[axis]!;
  const sizes = splitSizes(n, extent);
  const keep = !n.has(1) && !n.flag("keepdims", true);
  let from = 0;
  const parts = sizes.map((size) => {
    const part = sliceAxis(t, axis, from, from + size);
    from += size;
    return keep
      ? reshape(
          part,
          part.shape.filter((_, a) => a !== axis),
        )
      : part;
  });
  return sequence(parts.map((p) => typed(p, x.type)));
}

function splitSizes(n: NodeContext, extent: Dim): readonly number[] {
  if (!isStatic(extent)) return n.fail("the extent of the axis must be known");
  if (!n.has(1)) return new Array<number>(extent).fill(1);
  if (n.tensor(1).rank > 0) return n.numbers(1);
  const size = n.number(1);
  if (!(size > 0)) return n.fail(`parts of ${size} are not possible`);
  const count = Math.ceil(extent / size);
  return Array.from({ length: count }, (_, i) => Math.min(size, extent - i * size));
}

/** The body once for each element; tensors beside the first sequence are the same in each. */
function map(n: NodeContext): Value[] {
  const body = n.graph("body");
  const { length } = listOf(n, 0).items;
  const inputs = Array.from({ length: n.count }, (_, i) => n.value(i));
  const rows = Array.from({ length }, (_, k) =>
    n.run(
      body,
      inputs.map((v, i) =>
        v.kind !== "sequence"
          ? v
          : (v.items[k] ?? n.fail(`input ${i} has fewer than ${length} elements`)),
      ),
    ),
  );
  return body.outputs.map((_, o) => sequence(rows.map((r) => r[o]!)));
}

const isPresent = (v: Value | undefined): boolean =>
  v !== undefined && (v.kind !== "optional" || v.value !== undefined);

function element(n: NodeContext): Value {
  const value = n.value(0);
  if (value.kind !== "optional") return value;
  return value.value ?? n.fail("the optional is empty");
}

const number = (value: number, type: "int64" | "bool"): Value =>
  typed(constant(value, type === "bool" ? "bool" : "i32") as Tensor, type);

export const sequenceRows: readonly Row[] = [
  row("SequenceConstruct", (n) => sequence(Array.from({ length: n.count }, (_, i) => n.value(i)))),
  row("SequenceEmpty", () => sequence([])),
  row("SequenceInsert", insert),
  row("SequenceErase", erase),
  row("SequenceAt", (n) => {
    const { items } = listOf(n, 0);
    return items[placeIn(n, 1, items.length, items.length - 1)]!;
  }),
  row("SequenceLength", (n) => number(listOf(n, 0).items.length, "int64")),
  row("SequenceMap", map),
  row("ConcatFromSequence", join),
  row("SplitToSequence", split),
  row("Optional", (n) => optional(n.has(0) ? n.value(0) : undefined)),
  row("OptionalHasElement", (n) =>
    number(Number(n.count > 0 && n.has(0) && isPresent(n.value(0))), "bool"),
  ),
  row("OptionalGetElement", element),
];
