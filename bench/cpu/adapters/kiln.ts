/**
 * Ours in the CPU table: `TARGET` and `THREADS` in the environment say what is measured. Inputs are
 * moved to the device once; every run computes its results there.
 */

import { dataLeaf } from "@kiln-ml/ir";
import { createWasmDevice } from "@kiln-ml/runtime";
import { openNativeDevice } from "@kiln-ml/runtime/native";
import {
  type CompileOptions,
  compile,
  convolution,
  type InputSpec,
  nn,
  optim,
  type StateSource,
  type TargetName,
  type Tensor,
  to,
  useDevice,
} from "kiln-ml";
import { Block, cnnOf, lstm, mlpOf } from "../models.ts";
import { checkOf, serve, type Work, type Works } from "../protocol.ts";
import { classes, floats, type Operand, workloadNamed } from "../workloads.ts";

const target = (process.env.TARGET ?? "wasm") as TargetName;
const threads = Number(process.env.THREADS ?? 1);

if (target === "wasm") useDevice(createWasmDevice({ threads }));
if (target === "native") useDevice(await openNativeDevice({ threads }));

type Values = readonly Tensor[];

const operandsOf = (name: string): Readonly<Record<string, Operand>> =>
  workloadNamed(name).operands;

async function resident(operands: readonly Operand[]): Promise<Tensor[]> {
  const leaves = operands.map((o) =>
    o.classes ? dataLeaf("i32", o.shape, classes(o)) : dataLeaf("f32", o.shape, floats(o)),
  );
  await to(Object.fromEntries(leaves.entries()) as StateSource, target);
  return leaves;
}

function optionsFor(inputs: Values): CompileOptions {
  const declared = inputs.map((t): InputSpec => ({ shape: t.shape, dtype: t.dtype }));
  return { target, inputs: declared };
}

/** A compiled function of resident inputs; the result of a run is freed by the next. */
async function work(fn: (...x: Tensor[]) => Tensor, operands: readonly Operand[]): Promise<Work> {
  const inputs = await resident(operands);
  const program = compile(fn, optionsFor(inputs));
  let last: Tensor | undefined;
  return {
    run: async () => {
      const next = await program(...inputs);
      last?.dispose();
      last = next;
    },
    check: async () => checkOf(await last!.data()),
    drop: () => {
      last?.dispose();
      for (const t of inputs) t.dispose();
    },
  };
}

const plain = (name: string, fn: (...x: Tensor[]) => Tensor) => (): Promise<Work> =>
  work(fn, Object.values(operandsOf(name)));

/** A training step of a model; its loss is what is checked. */
function training(
  model: nn.Layer,
  optimizer: optim.Optimizer,
  loss: (result: Tensor, wanted: Tensor) => Tensor,
  operands: readonly [x: Operand, y: Operand],
): Promise<Work> {
  return work((x, y) => {
    const value = loss(model.forward(x!), y!);
    optimizer.step(value);
    return value;
  }, operands);
}

const chain = (a: Tensor, b: Tensor, c: Tensor): Tensor =>
  a.mul(b).add(c).tanh().mul(a.sigmoid()).add(b.mul(b).neg().exp());

const matmul = (a: Tensor, b: Tensor): Tensor => a.matmul(b);

function normalized(x: Tensor, gain: Tensor, bias: Tensor): Tensor {
  const centred = x.sub(x.mean(-1, { keepDims: true }));
  const variance = centred.square().mean(-1, { keepDims: true });
  return centred.mul(variance.add(1e-5).rsqrt()).mul(gain).add(bias);
}

type Plain = (...x: Tensor[]) => Tensor;

const functions: Readonly<Record<string, Plain>> = {
  chain4m: chain as Plain,
  chain16k: chain as Plain,
  chain64: chain as Plain,
  softmax: ((x: Tensor) => x.softmax()) as Plain,
  layernorm: normalized as Plain,
  matmul512: matmul as Plain,
  matmul1024: matmul as Plain,
  matmul2048: matmul as Plain,
  conv2d: ((x: Tensor, w: Tensor) => convolution(x, w, { padding: 1 })) as Plain,
  dwconv: ((x: Tensor, w: Tensor) => convolution(x, w, { padding: 1, groups: 64 })) as Plain,
  lstm: lstm as Plain,
  sum0: ((x: Tensor) => x.sum(0)) as Plain,
  sum1: ((x: Tensor) => x.sum(1)) as Plain,
  cumsum: ((x: Tensor) => x.cumsum(1)) as Plain,
  argmax: ((x: Tensor) => x.argMax(1)) as Plain,
  transpose: ((x: Tensor) => x.transpose()) as Plain,
};

const models: Works = {
  mlp_fwd: () => {
    const o = operandsOf("mlp_fwd");
    const net = mlpOf(o);
    return work((x) => net.forward(x!), [o.x!]);
  },
  mlp_train: () => {
    const o = operandsOf("mlp_train");
    const net = mlpOf(o);
    const adam = new optim.Adam(net.parameters(), { lr: 1e-3 });
    return training(net, adam, nn.crossEntropy, [o.x!, o.y!]);
  },
  conv_train: () => {
    const o = operandsOf("conv_train");
    const net = cnnOf(o);
    const adam = new optim.Adam(net.parameters(), { lr: 1e-3 });
    return training(net, adam, nn.crossEntropy, [o.x!, o.y!]);
  },
  tf_fwd: async () => {
    const o = operandsOf("tf_fwd");
    const block = new Block(o);
    return work((x) => block.forward(x!), [o.x!]);
  },
  tf_train: async () => {
    const o = operandsOf("tf_train");
    const block = new Block(o);
    const sgd = new optim.SGD(block.parameters(), { lr: 0.01 });
    return training(block, sgd, nn.mse, [o.x!, o.t!]);
  },
};

const works: Works = {
  ...Object.fromEntries(Object.entries(functions).map(([name, fn]) => [name, plain(name, fn)])),
  ...models,
};

await serve(`kiln ${target}, threads ${threads}`, works);
