/** Training steps that an engine is to repeat as Kiln takes them: small, with every kind of layer and state. */
import { input, type Tensor, trace } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import type { Program } from "../../compiler/src/program.ts";
import { Block } from "./block.ts";

/** One step: the loss of `define`, and what the optimizer makes of it. */
function step(
  inputs: readonly Tensor[],
  net: nn.Module,
  optimizer: (params: Tensor[]) => optim.Optimizer,
  define: () => Tensor,
): Program {
  const rule = optimizer(net.parameters());
  const { value, updates } = trace(() => {
    const loss = define();
    rule.step(loss);
    return loss;
  });
  return { inputs, outputs: [{ name: "loss", value }], updates: [...updates] };
}

const adamW = (params: Tensor[]): optim.Optimizer =>
  new optim.AdamW(params, { lr: 0.01, eps: 1e-3, clipNorm: 1 });
const momentum = (params: Tensor[]): optim.Optimizer =>
  new optim.SGD(params, { lr: 0.05, momentum: 0.9, nesterov: true, weightDecay: 0.01 });
const rmsProp = (params: Tensor[]): optim.Optimizer =>
  new optim.RMSProp(params, { lr: 0.01, eps: 1e-3, momentum: 0.5 });

const labels = (n: number): Tensor => input("labels", "i32", [n]);

const mlp = (): nn.Sequential =>
  new nn.Sequential(
    new nn.Linear(12, 24),
    new nn.ReLU(),
    new nn.LayerNorm(24),
    new nn.Dropout(0.25, { seed: 7 }),
    new nn.Linear(24, 4),
  );

function mlpStep(): Program {
  const [x, y, net] = [input("x", "f32", [8, 12]), labels(8), mlp()];
  return step([x, y], net, adamW, () => nn.crossEntropy(net.forward(x), y));
}

/** In f16 where that is safe. */
function halfStep(dtype: "f16" | "bf16"): Program {
  const [x, y, net] = [input("x", "f32", [8, 12]), labels(8), mlp()];
  const loss = () => nn.autocast(dtype, () => nn.crossEntropy(net.forward(x), y));
  return step([x, y], net, momentum, loss);
}

function cnnStep(): Program {
  const [x, y] = [input("x", "f32", [4, 1, 8, 8]), labels(4)];
  const net = new nn.Sequential(
    new nn.Conv2d(1, 4, 3, { padding: 1 }),
    new nn.BatchNorm2d(4),
    new nn.ReLU(),
    new nn.MaxPool2d(2),
    new nn.Conv2d(4, 6, 3, { stride: 2, padding: 1, bias: false }),
    new nn.GroupNorm(2, 6),
    new nn.SiLU(),
    new nn.AvgPool2d(2),
    new nn.Flatten(),
    new nn.Linear(6, 4),
  );
  return step([x, y], net, momentum, () => nn.crossEntropy(net.forward(x), y));
}

function recurrentStep(net: nn.GRU | nn.LSTM): Program {
  const [x, target] = [input("x", "f32", [3, 6, 5]), input("target", "f32", [3, 6, 4])];
  return step([x, target], net, rmsProp, () => nn.mse(net.forward(x).y, target));
}

class Gpt extends nn.Module {
  readonly embedding = new nn.Embedding(16, 16);
  readonly block = new Block(16, 2);
  readonly norm = new nn.LayerNorm(16);
  readonly head = new nn.Linear(16, 16);
  override forward(tokens: Tensor): Tensor {
    return this.head.forward(this.norm.forward(this.block.forward(this.embedding.forward(tokens))));
  }
}

function gptStep(): Program {
  const [x, y] = [input("labels", "i32", [2, 8]), input("next", "i32", [2, 8])];
  const net = new Gpt();
  return step([x, y], net, adamW, () =>
    nn.crossEntropy(net.forward(x).reshape([16, 16]), y.reshape([16])),
  );
}

/** By name; each is run for a few steps, its new states fed back. */
export const networks: Readonly<Record<string, () => Program>> = {
  "mlp-dropout-adamw-clip": mlpStep,
  "mlp-f16": () => halfStep("f16"),
  "mlp-bf16": () => halfStep("bf16"),
  "cnn-batchnorm": cnnStep,
  gru: () => recurrentStep(new nn.GRU(5, 4)),
  lstm: () => recurrentStep(new nn.LSTM(5, 4)),
  "gpt-block": gptStep,
};
