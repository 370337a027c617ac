/**
 * Ops that read and write at places given by tensors. Negative indices count from the end. Places outside are clamped when read and
 * dropped when written, where ONNX asks for nothing.
 */
import {
  addDim,
  checkAxis,
  convert,
  type Dim,
  dimValue,
  gather,
  iota,
  isInteger,
  reshape,
  scatter,
  select,
  sliceAxis,
  squeeze,
  type Tensor,
  take,
  transpose,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { numbersOfDef } from "../element.ts";
import { type Row, row } from "../row.ts";

/** index, or index + extent where it is negative. */
export function fromEnd(index: Tensor, extent: Dim): Tensor {
  if (!isInteger(index.dtype) || index.dtype.startsWith("u")) return index;
  return select(index.less(0), index.add(dimValue(extent)), index);
}

/** The values of input `i`, if the file has them. */
const valuesOf = (n: NodeContext, i: number): readonly number[] | undefined => {
  const def = n.def(i);
  return def && numbersOfDef(def);
};

/** `fromEnd` of input `i`, left as it is where the file's values are not negative. */
const places = (n: NodeContext, i: number, extent: Dim): Tensor =>
  valuesOf(n, i)?.every((v) => v >= 0) ? n.tensor(i) : fromEnd(n.tensor(i), extent);

/** A single place that the file names is a slice. */
function gathered(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const axis = checkAxis("gather", n.int("axis", 0), x.rank);
  const values = valuesOf(n, 1);
  if (values?.length !== 1) return take(x, places(n, 1, x.shape[axis]!), axis);
  const at = values[0]! < 0 ? addDim(x.shape[axis]!, values[0]!) : values[0]!;
  const shape = n.def(1)!.dims;
  return reshape(sliceAxis(x, axis, at, addDim(at, 1)), [
    ...x.shape.slice(0, axis),
    ...shape,
    ...x.shape.slice(axis + 1),
  ]);
}

/** One index tensor an axis: `index` along `axis`, its own coordinates along the others. */
const alongAxis = (index: Tensor, axis: number): Tensor[] =>
  index.shape.map((_, i) => (i === axis ? index : iota(index.shape, i)));
const axesOf = (x: Tensor): number[] => x.shape.map((_, i) => i);

function gatherElements(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const axis = checkAxis("gatherElements", n.int("axis", 0), x.rank);
  const index = places(n, 1, x.shape[axis]!);
  return gather(x, alongAxis(convert(index, "i32"), axis), axesOf(x));
}

/** The tuples in the last axis of input `i` as one tensor an axis of x, from axis `from` on. */
function tuples(n: NodeContext, i: number, x: Tensor, from: number): Tensor[] {
  const all = n.tensor(i);
  const last = all.rank - 1;
  const count = all.shape[last]!;
  if (typeof count !== "number") return n.fail("the length of index tuples is symbolic");
  return Array.from({ length: count }, (_, k) => {
    const index = squeeze(sliceAxis(all, last, k, k + 1), [last]);
    return convert(fromEnd(index, x.shape[from + k]!), "i32");
  });
}

/** The first `batch_dims` axes of x and of the indices go together. */
function gatherND(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const batch = n.int("batch_dims", 0);
  const given = tuples(n, 1, x, batch);
  const shape = n.tensor(1).shape.slice(0, -1);
  const own = Array.from({ length: batch }, (_, i) => iota(shape, i));
  const all = [...own, ...given];
  return gather(
    x,
    all,
    all.map((_, i) => i),
  );
}

const modes = { none: "set", add: "add", mul: "mul", max: "max", min: "min" } as const;

function scattered(n: NodeContext, x: Tensor, updates: Tensor, index: readonly Tensor[]): Tensor {
  const reduction = n.string("reduction", "none");
  if (!(reduction in modes))
    return n.fail(`reduction ${reduction} is not none, add, mul, max or min`);
  return scatter(
    x,
    updates,
    index,
    index.map((_, i) => i),
    modes[reduction as keyof typeof modes],
  );
}

function scatterElements(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const axis = checkAxis("scatterElements", n.int("axis", 0), x.rank);
  const index = convert(places(n, 1, x.shape[axis]!), "i32");
  return scattered(n, x, n.tensor(2), alongAxis(index, axis));
}

function scatterND(n: NodeContext): Tensor {
  const x = n.tensor(0);
  return scattered(n, x, n.tensor(2), tuples(n, 1, x, 0));
}

/** `update` written into a cache along the sequence axis, from a place of its own in each batch. */
function tensorScatter(n: NodeContext): Tensor {
  const [x, update] = [n.tensor(0), n.tensor(1)];
  const axis = checkAxis("tensorScatter", n.int("axis", -2), x.rank);
  const shape = [update.shape[0]!, update.shape[axis]!];
  const t = iota(shape, 1);
  const moved = n.has(2) ? t.add(reshape(n.tensor(2), [shape[0]!, 1])) : t;
  const circular = n.string("mode", "linear") === "circular";
  const place = circular ? moved.rem(dimValue(x.shape[axis]!)) : moved;
  const rest = x.shape.flatMap((_, i) => (i === 0 || i === axis ? [] : [i]));
  const rows = transpose(update, [0, axis, ...rest]);
  return scatter(x, rows, [iota(shape, 0), place], [0, axis], "set");
}

export const gatherRows: readonly Row[] = [
  row("Gather", gathered),
  row("GatherElements", gatherElements),
  row("GatherND", gatherND),
  row("ScatterElements", scatterElements),
  row("Scatter", scatterElements),
  row("ScatterND", scatterND),
  row("TensorScatter", tensorScatter),
];
