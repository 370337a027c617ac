/** Ops that give the same elements another shape or place. */

import type { Dim, Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import type { NodeContext, Row } from "@kiln-ml/onnx";
import { axesOf, axisOf, dtypeAt, extents, isFirst, pairsOf, range } from "./operand.ts";
import { alike, int, standard, text, tf } from "./row.ts";

/** −1 is what the others leave; here 0 is an extent. */
const reshaped = (n: NodeContext): Tensor =>
  standard(n, "Reshape", [n.value(0), n.value(1)], { allowzero: int(1) })[0]!;

/** Extents that are declared are checked where both are numbers. */
function ensured(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const wanted = n.hasAttribute("shape") ? n.ints("shape", []) : [];
  const differs = (d: number, i: number) => d >= 0 && ir.isStatic(x.shape[i]!) && x.shape[i] !== d;
  if (wanted.length && (wanted.length !== x.rank || wanted.some(differs)))
    n.fail(`x is ${ir.printShape(x.shape)}, not [${wanted}]`);
  return x;
}

function squeezed(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const name = n.hasAttribute("squeeze_dims") ? "squeeze_dims" : "axis";
  const axes = n.ints(name, []);
  if (axes.length) return ir.squeeze(x, axes);
  if (!x.shape.every(ir.isStatic))
    n.fail(`no axes are given, and the shape ${ir.printShape(x.shape)} has symbols`);
  return ir.squeeze(x);
}

function expanded(n: NodeContext): Tensor {
  const x = n.tensor(0);
  return ir.expandDims(x, axisOf(n, n.number(1), x.rank + 1));
}

function transposed(n: NodeContext): Tensor {
  const x = n.tensor(0);
  return ir.transpose(
    x,
    n.numbers(1).map((a) => axisOf(n, a, x.rank)),
  );
}

/** Operands without elements along the axis may have another rank. */
function joined(n: NodeContext, axisAt: number, from: number): Tensor {
  const list = range(n.count - 1).map((i) => n.tensor(from + i));
  const axis = axisOf(n, n.number(axisAt), list[0]!.rank);
  const filled = list.filter((x) => ir.sizeOf(x.shape) !== 0);
  const all = filled.length ? filled : list.slice(0, 1);
  return all.length === 1 ? all[0]! : ir.concat(all, axis);
}

function stacked(n: NodeContext): Tensor {
  const list = n.tensors();
  return ir.stack(list, axisOf(n, n.int("axis", 0), list[0]!.rank + 1));
}

function unstacked(n: NodeContext): Tensor[] {
  const x = n.tensor(0);
  const axis = axisOf(n, n.int("axis", 0), x.rank);
  const extent = x.shape[axis]!;
  const count = ir.isStatic(extent) ? extent : n.int("num");
  return range(count).map((i) => ir.take(x, i, axis));
}

function split(n: NodeContext): Tensor[] {
  const x = n.tensor(1);
  const axis = axisOf(n, n.number(0), x.rank);
  const count = n.int("num_split", 1);
  if (!(count >= 1 && count <= 1 << 16)) n.fail(`num_split is ${count}`);
  const extent = x.shape[axis]!;
  const each =
    ir.exactQuotient(extent, count) ??
    n.fail(`${count} parts do not divide ${ir.printDim(extent)} of ${ir.printShape(x.shape)}`);
  return ir.split(
    x,
    range(count).map(() => each),
    axis,
  );
}

/** One size may be −1: what the others leave. */
function splitBySizes(n: NodeContext): Tensor[] {
  const x = n.tensor(0);
  const axis = axisOf(n, n.number(2), x.rank);
  const sizes = n.dims(1);
  const taken = sizes.filter((d) => d !== -1).reduce<Dim>(ir.addDim, 0);
  const rest = ir.subDim(x.shape[axis]!, taken);
  return ir.split(
    x,
    sizes.map((d) => (d === -1 ? rest : d)),
    axis,
  );
}

function padded(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const pairs = pairsOf(n, 1);
  const fill = n.has(2) ? n.number(2) : n.float("constant_value", 0);
  const value = x.dtype === "bool" ? ir.constant(fill !== 0, "bool") : fill;
  return ir.pad(
    x,
    value,
    pairs.map((p) => p[0]),
    pairs.map((p) => p[1]),
  );
}

/** The elements beside an edge, in reverse: without the edge itself for REFLECT. */
function mirrored(n: NodeContext): Tensor {
  const edge = n.string("mode") === "REFLECT" ? 1 : 0;
  return pairsOf(n, 1).reduce((t, [low, high], axis) => {
    const extent = t.shape[axis]!;
    const part = (from: Dim, to: Dim) => ir.reverse(ir.sliceAxis(t, axis, from, to), axis);
    const before = low === 0 ? [] : [part(edge, ir.addDim(low, edge))];
    const from = ir.subDim(ir.subDim(extent, high), edge);
    const after = high === 0 ? [] : [part(from, ir.subDim(extent, edge))];
    return before.length + after.length ? ir.concat([...before, t, ...after], axis) : t;
  }, n.tensor(0));
}

/** [B·Πb, …] → [B, …·b]: blocks out of the batch into the image, then the crops. */
function batchToSpace(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const block = n.numbers(1);
  const crops = pairsOf(n, 2);
  const m = block.length;
  const all = block.reduce((a, b) => a * b, 1);
  const batch =
    ir.exactQuotient(x.shape[0]!, all) ?? n.fail(`blocks [${block}] do not divide the batch`);
  const inner = ir.reshape(x, [...block, batch, ...x.shape.slice(1)]);
  const order = [
    m,
    ...range(m).flatMap((i) => [m + 1 + i, i]),
    ...range(x.rank - 1 - m).map((i) => 2 * m + 1 + i),
  ];
  const wide = ir.reshape(ir.transpose(inner, order), [
    batch,
    ...block.map((b, i) => ir.mulDim(x.shape[1 + i]!, b)),
    ...x.shape.slice(1 + m),
  ]);
  const low = wide.shape.map((_, i) => crops[i - 1]?.[0] ?? 0);
  return ir.slice(
    wide,
    low,
    wide.shape.map((d, i) => ir.subDim(d, crops[i - 1]?.[1] ?? 0)),
  );
}

function spaceToBatch(n: NodeContext): Tensor {
  const block = n.numbers(1);
  const pads = pairsOf(n, 2);
  const given = n.tensor(0);
  const m = block.length;
  const x = ir.pad(
    given,
    0,
    given.shape.map((_, i) => pads[i - 1]?.[0] ?? 0),
    given.shape.map((_, i) => pads[i - 1]?.[1] ?? 0),
  );
  const parts = block.map(
    (b, i) =>
      ir.exactQuotient(x.shape[1 + i]!, b) ??
      n.fail(`blocks of ${b} do not divide ${ir.printDim(x.shape[1 + i]!)}`),
  );
  const rest = x.shape.slice(1 + m);
  const inner = ir.reshape(x, [x.shape[0]!, ...parts.flatMap((d, i) => [d, block[i]!]), ...rest]);
  const order = [
    ...range(m).map((i) => 2 + 2 * i),
    0,
    ...range(m).map((i) => 1 + 2 * i),
    ...rest.map((_, i) => 2 * m + 1 + i),
  ];
  const batch = block.reduce<Dim>(ir.mulDim, x.shape[0]!);
  return ir.reshape(ir.transpose(inner, order), [batch, ...parts, ...rest]);
}

/** The depth is b·b·c in TensorFlow, DCR in ONNX, which has channels first. */
const blocks =
  (op: string) =>
  (n: NodeContext): Tensor => {
    const last = !isFirst(n);
    const x = last
      ? n.apply("Transpose", [n.value(0)], { perm: { kind: "ints", value: [0, 3, 1, 2] } })[0]!
      : n.value(0);
    const how = { blocksize: int(n.int("block_size")), mode: text("DCR") };
    const [y] = standard(n, op, [x], how);
    return last ? ir.transpose(y!, [0, 2, 3, 1]) : y!;
  };

function reversed(n: NodeContext): Tensor {
  const x = n.tensor(0);
  // The first version of the op has a flag for each axis.
  const flags =
    n.node.op === "Reverse" ? n.numbers(1).flatMap((f, i) => (f ? [i] : [])) : undefined;
  const axes = flags ?? axesOf(n, 1, x.rank);
  return axes.length ? ir.reverse(x, axes) : x;
}

function reversedSequence(n: NodeContext): Tensor {
  const attributes = { batch_axis: int(n.int("batch_dim", 0)), time_axis: int(n.int("seq_dim")) };
  return standard(n, "ReverseSequence", [n.value(0), n.value(1)], attributes)[0]!;
}

/** Towards zero, as integers are stored. */
const cast = (n: NodeContext): Tensor => {
  const to = dtypeAt(n, "DstT");
  const x = n.tensor(0);
  return x.dtype === to ? x : x.convert(to);
};

/** Elements from `lower` diagonals below the main one to `upper` above it; all where negative. */
function band(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const [lower, upper] = [n.number(1), n.number(2)];
  const below = lower < 0 ? x : ir.triu(x, -lower);
  return upper < 0 ? below : ir.tril(below, upper);
}

/** The main diagonal of each matrix as that of a new one. */
const diagonalOf = (n: NodeContext): Tensor => ir.diagonal(n.tensor(0), 0);

/** x[S…, S…] → [S…], whose two places are one. */
function diagonalPart(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const half = x.shape.slice(0, x.rank / 2);
  const twice =
    half.length * 2 === x.rank && half.every((d, i) => ir.sameDim(d, x.shape[half.length + i]!));
  if (!twice) n.fail(`x is ${ir.printShape(x.shape)}, not twice the same extents`);
  const size = ir.sizeOf(half);
  return ir.reshape(ir.diagonal(ir.reshape(x, [size, size]), 0), half);
}

/** x[S…] → [S…, S…], which is x where both places are one, and 0 elsewhere. */
function onDiagonal(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const flat = ir.reshape(x, [ir.sizeOf(x.shape)]);
  return ir.reshape(matrixOf(flat), [...x.shape, ...x.shape]);
}

/** [..., n] → [..., n, n], with x along the diagonals. */
function matrixOf(x: Tensor): Tensor {
  const n = x.shape[x.rank - 1]!;
  const on = ir.iota([n, n], 0).equal(ir.iota([n, n], 1));
  const wide = ir.expandDims(x, -1);
  const shape = [...x.shape, n];
  return ir.select(
    ir.broadcastTo(on, shape),
    ir.broadcastTo(wide, shape),
    x.dtype === "bool" ? ir.constant(false, "bool") : 0,
  );
}

export const movementRows: readonly Row[] = [
  tf("Reshape", "", reshaped),
  tf("EnsureShape", "", ensured),
  tf("Squeeze", "squeeze_dims axis", squeezed),
  tf("ExpandDims", "", expanded),
  tf("Transpose", "", transposed),
  ...alike("ConjugateTranspose", "", transposed),
  tf("ConcatV2", "", (n) => joined(n, n.count - 1, 0)),
  tf("Concat", "", (n) => joined(n, 0, 1)),
  tf("Pack", "axis", stacked),
  tf("Unpack", "axis num", unstacked),
  tf("Split", "num_split", split),
  tf("SplitV", "num_split", splitBySizes),
  ...alike("Pad PadV2", "constant_value", padded),
  tf("MirrorPad", "mode", mirrored),
  tf("Tile", "", (n) => standard(n, "Tile", [n.value(0), n.value(1)])[0]!),
  tf("BroadcastTo", "", (n) => ir.broadcastTo(n.tensor(0), n.dims(1))),
  tf("BroadcastArgs", "", (n) =>
    extents(ir.broadcastShapes("BroadcastArgs", n.dims(0), n.dims(1))),
  ),
  ...alike("Reverse ReverseV2", "", reversed),
  tf("ReverseSequence", "seq_dim batch_dim", reversedSequence),
  tf("BatchToSpaceND", "", batchToSpace),
  tf("SpaceToBatchND", "", spaceToBatch),
  tf("DepthToSpace", "block_size data_format", blocks("DepthToSpace")),
  tf("SpaceToDepth", "block_size data_format", blocks("SpaceToDepth")),
  tf("Cast", "Truncate", cast),
  tf("MatrixBandPart", "", band),
  tf("MatrixDiagPart", "", diagonalOf),
  tf("DiagPart", "", diagonalPart),
  tf("Diag", "", onDiagonal),
  tf("MatrixDiag", "", (n) => matrixOf(n.tensor(0))),
];
