/**
 * How each op is done for a whole batch at once, by family: the same op with the batch as a leading axis of the operands that have one.
 * Products and indexing are in files of their own. An op that none of them knows is done for one place of the batch after the other.
 */
import type { Dim } from "../dim.ts";
import type { Tensor } from "../node.ts";
import { opRecord } from "../op.ts";
import { apply, dimsOf, filled, numbersOf } from "../ops/apply.ts";
import { scan } from "../ops/scan.ts";
import { batchedGather, batchedScatter } from "./batch-indexing.ts";
import { batchedConvolution, batchedDot } from "./batch-products.ts";
import { behind, type Lane, overBatch, spread } from "./lanes.ts";

type Rule = (node: Tensor, lanes: readonly Lane[], size: Dim) => Tensor;

/** The node for a batch, of whose operands one at least has lanes. */
export function overLanes(node: Tensor, lanes: readonly Lane[], size: Dim): Tensor {
  const rule = byName[node.op] ?? byFamily[opRecord(node.op).family] ?? oneByOne;
  return rule(node, lanes, size);
}

const all = (lanes: readonly Lane[], size: Dim): Tensor[] => lanes.map((l) => spread(l, size));

const elementwise: Rule = (node, lanes, size) => overBatch(node, all(lanes, size), size);

/** Attributes that count axes, one further on. */
const axesBehind: Rule = (node, lanes, size) =>
  overBatch(node, all(lanes, size), size, {
    ...node.attrs,
    ...(node.attrs.axes === undefined ? {} : { axes: behind(numbersOf(node.attrs.axes)) }),
    ...(node.attrs.axis === undefined ? {} : { axis: (node.attrs.axis as number) + 1 }),
  });

const transpose: Rule = (node, lanes, size) =>
  overBatch(node, all(lanes, size), size, { perm: [0, ...behind(numbersOf(node.attrs.perm))] });

const broadcastInDim: Rule = (node, lanes, size) =>
  overBatch(node, all(lanes, size), size, { dims: [0, ...behind(numbersOf(node.attrs.dims))] });

const slice: Rule = (node, lanes, size) =>
  overBatch(node, all(lanes, size), size, {
    start: [0, ...dimsOf(node.attrs.start)],
    limit: [size, ...dimsOf(node.attrs.limit)],
    stride: [1, ...numbersOf(node.attrs.stride)],
  });

/** A value that differs over the batch is chosen where a padded mask says so. */
const pad: Rule = (node, [x, value], size) => {
  const attrs = {
    low: [0, ...dimsOf(node.attrs.low)],
    high: [0, ...dimsOf(node.attrs.high)],
    interior: [0, ...numbersOf(node.attrs.interior)],
  };
  const inner = spread(x!, size);
  if (!value!.batched) return overBatch(node, [inner, value!.tensor], size, attrs);
  const { dtype } = node;
  const padded = overBatch(node, [inner, filled(0, dtype, [])], size, attrs);
  const outside = [filled(0, "bool", inner.shape), filled(1, "bool", [])];
  const mask = apply("pad", outside, attrs);
  const type = { dtype, shape: padded.shape };
  const around = apply("broadcastInDim", [value!.tensor], { dims: [0] }, type);
  return apply("select", [mask, around, padded]);
};

/** For one place of the batch after the other. */
const oneByOne: Rule = (node, lanes, size) => {
  const batched = lanes.filter((l) => l.batched).map((l) => l.tensor);
  const { ys } = scan(
    [],
    batched,
    (_carry, slices) => {
      let next = 0;
      const operands = lanes.map((l) => (l.batched ? slices[next++]! : l.tensor));
      const { dtype, shape, attrs, op } = node;
      return { carry: [], ys: [apply(op, operands, attrs, { dtype, shape })] };
    },
    { length: size },
  );
  return ys[0]!;
};

const convolution: Rule = (node, lanes, size) =>
  batchedConvolution(node, lanes, size) ?? oneByOne(node, lanes, size);

const byFamily: Readonly<Record<string, Rule>> = {
  elementwise,
  reduce: axesBehind,
  scan: axesBehind,
  sort: axesBehind,
};

const byName: Readonly<Record<string, Rule>> = {
  reshape: elementwise,
  windows: elementwise,
  fold: elementwise,
  reverse: axesBehind,
  concat: axesBehind,
  transpose,
  broadcastInDim,
  slice,
  pad,
  dotGeneral: batchedDot,
  convolution,
  gather: batchedGather,
  scatter: batchedScatter,
};
