/**
 * Ops that cut tensors apart, put them together, or surround them: Concat, Split, Slice, Pad, CenterCropPad. All are movement of
 * elements; bounds may be symbolic where their signs are known.
 */
import {
  addDim,
  ceilDiv,
  checkAxis,
  concat,
  type Dim,
  exactQuotient,
  floorDiv,
  isNonNegative,
  isStatic,
  maxDim,
  minDim,
  negDim,
  pad,
  printDim,
  reshape,
  reverse,
  slice,
  sliceAxis,
  split,
  subDim,
  type Tensor,
  take,
  tensor,
} from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { type Row, row } from "../row.ts";
import { scalar } from "./shape.ts";

/** The extents of the parts: an attribute before opset 13, an input since, or equal ones with the rest in the last. */
function partExtents(n: NodeContext, extent: Dim): readonly Dim[] {
  if (n.opset >= 13 && n.has(1)) return n.dims(1);
  if (n.hasAttribute("split")) return n.ints("split");
  const count = n.int("num_outputs", n.outputs);
  const each = exactQuotient(extent, count) ?? ceilDiv(extent, count);
  const before = Array.from({ length: count - 1 }, (_, i) =>
    isStatic(extent) && isStatic(each) ? Math.max(0, Math.min(each, extent - i * each)) : each,
  );
  return [...before, subDim(extent, before.reduce<Dim>(addDim, 0))];
}

function parts(n: NodeContext): Tensor[] {
  const x = n.tensor(0);
  const axis = checkAxis("split", n.int("axis", 0), x.rank);
  return split(x, partExtents(n, x.shape[axis]!), axis);
}

/** "To the end", as the file or 32 bits have it. */
const endless = 2 ** 31 - 1;

/** A bound that counts from the end where it is negative, brought into [0, extent]. */
function bound(n: NodeContext, at: Dim, extent: Dim): Dim {
  if (isStatic(at)) {
    if (at >= endless) return extent;
    if (at < -endless) return 0;
  }
  if (isNonNegative(at)) return minDim(at, extent);
  if (isNonNegative(subDim(negDim(at), 1))) return maxDim(addDim(at, extent), 0);
  return n.fail(`the sign of bound ${printDim(at)} is not known`);
}

/** Start, end, axes and steps: attributes before opset 10. */
function bounds(n: NodeContext) {
  if (n.opset < 10) {
    const axes = n.hasAttribute("axes") ? n.ints("axes") : undefined;
    return { starts: n.ints("starts"), ends: n.ints("ends"), axes, steps: undefined };
  }
  const axes = n.has(3) ? n.numbers(3) : undefined;
  const steps = n.has(4) ? n.numbers(4) : undefined;
  return { starts: n.dims(1), ends: n.dims(2), axes, steps };
}

/** With a negative step the axis is turned around first; bound b is −1 − b there. */
function sliced(n: NodeContext): Tensor {
  let x = n.tensor(0);
  const { starts, ends, axes, steps } = bounds(n);
  const low: Dim[] = x.shape.map(() => 0);
  const high: Dim[] = [...x.shape];
  const stride = x.shape.map(() => 1);
  for (const [k, start] of starts.entries()) {
    const axis = checkAxis("slice", axes?.[k] ?? k, x.rank);
    const step = steps?.[k] ?? 1;
    if (step === 0) n.fail("a step is 0");
    const from = (at: Dim) => (step < 0 ? subDim(-1, at) : at);
    if (step < 0) x = reverse(x, axis);
    const first = bound(n, from(start), x.shape[axis]!);
    // Backwards, a start before the front is the front.
    low[axis] = step < 0 ? maxDim(minDim(first, subDim(x.shape[axis]!, 1)), 0) : first;
    high[axis] = maxDim(bound(n, from(ends[k]!), x.shape[axis]!), low[axis]);
    stride[axis] = Math.abs(step);
  }
  return slice(x, low, high, stride);
}

/** Amounts before and after each axis. */
function paddingOf(n: NodeContext, x: Tensor): [low: Dim[], high: Dim[]] {
  const amounts = n.opset < 11 ? n.ints(n.hasAttribute("pads") ? "pads" : "paddings") : n.dims(1);
  const axes = n.has(3) ? n.numbers(3) : x.shape.map((_, i) => i);
  const [low, high]: [Dim[], Dim[]] = [x.shape.map(() => 0), x.shape.map(() => 0)];
  if (amounts.length !== 2 * axes.length)
    n.fail(`${amounts.length} amounts of padding for ${axes.length} axes`);
  for (const [k, a] of axes.entries()) {
    const axis = checkAxis("pad", a, x.rank);
    low[axis] = amounts[k]!;
    high[axis] = amounts[k + axes.length]!;
  }
  return [low, high];
}

type Mode = "reflect" | "edge" | "wrap";

/** Where the element at place i, which may be outside 0 … extent − 1, comes from. */
const sources: Record<Mode, (i: number, extent: number) => number> = {
  edge: (i, extent) => Math.max(0, Math.min(extent - 1, i)),
  wrap: (i, extent) => ((i % extent) + extent) % extent,
  reflect(i, extent) {
    const period = Math.max(1, 2 * (extent - 1));
    const at = ((i % period) + period) % period;
    return at < extent ? at : period - at;
  },
};

/** One axis padded with its own elements: pieces of it beside it, or, where they repeat, each element by its place. */
function extendAxis(x: Tensor, axis: number, low: Dim, high: Dim, mode: Mode): Tensor {
  const extent = x.shape[axis]!;
  const reach = mode === "reflect" ? subDim(extent, 1) : extent;
  const far = [low, high].some((d) => isStatic(d) && isStatic(reach) && d > reach);
  if (mode !== "edge" && far) {
    const count = addDim(addDim(extent, low), high) as number;
    const from = Array.from({ length: count }, (_, i) =>
      sources[mode](i - (low as number), extent as number),
    );
    return take(x, tensor(from, { dtype: "i32" }), axis);
  }
  const part = (start: Dim, end: Dim) => sliceAxis(x, axis, start, end);
  const repeated = (t: Tensor, count: Dim) => {
    const shape = t.shape.map((d, i) => (i === axis ? count : d));
    return t.broadcastTo(shape);
  };
  const last = subDim(extent, 1);
  const before = {
    edge: () => repeated(part(0, 1), low),
    wrap: () => part(subDim(extent, low), extent),
    reflect: () => reverse(part(1, addDim(low, 1)), axis),
  };
  const after = {
    edge: () => repeated(part(last, extent), high),
    wrap: () => part(0, high),
    reflect: () => reverse(part(subDim(last, high), last), axis),
  };
  return concat(
    [...(low === 0 ? [] : [before[mode]()]), x, ...(high === 0 ? [] : [after[mode]()])],
    axis,
  );
}

/** Negative amounts crop, in every mode. */
function padded(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const [low, high] = paddingOf(n, x);
  const mode = n.string("mode", "constant");
  if (mode === "constant") {
    if (n.opset < 11) return pad(x, n.float("value", 0), low, high);
    return pad(x, n.has(2) ? scalar(n, 2) : 0, low, high);
  }
  if (!(mode in sources)) return n.fail(`mode ${mode} is not constant, reflect, edge or wrap`);
  const negative = (d: Dim): Dim => (isStatic(d) ? Math.min(d, 0) : 0);
  let y = pad(x, 0, low.map(negative), high.map(negative));
  for (const axis of low.keys()) {
    const [l, h] = [low[axis]!, high[axis]!].map((d) => subDim(d, negative(d))) as [Dim, Dim];
    if (l !== 0 || h !== 0) y = extendAxis(y, axis, l, h, mode as Mode);
  }
  return y;
}

/** Half of what is missing goes before, the odd one after; half of what is too much is taken off the front. */
function centered(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const wanted = n.dims(1);
  const axes = n.hasAttribute("axes") ? n.ints("axes") : x.shape.map((_, i) => i);
  const low: Dim[] = x.shape.map(() => 0);
  const high: Dim[] = x.shape.map(() => 0);
  for (const [k, a] of axes.entries()) {
    const axis = checkAxis("centerCropPad", a, x.rank);
    const missing = subDim(wanted[k]!, x.shape[axis]!);
    const added = maxDim(floorDiv(missing, 2), 0);
    const taken = maxDim(floorDiv(negDim(missing), 2), 0);
    low[axis] = subDim(added, taken);
    high[axis] = subDim(missing, low[axis]);
  }
  return pad(x, 0, low, high);
}

/** Concatenation of one tensor is that tensor; scalars are not joined. */
function joined(n: NodeContext): Tensor {
  const xs = n.tensors();
  const axis = n.int("axis", 1);
  return xs.length === 1 ? reshape(xs[0]!, xs[0]!.shape) : concat(xs, axis);
}

export const partRows: readonly Row[] = [
  row("Concat", joined),
  row("Split", parts),
  row("Slice", sliced),
  row("Pad", padded),
  row("CenterCropPad", centered),
];
