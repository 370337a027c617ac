/**
 * Gather and scatter. Indices are one i32 tensor with a last axis of one entry for each indexed axis. Where "set" may meet a
 * place twice, StableHLO leaves open who wins, so the last update of each place is found first and the others are sent out of
 * range, where updates are dropped.
 */
import { maxOf, type Tensor } from "@kiln-ml/ir";
import type { Builder, Ref } from "../builder.ts";
import { listOf, others, type Row, type Rows, range, type Site } from "../row.ts";
import { ints, numbers } from "../text.ts";

/** An index as i32. A u32 beyond it stays beyond every extent. */
function indexOf(b: Builder, index: Ref): Ref {
  if (index.dtype !== "u32") return b.convert(index, "i32");
  return b.bitcast(b.map("minimum", index, b.like(index, maxOf("i32"))), "i32");
}

/** S… → [S…, k]. */
function joined(b: Builder, indices: readonly Ref[]): Ref {
  const parts = indices.map((i) => b.reshape(indexOf(b, i), [...i.shape, 1]));
  return b.concat(parts, parts[0]!.shape.length - 1);
}

const ascending = (axes: readonly number[]): number[] => [...axes].sort((x, y) => x - y);

/** x at the places of `joined`: [S…, rest…]. */
function gathered(b: Builder, x: Ref, at: Ref, axes: readonly number[]): Ref {
  const lead = at.shape.length - 1;
  const rest = others(x.shape.length, axes);
  const shape = [...at.shape.slice(0, lead), ...rest.map((a) => x.shape[a]!)];
  const attributes = {
    dimension_numbers: numbers("gather", {
      offset_dims: range(rest.length).map((i) => lead + i),
      collapsed_slice_dims: ascending(axes),
      start_index_map: axes,
      index_vector_dim: lead,
    }),
    slice_sizes: ints(x.shape.map((n, a) => (axes.includes(a) ? 1 : n))),
    indices_are_sorted: "false",
  };
  return b.op("gather", [x, at], { ...x, shape }, attributes);
}

const gather: Row = ({ b, node, type }, x, ...indices) => {
  const axes = listOf(node.attrs.axes);
  // There is no element to clamp to, or none is asked for.
  const none = axes.some((a) => x!.shape[a] === 0) || type.shape.includes(0);
  return none ? b.like(type, 0) : gathered(b, x!, joined(b, indices), axes);
};

const combine: Readonly<Record<string, string>> = {
  add: "add",
  mul: "multiply",
  max: "maximum",
  min: "minimum",
};

function scattered(
  b: Builder,
  x: Ref,
  at: Ref,
  updates: Ref,
  axes: readonly number[],
  mode: string,
  unique: boolean,
): Ref {
  const lead = at.shape.length - 1;
  const rest = others(x.shape.length, axes);
  const scalar = { dtype: x.dtype, shape: [] };
  const attributes = {
    scatter_dimension_numbers: numbers("scatter", {
      update_window_dims: range(rest.length).map((i) => lead + i),
      inserted_window_dims: ascending(axes),
      scatter_dims_to_operand_dims: axes,
      index_vector_dim: lead,
    }),
    indices_are_sorted: "false",
    unique_indices: String(unique),
  };
  const region = b.region([scalar, scalar], (f, [old, update]) => [
    mode === "set" ? update! : f.map(combine[mode]!, old!, update!),
  ]);
  return b.op("scatter", [x, at, updates], x, attributes, [region]);
}

/** Whether no two updates can meet: each axis of more than one update is counted by an index. */
function areDistinct(site: Site, indices: readonly Tensor[]): boolean {
  const shape = site.typeOf(indices[0]!).shape;
  const counted = new Set(indices.flatMap((t) => (t.op === "iota" ? [Number(t.attrs.axis)] : [])));
  return shape.every((n, axis) => n <= 1 || counted.has(axis));
}

/** The places of updates, those that another overwrites moved out of range. */
function lastOnes(b: Builder, x: Ref, at: Ref, axes: readonly number[]): Ref {
  const shape = at.shape.slice(0, -1);
  const size = shape.reduce((n, e) => n * e, 1);
  const number = b.reshape(b.iota("i32", [size], 0), shape);
  const extents = axes.map((a) => x.shape[a]!);
  const places = range(axes.length);
  const none = b.constant("i32", -1, extents);
  const last = scattered(b, none, at, number, places, "max", false);
  const kept = b.compare("EQ", gathered(b, last, at, places), number);
  const flag = b.broadcast(kept, at.shape, range(shape.length));
  return b.select(flag, at, b.like(at, maxOf("i32")));
}

const scatter: Row = (site, x, updates, ...indices) => {
  const { b, node } = site;
  const [axes, mode] = [listOf(node.attrs.axes), node.attrs.mode as string];
  if (x!.shape.includes(0) || updates!.shape.includes(0)) return x!;
  const at = joined(b, indices);
  const unique = areDistinct(site, node.operands.slice(2));
  const final = mode === "set" && !unique ? lastOnes(b, x!, at, axes) : at;
  return scattered(b, x!, final, updates!, axes, mode, unique);
};

export const indexing: Rows = { gather, scatter };
