/**
 * What layers refuse, word for word.
 */
import {
  convTranspose,
  DtypeError,
  GraphError,
  input,
  type KilnError,
  ShapeError,
} from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";

const f32 = (...shape: number[]) => input("x", "f32", shape);

type Kind = new (message: string) => KilnError;
// biome-ignore format: one case a row
const cases: readonly (readonly [Kind, string, () => unknown])[] = [
  [ShapeError, "linear: inputs must be an integer of 1 or more, got 0\n  give a whole number; symbols are for inputs, not for layers", () => new nn.Linear(0, 2)],
  [ShapeError, "linear: outputs must be an integer of 1 or more, got 2.5\n  give a whole number; symbols are for inputs, not for layers", () => new nn.Linear(1, 2.5)],
  [ShapeError, "linear: inputs differ: layer has 3, input is [2,4]\n  make the layer for what the input has there, or transpose the input", () => new nn.Linear(3, 1).forward(f32(2, 4))],
  [ShapeError, "linear: inputs differ: layer has 3, input is []\n  make the layer for what the input has there, or transpose the input", () => new nn.Linear(3, 1).forward(f32())],
  [ShapeError, "conv2d: channels are not multiples of groups: inputs 3, outputs 4, groups 2\n  choose groups that divide both", () => new nn.Conv2d(3, 4, 3, { groups: 2 })],
  [ShapeError, "conv2d: kernel needs 1 or 2 numbers, got [3,3,3]\n  give one number for all axes, or one for each", () => new nn.Conv2d(1, 1, [3, 3, 3])],
  [ShapeError, "conv1d: padding must be an integer of 0 or more, got -1\n  give a whole number; symbols are for inputs, not for layers", () => new nn.Conv1d(1, 1, 3, { padding: -1 })],
  [ShapeError, "conv2d: input must have rank 4, got [3,8,8]\n  put a batch axis in front with expandDims(0), or take the layer of that rank", () => new nn.Conv2d(3, 1, 3).forward(f32(3, 8, 8))],
  [ShapeError, "conv2d: channels differ: layer has 3, input is [1,2,8,8]\n  make the layer for what the input has there, or transpose the input", () => new nn.Conv2d(3, 1, 3).forward(f32(1, 2, 8, 8))],
  [ShapeError, "batchNorm: input must have rank 2 or 3, got [1,2,3,4]\n  put a batch axis in front with expandDims(0), or take the layer of that rank", () => new nn.BatchNorm1d(2).forward(f32(1, 2, 3, 4))],
  [ShapeError, "batchNorm: one value a channel has no variance: input is [1,2]\n  call eval() to use the running statistics", () => new nn.BatchNorm1d(2).forward(f32(1, 2))],
  [GraphError, "layerNorm: eps must be from 0 to 1, got -1\n  give a number of that range", () => new nn.LayerNorm(2, { eps: -1 })],
  [ShapeError, "layerNorm: shape is empty, needs an axis\n  give the extents of the last axes: [width]", () => new nn.LayerNorm([])],
  [ShapeError, "layerNorm: extents differ: layer has 2, input is [3,4]\n  make the layer for what the input has there, or transpose the input", () => new nn.LayerNorm([2, 4]).forward(f32(3, 4))],
  [ShapeError, "groupNorm: channels 4 are not a multiple of groups 3\n  choose groups that divide the channels", () => new nn.GroupNorm(3, 4)],
  [ShapeError, "groupNorm: input needs rank 2 or more, got [4]\n  put the batch in front and the channels second: [N,C,...]", () => new nn.GroupNorm(2, 4).forward(f32(4))],
  [DtypeError, "embedding: indices must be integers, got f32\n  feed an Int32Array, or convert: x.convert(\"i32\")", () => new nn.Embedding(2, 2).forward(f32(3))],
  [ShapeError, "maxPool2d: padding is over half the window: [2,2] for [3,3]\n  pad at most half of the window, or pad before: x.pad(…)", () => new nn.MaxPool2d(3, { padding: 2 })],
  [ShapeError, "avgPool2d: window needs 1 or 2 numbers, got []\n  give one number for all axes, or one for each", () => new nn.AvgPool2d([])],
  [GraphError, "conv1d: paddingMode must be zeros, reflect, replicate, circular, got same\n  leave it out for zeros", () => new nn.Conv1d(1, 1, 3, { paddingMode: "same" as "zeros" })],
  [ShapeError, "conv1d: padding 4 by reflect reaches beyond axis 2 of [1,1,4]\n  pad by less than the extent, or take another mode", () => new nn.Conv1d(1, 1, 3, { padding: 4, paddingMode: "reflect" }).forward(f32(1, 1, 4))],
  [ShapeError, "conv2d: padding 4 by circular reaches beyond axis 3 of [1,1,4,3]\n  pad by at most the extent, or take another mode", () => new nn.Conv2d(1, 1, 3, { padding: [[0, 1], [4, 0]], paddingMode: "circular" }).forward(f32(1, 1, 4, 3))],
  [ShapeError, "conv1d: padding 2 by replicate reaches beyond axis 2 of [1,1,0]\n  pad by at most the extent, or take another mode", () => new nn.Conv1d(1, 1, 2, { padding: 2, paddingMode: "replicate" }).forward(f32(1, 1, 0))],
  [ShapeError, "conv1d: a pair of padding needs 1 or 2 numbers, got [1,2,3]\n  give one number for all axes, or one for each", () => new nn.Conv1d(1, 1, 3, { padding: [[1, 2, 3]] as never })],
  [ShapeError, "convTranspose1d: channels are not multiples of groups: inputs 3, outputs 4, groups 2\n  choose groups that divide both", () => new nn.ConvTranspose1d(3, 4, 3, { groups: 2 })],
  [ShapeError, "convTranspose: outputPadding 2 is not less than stride 2 or dilation 1\n  it tells apart results that a convolution of this stride maps to one extent; pad to add more", () => new nn.ConvTranspose1d(1, 1, 3, { stride: 2, outputPadding: 2 }).forward(f32(1, 1, 4))],
  [GraphError, "convTranspose: padding \"same\" is not one of its own\n  give numbers: the result has (D − 1)·stride − padding + (K − 1)·dilation + 1 places", () => convTranspose(f32(1, 1, 4), f32(1, 1, 2), { padding: "same" as never })],
  [ShapeError, "convTranspose: x is [1,1,4], w is [1,2], not [N,C,...] and [C,O,...] of one rank", () => convTranspose(f32(1, 1, 4), f32(1, 2))],
  [ShapeError, "convTranspose: groups is 0, not 1 or more", () => convTranspose(f32(1, 1, 4), f32(1, 1, 2), { groups: 0 })],
  [ShapeError, "convTranspose: channels do not divide into 2 groups: w is [3,1,2]\n  choose groups that divide the first axis of w", () => convTranspose(f32(1, 3, 4), f32(3, 1, 2), { groups: 2 })],
  [GraphError, "lpPool2d: norm must be positive and finite, got 0\n  take MaxPool2d for the limit of large norms", () => new nn.LPPool2d(0, 2)],
  [ShapeError, "adaptiveMaxPool1d: size 2 needs a known extent, axis 2 of [1,1,L] is symbolic", () => new nn.AdaptiveMaxPool1d(2).forward(input("x", "f32", [1, 1, "L"]))],
  [ShapeError, "globalAvgPool: input needs rank 3 or more, got [2,3]\n  put the batch in front and the channels second: [N,C,...]", () => new nn.GlobalAvgPool().forward(f32(2, 3))],
  [ShapeError, "instanceNorm: one value a channel has no variance: input is [2,3,1]\n  give more than one position", () => new nn.InstanceNorm1d(3).forward(f32(2, 3, 1))],
  [ShapeError, "localResponseNorm: input needs rank 2 or more, got [3]\n  put the batch in front and the channels second: [N,C,...]", () => new nn.LocalResponseNorm(3).forward(f32(3))],
  [GraphError, "hardShrink: lambda must be 0 or more, got -1\n  leave it out for 0.5", () => new nn.HardShrink(-1)],
  [ShapeError, "glu: axis -1 of [2,3] has no halves\n  give it an even extent, or name another axis", () => new nn.GLU().forward(f32(2, 3))],
  [ShapeError, "prelu: 3 slopes need channels, input is [3]\n  put the batch in front and the channels second: [N,C,...]", () => new nn.PReLU(3).forward(f32(3))],
  [GraphError, "rrelu: lower must be at most upper, got 0.5 and 0.1\n  give the smaller slope first", () => new nn.RReLU(0.5, 0.1)],
  [GraphError, "gaussianNoise: std must be 0 or more, got -1\n  give a deviation", () => new nn.GaussianNoise(-1)],
  [GraphError, "pairwiseDistance: p must be positive, got 0\n  leave it out for 2", () => new nn.PairwiseDistance({ p: 0 })],
  [ShapeError, "pixelShuffle: [1,6,2,2] does not divide into blocks: 6 by 4\n  choose a factor that fits", () => new nn.PixelShuffle(2).forward(f32(1, 6, 2, 2))],
  [ShapeError, "pixelUnshuffle: input needs rank 3 or more, got [2,2]\n  give images: [N,C,H,W]", () => new nn.PixelUnshuffle(2).forward(f32(2, 2))],
  [ShapeError, "zeroPad2d: input needs rank 2 or more, got [4]\n  take the layer of fewer axes", () => new nn.ZeroPad2d(1).forward(f32(4))],
  [ShapeError, "fold: columns of [4,4] by [2,2] are [N,C·4,9], got [1,8,4]\n  give what Unfold of the same options makes of 4×4", () => new nn.Fold(4, 2).forward(f32(1, 8, 4))],
  [ShapeError, "embedding: paddingIdx 5 is not a row of 5\n  give one from 0 to the count less 1, or from the end, -1 the last", () => new nn.Embedding(5, 2, { paddingIdx: 5 })],
  [GraphError, "embedding: maxNorm must be positive, got 0", () => new nn.Embedding(5, 2, { maxNorm: 0 })],
  [GraphError, "embeddingBag: mode must be mean, sum or max, got min", () => new nn.EmbeddingBag(5, 2, { mode: "min" as "max" })],
  [GraphError, "embeddingBag: perSampleWeights are for mode sum, not mean", () => new nn.EmbeddingBag(5, 2).forward(input("i", "i32", [2, 2]), { perSampleWeights: f32(2, 2) })],
  [ShapeError, "embeddingBag: perSampleWeights must be [2,2], got [2]", () => new nn.EmbeddingBag(5, 2, { mode: "sum" }).forward(input("i", "i32", [2, 2]), { perSampleWeights: f32(2) })],
  [GraphError, "kaimingUniform: mode must be fanIn or fanOut, got fan_out", () => nn.init.kaimingUniform(0, { mode: "fan_out" as "fanOut" })],
  [ShapeError, "multiHeadAttention: heads 4 are not a multiple of kvHeads 3", () => new nn.MultiHeadAttention(8, 4, { kvHeads: 3 })],
  [ShapeError, "rotaryEncoding: width 3 is odd\n  sines and cosines take turns: give an even width", () => new nn.RotaryEncoding(3)],
  [ShapeError, "positionalEncoding: input needs rank 2 or more, got [4]\n  give sequences: [...,T,width]", () => new nn.PositionalEncoding(4).forward(f32(4))],
  [ShapeError, "flatten: needs rank 1 or more, got []\n  give start a smaller axis", () => new nn.Flatten().forward(f32())],
  [GraphError, "huber: delta must be positive, got 0\n  leave it out for 1", () => nn.huber(f32(2), f32(2), { delta: 0 })],
  [GraphError, "crossEntropy: labelSmoothing must be from 0 to 1, got NaN\n  give a number of that range", () => nn.crossEntropy(f32(2, 3), input("t", "i32", [2]), { labelSmoothing: Number.NaN })],
  [GraphError, "crossEntropy: ignoreIndex needs class indices, target is probabilities\n  pass classes as integers, or give ignored rows probabilities of 0", () => nn.crossEntropy(f32(2, 3), f32(2, 3), { ignoreIndex: 0 })],
  [ShapeError, "crossEntropy: probabilities must have the input's shape: [3,2] for [2,3]\n  pass integer classes without the axis of classes, or probabilities of the input's shape", () => nn.crossEntropy(f32(2, 3), f32(3, 2))],
  [ShapeError, "crossEntropy: probabilities must have the input's shape: [2] for [2,3]\n  classes must be integers: an Int32Array, or a tensor or input of dtype i32", () => nn.crossEntropy(f32(2, 3), f32(2))],
  [DtypeError, "linear: input must be a tensor, got Array\n  wrap it in tensor(…), or call what compile made of the function", () => new nn.Linear(2, 2).forward([1, 2] as never)],
  [DtypeError, "conv2d: input must be a tensor, got Float32Array\n  wrap it in tensor(…), or call what compile made of the function", () => new nn.Conv2d(1, 1, 1).forward(new Float32Array(4) as never)],
  [ShapeError, "crossEntropy: weight must have one entry a class: [2] for [3]\n  give a vector as long as there are classes", () => nn.crossEntropy(f32(2, 3), input("t", "i32", [2]), { weight: f32(2) })],
  [ShapeError, "crossEntropy: axis 2 is outside [2,3]\n  axes count from 0, or from the end: -1 is the last", () => nn.crossEntropy(f32(2, 3), input("t", "i32", [2]), { axis: 2 })],
  [ShapeError, "bceWithLogits: positiveWeight [3,2] does not broadcast to [2]\n  give one number, or one for each label on the last axis", () => nn.bceWithLogits(f32(2), f32(2), { positiveWeight: f32(3, 2) })],
  [DtypeError, "attention: mask must be bool or f32, got i32\n  compare to get bool: mask.notEqual(0) is true where keys count", () => nn.attention(f32(2, 3), f32(2, 3), f32(2, 3), { mask: input("m", "i32", [2, 2]) })],
  [ShapeError, "accuracy: targets do not fit: scores [4,3] need [4], got [3]\n  give one class for each row of scores; argMax(-1) of one-hot rows", () => nn.accuracy(f32(4, 3), input("t", "i32", [3]))],
  [DtypeError, "lstm: lengths must be integers, got f32\n  feed an Int32Array, or convert: lengths.convert(\"i32\")", () => new nn.LSTM(2, 3).forward(f32(4, 5, 2), { lengths: f32(4) })],
  [ShapeError, "gru: lengths must be one a sequence: [5] for [4]\n  give one length for each entry of the batch", () => new nn.GRU(2, 3).forward(f32(4, 5, 2), { lengths: input("n", "i32", [5]) })],
  [ShapeError, "lstm: projSize must be less than hidden, got 3 for 3\n  leave it out where the state is to stay as wide", () => new nn.LSTM(2, 3, { projSize: 3 })],
  [GraphError, "lstm: state must be 2 tensors, got 1\n  pass what the layer returned as its state, or leave it out for zeros", () => new nn.LSTM(2, 3).forward(f32(4, 5, 2), { state: [f32(1, 4, 3)] })],
  [ShapeError, "rnn: state must be [1,4,3], got [4,3]\n  pass what the layer returned as its state, or leave it out for zeros", () => new nn.RNN(2, 3).forward(f32(4, 5, 2), { state: [f32(4, 3)] })],
  [GraphError, "dropout: rate must be from 0 to 1, got -0.1\n  give a number of that range", () => new nn.GRU(2, 3, { dropout: -0.1 })],
  [ShapeError, "seed: -1 is not an integer of 0 or more\n  give an integer, such as 0", () => nn.seed(-1)],
  [GraphError, "loss: reduction must be mean, sum or none, got avg\n  leave it out for mean", () => nn.mse(f32(2), f32(2), { reduction: "avg" as "mean" })],
];

for (const [kind, message, run] of cases)
  test(`refused: ${message.split("\n")[0]}`, () => {
    try {
      run();
    } catch (error) {
      assert.is((error as Error).message, message);
      assert.instance(error, kind);
      return;
    }
    assert.unreachable("nothing was thrown");
  });

test.run();
