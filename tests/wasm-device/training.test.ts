/** Compiled training steps on the wasm device: any number of threads gives the same bits. */
import { compile, nn, optim, type Tensor, useDevice } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { guardedWasmDevice } from "../support/guarded-wasm.ts";

const rows = Float32Array.from({ length: 64 * 96 }, (_, i) => Math.sin(i * i));
const labels = Int32Array.from({ length: 64 }, (_, i) => i % 5);

async function train(target: "js" | "wasm"): Promise<number[]> {
  nn.seed(7);
  const net = new nn.Sequential(
    new nn.Linear(96, 80),
    new nn.GELU(),
    new nn.LayerNorm(80),
    new nn.Linear(80, 5),
  );
  const opt = new optim.Adam(net.parameters(), { lr: 0.01 });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(net.forward(x), y);
      opt.step(loss);
      return loss;
    },
    { target },
  );
  const losses: number[] = [];
  for (let i = 0; i < 12; i++)
    losses.push(await (await step({ data: rows, shape: [64, 96] }, labels)).item());
  return losses;
}

test("a training step has the same losses on 1, 2 and 3 threads, bit for bit, and those of js nearly", async () => {
  const js = await train("js");
  const all: number[][] = [];
  for (const threads of [1, 2, 3]) {
    const device = guardedWasmDevice({ threads });
    useDevice(device);
    all.push(await train("wasm"));
    device.destroy();
  }
  assert.equal(all[1], all[0]);
  assert.equal(all[2], all[0]);
  assert.ok(js[11]! < js[0]! / 2, `${js}`);
  for (const [i, loss] of js.entries())
    assert.ok(Math.abs(loss - all[0]![i]!) <= 1e-3 * loss, `js ${js}, wasm ${all[0]}`);
});

test.run();
