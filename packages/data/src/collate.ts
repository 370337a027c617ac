/**
 * Samples into a batch: stacked where they are alike, padded where they differ in length, packed
 * where they are graphs. Arrays that come out know their shapes, so that a compiled function is
 * given them as they are.
 */

import {
  checkList,
  checkOptions,
  checkRecord,
  GraphError,
  kindOf,
  type OptionNames,
  printShape,
  ShapeError,
} from "@kiln-ml/ir";
import { batchShapeOf, setBatchShape } from "./batch-shape.ts";
import { checkValues } from "./check.ts";
import type { NumericArray } from "./dataset.ts";
import { arrayLike } from "./items.ts";

/** A field of a sample: a number, numbers in a row, or numbers with a shape. */
export type Field =
  | number
  | NumericArray
  | { readonly data: NumericArray; readonly shape: readonly number[] };

/**
 * What becomes of a field in a batch. Plain numbers become f32; give labels as
 * `Int32Array.of(label)`.
 */
export type Stacked<F> = F extends number
  ? Float32Array
  : F extends { readonly data: infer A }
    ? A
    : F;

/** What becomes of a sample: a list or a record of fields, or one field. */
export type Batch<S> = S extends Field
  ? Stacked<S>
  : { readonly [K in keyof S]: S[K] extends Field ? Stacked<S[K]> : never };

export type Collate<S, B> = (samples: readonly S[]) => B | Promise<B>;

interface Part {
  readonly data: NumericArray;
  readonly shape: readonly number[];
}

const isField = (x: unknown): x is Field =>
  typeof x === "number" ||
  (ArrayBuffer.isView(x) && !(x instanceof DataView)) ||
  (typeof x === "object" && x !== null && "data" in x && "shape" in x);

function partOf(op: string, value: unknown, place: string): Part {
  if (typeof value === "number") return { data: Float32Array.of(value), shape: [] };
  if (!isField(value))
    throw new GraphError(
      `${op}: ${place} is ${kindOf(value)}, not a number or a typed array\n  map it to one, or give the loader a collate of your own`,
    );
  if (!ArrayBuffer.isView(value)) return value as Part;
  const data = value as NumericArray;
  // A sample that a data set gathered is a batch of one.
  const known = batchShapeOf(data);
  return { data, shape: known?.[0] === 1 ? known.slice(1) : [data.length] };
}

/** `join` applied to each field of the samples, which must all have the same fields. */
function fieldwise<S>(
  op: string,
  samples: readonly S[],
  join: (values: readonly Part[], field: string) => NumericArray,
): Batch<S> {
  checkList(op, "samples", samples);
  const [first] = samples;
  if (first === undefined) throw new GraphError(`${op}: no samples`);
  const column = (pick: (s: S) => unknown, label: string) =>
    join(
      samples.map((s, i) => partOf(op, pick(s), `${label}sample ${i} of the batch`)),
      label,
    );
  if (isField(first)) return column((s) => s, "") as Batch<S>;
  if (typeof first !== "object" || first === null)
    throw new GraphError(
      `${op}: a sample must be a number, an array, or a list or record of them, got ${kindOf(first)}\n  map it to one, or give the loader a collate of your own`,
    );
  const fields = Object.keys(first).map((key) => {
    const label = `field ${key} of `;
    return [key, column((s) => (s as Record<string, unknown>)[key], label)] as const;
  });
  return (Array.isArray(first) ? fields.map(([, x]) => x) : Object.fromEntries(fields)) as Batch<S>;
}

/**
 * Samples of one shape, one after the other: fields of shape s become [n, ...s]. Throws ShapeError
 * where a shape differs. `torch.utils.data.default_collate`.
 *
 * @param samples Samples of one form.
 * @example
 *   const [x, y] = stack([[Float32Array.of(1, 2), 0], [Float32Array.of(3, 4), 1]]);
 *   x // [1, 2, 3, 4]
 *   batchShapeOf(x) // [2, 2]
 */
export const stack = <S>(samples: readonly S[]): Batch<S> =>
  fieldwise("stack", samples, (parts, field) => {
    const { data, shape } = parts[0]!;
    const out = arrayLike(data, parts.length * data.length);
    for (const [i, part] of parts.entries()) {
      if (printShape(part.shape) !== printShape(shape))
        throw new ShapeError(
          `stack: ${field}sample ${i} of the batch is ${printShape(part.shape)}, the first is ${printShape(shape)}\n  collate with pad, or bring the samples to one shape`,
        );
      out.set(part.data, i * data.length);
    }
    setBatchShape(out, [parts.length, ...shape]);
    return out;
  });

export interface PadOptions {
  /** What is put behind a sample that is shorter, default 0. */
  readonly value?: number;
  /**
   * Rounds the common length up to a multiple of this, so that a program sees fewer lengths; 1 by
   * default.
   */
  readonly multiple?: number;
}

const padOptions: OptionNames<PadOptions> = { value: 1, multiple: 1 };

/**
 * A collate that pads each field to the longest of the batch along every axis: fields of shapes
 * [tᵢ, …] become [n, max t, …]. Rows that are as long already are copied only.
 * `torch.nn.utils.rnn.pad_sequence`.
 *
 * @example
 *   const collate = pad({ value: -1 });
 *   const batch = collate([Float32Array.of(1), Float32Array.of(2, 3)]);
 *   batch // [1, −1, 2, 3]
 */
export function pad(options: PadOptions = {}): <S>(samples: readonly S[]) => Batch<S> {
  const { value = 0, multiple = 1 } = checkOptions("pad", options, padOptions);
  if (!Number.isInteger(multiple) || multiple < 1)
    throw new GraphError(`pad: multiple must be an integer of 1 or more, got ${multiple}`);
  return (samples) =>
    fieldwise("pad", samples, (parts, field) => {
      const shape = longest(parts, field);
      if (shape.length) shape[0] = Math.ceil(shape[0]! / multiple) * multiple;
      const size = shape.reduce((a, b) => a * b, 1);
      const out = arrayLike(parts[0]!.data, parts.length * size);
      if (value !== 0) out.fill(value);
      for (const [i, part] of parts.entries()) place(part, out.subarray(i * size), shape);
      setBatchShape(out, [parts.length, ...shape]);
      return out;
    });
}

function longest(parts: readonly Part[], field: string): number[] {
  const shape = [...parts[0]!.shape];
  for (const [i, part] of parts.entries()) {
    if (part.shape.length !== shape.length)
      throw new ShapeError(
        `pad: ${field}sample ${i} of the batch is ${printShape(part.shape)}, the first has ${shape.length} axes`,
      );
    for (const [a, n] of part.shape.entries()) shape[a] = Math.max(shape[a]!, n);
  }
  return shape;
}

/** Copies an array into the corner of a larger one of `shape`, a row of the last axis at a time. */
function place({ data, shape: own }: Part, out: NumericArray, shape: readonly number[]): void {
  const width = own.at(-1) ?? 1;
  const rows = width === 0 ? 0 : data.length / width;
  for (let row = 0; row < rows; row++) {
    let rest = row;
    let at = 0;
    let stride = shape.at(-1) ?? 1;
    for (let a = own.length - 2; a >= 0; a--) {
      at += (rest % own[a]!) * stride;
      rest = Math.floor(rest / own[a]!);
      stride *= shape[a]!;
    }
    out.set(data.subarray(row * width, (row + 1) * width), at);
  }
}

/** A graph: features of its nodes [n, f], its edges from node to node, and a target of its own. */
export interface Graph {
  /** f32[n, f], row by row. */
  readonly nodes: Float32Array;
  /** Nodes of the graph, n. */
  readonly count: number;
  /** Where each edge starts and ends: indices below `count`, two lists of one length. */
  readonly from: ArrayLike<number>;
  readonly to: ArrayLike<number>;
  readonly target?: number;
}

/** Several graphs as one whose parts are not connected. */
export interface PackedGraphs {
  /** f32[Σn, f]. */
  readonly nodes: Float32Array;
  /** i32[Σe], indices into all nodes. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** i32[Σn]: the graph of each node, for pooling by `scatter`. */
  readonly graph: Int32Array;
  /** f32[graphs], NaN where a graph has none. */
  readonly target: Float32Array;
}

/**
 * Graphs side by side: the block-diagonal adjacency of the batch. Throws ShapeError where an edge
 * leads out of its graph. `torch_geometric.data.Batch.from_data_list`.
 *
 * @param graphs Nodes and edges of each.
 * @example
 *   const one = { nodes: Float32Array.of(1, 2), count: 2, from: [0], to: [1] };
 *   const { from, to, graph } = packGraphs([one, one]);
 *   from // [0, 2]
 *   to // [1, 3]
 *   graph // [0, 0, 1, 1]
 */
export function packGraphs(graphs: readonly Graph[]): PackedGraphs {
  checkList("packGraphs", "graphs", graphs);
  for (const [i, g] of graphs.entries()) checkParts(g, i);
  const total = graphs.reduce((n, g) => n + g.count, 0);
  const edges = graphs.reduce((n, g) => n + g.from.length, 0);
  const filled = graphs.find((g) => g.count > 0);
  const width = filled ? filled.nodes.length / filled.count : 0;
  const packed: PackedGraphs = {
    nodes: new Float32Array(total * width),
    from: new Int32Array(edges),
    to: new Int32Array(edges),
    graph: new Int32Array(total),
    target: Float32Array.from(graphs, (g) => g.target ?? Number.NaN),
  };
  let node = 0;
  let edge = 0;
  for (const [i, g] of graphs.entries()) {
    checkGraph(g, i, width);
    packed.nodes.set(g.nodes, node * width);
    packed.graph.fill(i, node, node + g.count);
    for (let e = 0; e < g.from.length; e++) {
      packed.from[edge + e] = g.from[e]! + node;
      packed.to[edge + e] = g.to[e]! + node;
    }
    node += g.count;
    edge += g.from.length;
  }
  setBatchShape(packed.nodes, [total, width]);
  return packed;
}

function checkParts(g: Graph, i: number): void {
  checkRecord("packGraphs", g, `graph ${i}`);
  for (const key of ["nodes", "from", "to"] as const)
    checkValues("packGraphs", `${key} of graph ${i}`, g[key]);
  if (!Number.isSafeInteger(g.count) || g.count < 0)
    throw new ShapeError(
      `packGraphs: count of graph ${i} must be a whole number of 0 or more, got ${kindOf(g.count)}\n  it is how many nodes the graph has`,
    );
}

function checkGraph(g: Graph, i: number, width: number): void {
  if (g.nodes.length !== g.count * width)
    throw new ShapeError(
      `packGraphs: graph ${i} has ${g.nodes.length} numbers for ${g.count} nodes, the first has ${width} a node`,
    );
  if (g.from.length !== g.to.length)
    throw new ShapeError(
      `packGraphs: graph ${i} has ${g.from.length} starts of edges and ${g.to.length} ends`,
    );
  for (const ends of [g.from, g.to])
    for (let e = 0; e < ends.length; e++)
      if (!(Number.isInteger(ends[e]) && ends[e]! >= 0 && ends[e]! < g.count))
        throw new ShapeError(
          `packGraphs: graph ${i}: edge ${e} is at node ${ends[e]}, the graph has ${g.count}`,
        );
}
