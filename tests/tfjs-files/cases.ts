/**
 * A node of every op that TensorFlow.js computes as well: awkward shapes, strides, paddings, masks
 * and types. An operand is data of a run (`x`), or numbers that stand in the file. What
 * the oracle misreads is left out: NCHW, the second bound of MatrixBandPart, two broadcast batches.
 */
import type { Attribute, Feed, GraphWriter } from "./graph.ts";

type Operand = (graph: GraphWriter) => string;

export interface Case {
  readonly op: string;
  readonly inputs: readonly Operand[];
  readonly attrs: Readonly<Record<string, Attribute>>;
  readonly outputs: number;
}

const sizeOf = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);

/** Numbers between −1 and 1 that look like chance. */
function noise(size: number, seed: number): number[] {
  let state = seed * 7919;
  return Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.fround(state / 2 ** 31 - 1);
  });
}

const x =
  (dims: readonly number[], seed = 1, f: (v: number) => number = (v) => v): Operand =>
  (g) =>
    g.input(
      dims,
      noise(sizeOf(dims), seed).map((v) => Math.fround(f(v))),
    );

const data =
  (dims: readonly number[], values: readonly number[], type: Feed["type"] = "int32"): Operand =>
  (g) =>
    g.input(dims, values, type);

const list =
  (...values: number[]): Operand =>
  (g) =>
    g.constant([values.length], values, "int32");

const held =
  (dims: readonly number[], values: readonly number[], type: Feed["type"] = "float32"): Operand =>
  (g) =>
    g.constant(dims, values, type);

const int = (value: number): Operand => held([], [value], "int32");
const weight = (dims: readonly number[], seed = 5): Operand =>
  held(dims, noise(sizeOf(dims), seed));

const of = (
  op: string,
  inputs: readonly Operand[],
  attrs: Case["attrs"] = {},
  outputs = 1,
): Case => ({
  op,
  inputs,
  attrs,
  outputs,
});

const a = x([2, 3, 4]);
const b = x([3, 1], 2);
const positive = x([2, 3, 4], 1, (v) => Math.abs(v) + 0.1);
const flags = data([2, 3], [1, 0, 1, 1, 0, 0], "bool");
const others = data([1, 3], [1, 1, 0], "bool");
const whole = data([6], [7, -7, 5, -5, 0, 3]);
const divisor = data([6], [2, 2, -3, -3, 5, 3]);
const image = x([2, 7, 6, 3]);
const volume = x([1, 5, 4, 3, 2]);

const unary = (ops: string, operand: Operand): Case[] =>
  ops.split(" ").map((op) => of(op, [operand]));
const binary = (ops: string, p: Operand, q: Operand): Case[] =>
  ops.split(" ").map((op) => of(op, [p, q]));
const over = (op: string, operand: Operand): Case[] => [
  of(op, [operand, list(1)], { keep_dims: false }),
  of(op, [operand, list(0, -1)], { keep_dims: true }),
  of(op, [operand, int(-2)]),
];

export const elementwise: readonly Case[] = [
  ...unary(
    "Abs Neg Sign Ceil Floor Square Relu Elu Erf Exp Expm1 Selu Sigmoid Sin Sinh Cos Cosh",
    a,
  ),
  ...unary("Softplus Tan Tanh Asinh Atan IsFinite IsInf IsNan", a),
  ...unary(
    "Acos Asin Atanh",
    x([5], 3, (v) => v * 0.9),
  ),
  ...unary("Log Log1p Sqrt Rsqrt Reciprocal", positive),
  of("Acosh", [x([5], 3, (v) => v + 2.5)]),
  ...unary(
    "Relu6 Round",
    x([2, 5], 3, (v) => v * 9),
  ),
  ...unary("Abs Neg Square Relu Exp", whole),
  of("LeakyRelu", [a], { alpha: 0.3 }),
  of("LogicalNot", [flags]),
  of("ClipByValue", [a, held([], [-0.4]), held([], [0.3])]),
  of("Prelu", [a, x([4], 9)]),
  ...binary(
    "Add AddV2 Sub Mul Div RealDiv Maximum Minimum SquaredDifference FloorDiv Mod FloorMod",
    a,
    b,
  ),
  ...binary("Add Sub Mul Maximum Minimum FloorDiv Mod FloorMod RealDiv", whole, divisor),
  of("DivNoNan", [a, data([3, 1], [0, 2, -4], "float32")]),
  of("Pow", [positive, b]),
  of("Atan2", [a, b]),
  ...binary("Equal NotEqual Less LessEqual Greater GreaterEqual", whole, divisor),
  ...binary("Less LessEqual Greater GreaterEqual NotEqual", a, b),
  ...binary("LogicalAnd LogicalOr", flags, others),
  of("BiasAdd", [a, weight([4])]),
  of("AddN", [a, a, x([2, 3, 4], 8)], { N: 3 }),
  of("Select", [flags, x([2, 3]), x([2, 3], 4)]),
  of("SelectV2", [flags, x([2, 3]), x([3], 4)]),
  of("Cast", [x([5], 2, (v) => v * 9)], { SrcT: "DT_FLOAT", DstT: "DT_INT32" }),
  of("Cast", [whole], { SrcT: "DT_INT32", DstT: "DT_BOOL" }),
  of("Cast", [flags], { SrcT: "DT_BOOL", DstT: "DT_FLOAT" }),
  of("Cast", [whole], { SrcT: "DT_INT32", DstT: "DT_INT64" }),
];

export const reductions: readonly Case[] = [
  ...over("Sum", a),
  ...over("Prod", a),
  ...over("Max", a),
  ...over("Min", a),
  ...over("Mean", a),
  ...over("EuclideanNorm", a),
  ...over("Sum", data([2, 3, 2], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])),
  of("All", [flags, list(1)], { keep_dims: true }),
  of("Any", [flags, list(0)]),
  of("ArgMax", [a, int(1)]),
  of("ArgMin", [a, int(-1)]),
  of("ArgMax", [data([4], [3, 9, 9, 1]), int(0)]),
  of("Cumsum", [a, int(1)], { exclusive: true, reverse: true }),
  of("Cumsum", [a, int(2)], { exclusive: false, reverse: false }),
  of("Cumprod", [a, int(0)], { exclusive: true, reverse: false }),
  of("Softmax", [a]),
  of("LogSoftmax", [a]),
  of("Bincount", [data([5], [0, 2, 2, 4, 1]), int(4), held([0], [])]),
  of("DenseBincount", [data([2, 3], [0, 2, 2, 1, 1, 1]), int(3), held([0], [])], {
    binary_output: false,
  }),
  of("DenseBincount", [data([1, 5], [0, 2, 2, 1, 7]), int(3), held([0], [])], {
    binary_output: true,
  }),
];

const conv = (strides: number[], padding: string, more: Case["attrs"] = {}): Case["attrs"] => ({
  T: "DT_FLOAT",
  strides,
  padding,
  data_format: "NHWC",
  dilations: [1, 1, 1, 1],
  ...more,
});

export const convolutions: readonly Case[] = [
  of("Conv2D", [image, weight([3, 2, 3, 4])], conv([1, 2, 2, 1], "SAME")),
  of("Conv2D", [image, weight([2, 3, 3, 4])], conv([1, 1, 1, 1], "SAME")),
  of("Conv2D", [image, weight([3, 3, 3, 2])], conv([1, 3, 2, 1], "VALID")),
  of(
    "Conv2D",
    [image, weight([3, 2, 3, 2])],
    conv([1, 1, 1, 1], "SAME", { dilations: [1, 2, 3, 1] }),
  ),
  of(
    "Conv2D",
    [image, weight([3, 2, 3, 2])],
    conv([1, 2, 1, 1], "EXPLICIT", { explicit_paddings: [0, 0, 1, 2, 0, 3, 0, 0] }),
  ),
  of("DepthwiseConv2dNative", [image, weight([3, 2, 3, 2])], conv([1, 2, 2, 1], "SAME")),
  of(
    "DepthwiseConv2dNative",
    [image, weight([3, 3, 3, 1])],
    conv([1, 1, 1, 1], "VALID", { dilations: [1, 2, 2, 1] }),
  ),
  of(
    "Conv3D",
    [volume, weight([2, 3, 2, 2, 3])],
    conv([1, 2, 1, 2, 1], "SAME", { data_format: "NDHWC", dilations: [1, 1, 1, 1, 1] }),
  ),
  of(
    "_FusedConv2D",
    [image, weight([3, 2, 3, 4]), weight([4])],
    conv([1, 2, 2, 1], "SAME", { fused_ops: ["BiasAdd", "Relu6"], num_args: 1, epsilon: { f: 0 } }),
  ),
  of(
    "_FusedConv2D",
    [image, weight([1, 1, 3, 4]), weight([4]), weight([4], 9)],
    conv([1, 1, 1, 1], "VALID", { fused_ops: ["BiasAdd", "Prelu"], num_args: 2 }),
  ),
  of(
    "_FusedConv2D",
    [image, weight([1, 1, 3, 4]), weight([4])],
    conv([1, 1, 1, 1], "VALID", {
      fused_ops: ["BiasAdd", "LeakyRelu"],
      num_args: 1,
      leakyrelu_alpha: 0.1,
    }),
  ),
  of(
    "FusedDepthwiseConv2dNative",
    [image, weight([3, 3, 3, 1]), weight([3])],
    conv([1, 2, 2, 1], "SAME", { fused_ops: ["BiasAdd", "Relu"], num_args: 1 }),
  ),
  of(
    "Conv2DBackpropInput",
    [list(2, 7, 6, 3), weight([3, 2, 3, 4]), x([2, 4, 3, 4])],
    conv([1, 2, 2, 1], "SAME"),
  ),
  of(
    "Conv2DBackpropInput",
    [list(2, 9, 7, 3), weight([3, 3, 3, 4]), x([2, 4, 3, 4])],
    conv([1, 2, 2, 1], "VALID"),
  ),
  of("Dilation2D", [image, weight([2, 3, 3])], {
    strides: [1, 1, 2, 1],
    rates: [1, 2, 1, 1],
    padding: "SAME",
  }),
  of("MaxPool", [image], {
    ksize: [1, 3, 2, 1],
    strides: [1, 2, 2, 1],
    padding: "SAME",
    data_format: "NHWC",
    explicit_paddings: [],
  }),
  of("MaxPool", [image], { ksize: [1, 2, 2, 1], strides: [1, 3, 1, 1], padding: "VALID" }),
  of("AvgPool", [image], {
    ksize: [1, 3, 3, 1],
    strides: [1, 2, 1, 1],
    padding: "SAME",
    data_format: "NHWC",
  }),
  of("AvgPool", [image], { ksize: [1, 2, 3, 1], strides: [1, 2, 2, 1], padding: "VALID" }),
  of("MaxPool3D", [volume], {
    ksize: [1, 2, 2, 2, 1],
    strides: [1, 2, 1, 2, 1],
    padding: "SAME",
    data_format: "NDHWC",
  }),
  of("AvgPool3D", [volume], {
    ksize: [1, 2, 3, 2, 1],
    strides: [1, 1, 2, 1, 1],
    padding: "SAME",
    data_format: "NDHWC",
  }),
  of(
    "MaxPoolWithArgmax",
    [image],
    { ksize: [1, 2, 2, 1], strides: [1, 2, 2, 1], padding: "VALID", include_batch_in_index: true },
    2,
  ),
  ...["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"].map((op) =>
    of(op, [image, weight([3]), weight([3], 6), weight([3], 7), held([3], [0.5, 1, 2])], {
      epsilon: 0.01,
      data_format: "NHWC",
      is_training: false,
    }),
  ),
  of("LRN", [image], { depth_radius: 1, bias: { f: 2 }, alpha: 0.5, beta: 0.75 }),
  of("MatMul", [x([3, 4]), weight([4, 5])], { transpose_a: false, transpose_b: false }),
  of("MatMul", [x([4, 3]), weight([5, 4])], { transpose_a: true, transpose_b: true }),
  of("BatchMatMul", [x([2, 3, 4]), x([2, 4, 2], 3)]),
  of("BatchMatMulV2", [x([1, 4, 3]), x([3, 5, 4], 3)], { adj_x: true, adj_y: true }),
  of("_FusedMatMul", [x([3, 4]), weight([4, 5]), weight([5])], {
    fused_ops: ["BiasAdd", "Elu"],
    num_args: 1,
    transpose_a: false,
    transpose_b: false,
    epsilon: { f: 0 },
  }),
  of("Einsum", [x([2, 3, 4]), x([2, 4, 2], 3)], { equation: "bij,bjk->bik", N: 2 }),
];

export const movements: readonly Case[] = [
  of("Reshape", [a, list(4, -1)]),
  of("Reshape", [a, list(2, 3, 2, 2)]),
  of("Squeeze", [x([2, 1, 3, 1])], { squeeze_dims: [1] }),
  of("ExpandDims", [a, int(-2)]),
  of("Transpose", [a, list(2, 0, 1)]),
  of("ConcatV2", [a, x([2, 2, 4], 3), int(1)], { N: 2 }),
  of("Concat", [int(-1), a, a], { N: 2 }),
  of("Pack", [a, a], { axis: 1, N: 2 }),
  of("Unpack", [a], { axis: -2, num: 3 }, 3),
  of("Split", [int(2), a], { num_split: 2 }, 2),
  of("SplitV", [a, list(1, -1, 1), int(2)], { num_split: 3 }, 3),
  of("Pad", [a, held([3, 2], [0, 0, 1, 2, 0, 1], "int32")]),
  of("PadV2", [a, held([3, 2], [0, 1, 1, 0, 0, 0], "int32"), held([], [3])]),
  of("MirrorPad", [a, held([3, 2], [0, 1, 2, 1, 3, 0], "int32")], { mode: "REFLECT" }),
  of("MirrorPad", [a, held([3, 2], [2, 1, 3, 1, 0, 0], "int32")], { mode: "SYMMETRIC" }),
  of("Tile", [a, list(2, 1, 3)]),
  of("BroadcastTo", [x([3, 1]), list(2, 3, 4)]),
  of("BroadcastArgs", [list(3, 1), list(2, 1, 4)]),
  of("Reverse", [a, held([3], [1, 0, 1], "bool")]),
  of("ReverseV2", [a, list(1, -1)]),
  of("BatchToSpaceND", [x([4, 2, 3, 1]), list(2, 2), held([2, 2], [0, 1, 1, 0], "int32")]),
  of("SpaceToBatchND", [x([1, 4, 5, 2]), list(2, 3), held([2, 2], [0, 2, 1, 0], "int32")]),
  of("DepthToSpace", [x([2, 2, 3, 8])], { block_size: 2, data_format: "NHWC" }),
  of("MatrixBandPart", [x([2, 4, 5]), int(1), int(1)]),
  of("Slice", [a, list(0, 1, 1), list(2, -1, 2)]),
  of("StridedSlice", [a, list(1, 0, 3), list(0, 2, 0), list(-1, 1, -2)], {
    begin_mask: 0,
    end_mask: 1,
  }),
  of("StridedSlice", [a, list(1, 0), list(2, 2), list(1, 1)], {
    shrink_axis_mask: 1,
    ellipsis_mask: 0,
  }),
  of("StridedSlice", [a, list(0, 0, -3), list(0, 0, 10), list(1, 1, 2)], {
    ellipsis_mask: 1,
    new_axis_mask: 2,
  }),
  of("StridedSlice", [a, list(0, -1), list(0, 0), list(1, 1)], {
    ellipsis_mask: 1,
    shrink_axis_mask: 2,
  }),
  of("Fill", [list(2, 3), held([], [2.5])]),
  of("ZerosLike", [a]),
  of("OnesLike", [whole]),
  of("LinSpace", [held([], [0]), held([], [1]), int(5)]),
  of("Range", [int(1), int(9), int(3)], { Tidx: "DT_INT32" }),
  of("Range", [held([], [0.5]), held([], [2.5]), held([], [0.5])], { Tidx: "DT_FLOAT" }),
  of("OneHot", [data([2, 2], [0, 2, 1, -1]), int(3), held([], [5]), held([], [-1])], {
    axis: -1,
    T: "DT_FLOAT",
  }),
  ...unary("Shape Size Rank Identity Snapshot StopGradient", a),
  of("IdentityN", [a, whole], {}, 2),
];

export const indexed: readonly Case[] = [
  of("Gather", [a, list(1, 0, 1)]),
  of("GatherV2", [a, data([2, 2], [0, 2, 1, 1]), int(1)], { batch_dims: 0 }),
  of("GatherV2", [a, data([2, 2], [0, 2, 1, 1]), int(1)], { batch_dims: 1 }),
  of("GatherNd", [a, data([3, 2], [0, 1, 1, 2, 0, 0])]),
  of("ScatterNd", [data([3, 1], [1, 3, 1]), x([3, 2]), list(5, 2)]),
  of("TensorScatterUpdate", [x([5]), data([2, 1], [1, 3]), x([2], 4)]),
  of("SparseToDense", [data([2, 2], [0, 1, 2, 0]), list(3, 2), x([2]), held([], [-1])]),
  of("TopKV2", [a, int(2)], { sorted: true }, 2),
  of("LowerBound", [held([1, 4], [1, 2, 2, 5]), data([1, 3], [2, 5, 0], "float32")]),
  of("UpperBound", [held([1, 4], [1, 2, 2, 5]), data([1, 3], [2, 5, 0], "float32")]),
  of("ResizeBilinear", [image, list(5, 9)], { align_corners: false, half_pixel_centers: true }),
  of("ResizeBilinear", [image, list(14, 4)], { align_corners: true, half_pixel_centers: false }),
  of("ResizeBilinear", [image, list(3, 12)], { align_corners: false, half_pixel_centers: false }),
  of("ResizeNearestNeighbor", [image, list(5, 9)], {
    align_corners: false,
    half_pixel_centers: true,
  }),
  of("ResizeNearestNeighbor", [image, list(14, 4)], {
    align_corners: false,
    half_pixel_centers: false,
  }),
  of("ResizeNearestNeighbor", [image, list(4, 11)], {
    align_corners: true,
    half_pixel_centers: false,
  }),
  of(
    "CropAndResize",
    [image, held([2, 4], [0.1, 0.2, 0.9, 1.1, 0.5, 0, 0, 1]), data([2], [1, 0]), list(3, 4)],
    { method: "bilinear", extrapolation_value: 0.5 },
  ),
  of("CropAndResize", [image, held([1, 4], [0, 0, 1, 1]), data([1], [1]), list(5, 3)], {
    method: "nearest",
  }),
];

const boxes = held([4, 4], [0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11, 0, 10.1, 1, 11.1]);
const scores = data([4], [0.9, 0.75, 0.6, 0.95], "float32");

/** Ops whose results have extents that only values tell. */
export const dynamic: readonly Case[] = [
  of("NonMaxSuppressionV3", [boxes, scores, int(3), held([], [0.5]), held([], [0.1])]),
  of(
    "NonMaxSuppressionV4",
    [boxes, scores, int(3), held([], [0.5]), held([], [0.1])],
    { pad_to_max_output_size: true },
    2,
  ),
  of(
    "NonMaxSuppressionV5",
    [boxes, scores, int(3), held([], [0.5]), held([], [0.1]), held([], [0])],
    {},
    2,
  ),
  of("Where", [flags]),
  of("Unique", [data([6], [3, 1, 3, 2, 1, 9])], {}, 2),
  of("ListDiff", [data([5], [1, 2, 3, 4, 5]), data([2], [2, 5])], {}, 2),
];
