/**
 * The front door on the native target: a training step with its states, products, a softmax and
 * Adam, as on wasm.
 */
import { type Layer, Linear, Sequential } from "@kiln-ml/nn";
import { compile, nn, optim, type Tensor, tensor, useDevice } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { nativeTest } from "../support/native.ts";

const wave = (n: number, by: number): Float32Array =>
  Float32Array.from({ length: n }, (_, i) => Math.sin(i * by));

async function losses(target: "native" | "wasm"): Promise<number[]> {
  nn.seed(1);
  const net = new Sequential(
    new Linear(20, 33),
    (x: Tensor) => x.tanh(),
    new Linear(33, 7),
  ) as Layer;
  const optimizer = new optim.Adam(net.parameters(), { lr: 0.01 });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const error = net.forward(x).softmax(-1).sub(y);
      const loss = error.mul(error).mean();
      optimizer.step(loss);
      return loss;
    },
    { target },
  );
  const [x, y] = [
    tensor(wave(37 * 20, 0.37), { shape: [37, 20] }),
    tensor(wave(37 * 7, 0.11), { shape: [37, 7] }),
  ];
  const all: number[] = [];
  for (let i = 0; i < 10; i++) all.push((await (await step(x, y)).data())[0] as number);
  return all;
}

nativeTest("a training step learns on native what it learns on wasm", async (device) => {
  useDevice(device);
  const [native, wasm] = [await losses("native"), await losses("wasm")];
  native.forEach((loss, i) => {
    assert.ok(Math.abs(loss - wasm[i]!) < 1e-5, `step ${i}: ${loss}, on wasm ${wasm[i]}`);
  });
  assert.ok(native.at(-1)! < native[0]!, `${native}`);
});

test.run();
