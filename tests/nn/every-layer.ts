/** Every public layer, once, with the shape that it takes. */
import * as nn from "@kiln-ml/nn";
import { HiddenOf, OnRing, SelfMoved } from "./adapted-layers.ts";
import { cases, layerOf } from "./module-cases.ts";

/**
 * Layers by name, each with the shape that it takes, or a call of its own; others are taken from
 * the fixtures.
 */
export const layers: Record<
  string,
  readonly [() => nn.Module, readonly number[], ("i32" | "f32")?]
> = {
  AdaptiveAvgPool2d: [() => new nn.AdaptiveAvgPool2d([2, 3]), [2, 3, 4, 5]],
  AvgPool2d: [() => new nn.AvgPool2d(2, { padding: 1 }), [2, 3, 4, 4]],
  BatchNorm1d: [() => new nn.BatchNorm1d(3), [4, 3]],
  BatchNorm2d: [() => new nn.BatchNorm2d(3), [2, 3, 2, 2]],
  CELU: [() => new nn.CELU(), [2, 3]],
  Conv1d: [() => new nn.Conv1d(3, 2, 2), [2, 3, 5]],
  Conv2d: [() => new nn.Conv2d(3, 2, 2), [2, 3, 4, 4]],
  DeformConv2d: [() => new SelfMoved(), [2, 3, 4, 4]],
  Dense: [
    () => new nn.Sequential([new nn.Input([3]), new nn.Dense(2, { activation: "gelu" })]),
    [2, 3],
  ],
  Dropout: [() => new nn.Dropout(0.5, { seed: 1 }), [2, 3]],
  ELU: [() => new nn.ELU(), [2, 3]],
  Embedding: [() => new nn.Embedding(5, 3), [4], "i32"],
  Flatten: [() => new nn.Flatten(), [2, 3, 2]],
  GELU: [() => new nn.GELU("tanh"), [2, 3]],
  GATConv: [() => new OnRing(new nn.GATConv(3, 2)), [4, 3]],
  GCNConv: [() => new OnRing(new nn.GCNConv(3, 2)), [4, 3]],
  GINConv: [() => new OnRing(new nn.GINConv(new nn.Linear(3, 2))), [4, 3]],
  GRU: [() => new nn.GRU(3, 2), [2, 3, 3]],
  GRUCell: [() => new nn.GRUCell(3, 2), [4, 3]],
  GroupNorm: [() => new nn.GroupNorm(2, 4), [2, 4, 3]],
  HardSigmoid: [() => new nn.HardSigmoid(), [2, 3]],
  HardSwish: [() => new nn.HardSwish(), [2, 3]],
  HardTanh: [() => new nn.HardTanh(), [2, 3]],
  LSTM: [() => new nn.LSTM(3, 2, { bidirectional: true }), [2, 3, 3]],
  LSTMCell: [() => new HiddenOf(new nn.LSTMCell(3, 2)), [4, 3]],
  LayerNorm: [() => new nn.LayerNorm(3), [2, 3]],
  LeakyReLU: [() => new nn.LeakyReLU(), [2, 3]],
  Linear: [() => new nn.Linear(3, 2), [2, 3]],
  LogSigmoid: [() => new nn.LogSigmoid(), [2, 3]],
  LogSoftmax: [() => new nn.LogSoftmax(), [2, 3]],
  MaxPool2d: [() => new nn.MaxPool2d(2), [2, 3, 4, 4]],
  Mish: [() => new nn.Mish(), [2, 3]],
  MultiHeadAttention: [() => new nn.MultiHeadAttention(4, 2), [2, 3, 4]],
  RNN: [() => new nn.RNN(3, 2), [2, 3, 3]],
  RNNCell: [() => new nn.RNNCell(3, 2), [4, 3]],
  ReLU: [() => new nn.ReLU(), [2, 3]],
  ReLU6: [() => new nn.ReLU6(), [2, 3]],
  RmsNorm: [() => new nn.RmsNorm(3), [2, 3]],
  SAGEConv: [() => new OnRing(new nn.SAGEConv(3, 2)), [4, 3]],
  SELU: [() => new nn.SELU(), [2, 3]],
  Shrink: [() => new nn.Shrink(), [2, 3]],
  SiLU: [() => new nn.SiLU(), [2, 3]],
  Sigmoid: [() => new nn.Sigmoid(), [2, 3]],
  Softmax: [() => new nn.Softmax(), [2, 3]],
  Softplus: [() => new nn.Softplus(), [2, 3]],
  Softsign: [() => new nn.Softsign(), [2, 3]],
  Tanh: [() => new nn.Tanh(), [2, 3]],
  Upsample: [() => new nn.Upsample({ scale: 2 }), [1, 2, 3, 3]],
};

for (const c of Object.values(cases))
  layers[c.type] ??= [() => layerOf(c), c.x.shape, c.dx ? "f32" : "i32"];

/** Classes that compute nothing by themselves. */
export const others = ["Module", "KeyStream", "Input", "Lambda", "Sequential"];
