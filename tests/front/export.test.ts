/** Artifacts of functions: run by the runtime alone, equal to the bit. */
import { packArtifact, unpackArtifact } from "@kiln-ml/artifact";
import { createCpuDevice, createWasmDevice, initialStates, load } from "@kiln-ml/runtime";
import { compile, exportArtifact, nn, optim, type Tensor, tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { labels, Net, rows } from "./net.ts";

const flat = (n: number) => ({ data: Float32Array.from(rows(n).flat()), shape: [n, 4] });

const devices = { js: createCpuDevice, wasm: createWasmDevice };

for (const target of ["js", "wasm"] as const) {
  const open = devices[target];
  test(`${target}: an inference artifact gives the same bits through the runtime alone`, async () => {
    const net = new Net();
    const predict = compile((x: Tensor) => net.forward(x).softmax(), {
      target,
      inputs: [["N", 4]],
    });
    const expected = await (await predict(flat(3))).data();
    const artifact = unpackArtifact(packArtifact(await predict.artifact()));
    const device = open();
    const run = await load(artifact, device, { states: initialStates(artifact, device) });
    const [y] = await run.run([flat(3)]);
    assert.equal(await y!.data(), expected);
  });

  test(`${target}: a training step runs from its artifact as it runs here`, async () => {
    const net = new Net();
    const opt = new optim.Adam(net.parameters(), { lr: 0.01 });
    const step = compile(
      (x: Tensor, y: Tensor) => {
        const loss = nn.crossEntropy(net.forward(x), y);
        opt.step(loss);
        return loss;
      },
      { target },
    );
    await step(rows(6), labels(6));
    const artifact = await step.artifact({ inputs: [["N", 4], { shape: ["N"], dtype: "i32" }] });
    const device = open();
    const run = await load(artifact, device, { states: initialStates(artifact, device) });
    for (let i = 0; i < 4; i++) {
      const [loss] = await run.run([flat(6), labels(6)]);
      assert.is(await loss!.item(), await (await step(rows(6), labels(6))).item());
    }
  });
}

/**
 * Steps of classifiers on n random rows: compiled for n rows, and from an artifact for any number
 * of them.
 */
async function losses(target: "js" | "wasm", n: number, seed: number): Promise<number[][]> {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return Math.fround(state / 2 ** 30);
  };
  const net = new Net();
  const opt = new optim.Adam(net.parameters(), { lr: 0.01 });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(net.forward(x), y);
      opt.step(loss);
      return loss;
    },
    { target },
  );
  const x = { data: Float32Array.from({ length: 4 * n }, random), shape: [n, 4] };
  await step(x, labels(n));
  const artifact = await step.artifact({ inputs: [["N", 4], { shape: ["N"], dtype: "i32" }] });
  const device = devices[target]();
  const run = await load(artifact, device, { states: initialStates(artifact, device) });
  const pairs: number[][] = [];
  for (let i = 0; i < 20; i++) {
    const [there] = await run.run([x, labels(n)]);
    pairs.push([await there!.item(), await (await step(x, labels(n))).item()]);
  }
  return pairs;
}

for (const target of ["js", "wasm"] as const)
  test(`${target}: a program has the same bits for a fixed extent as for any`, async () => {
    for (const n of [3, 6, 11])
      for (const seed of [1, 2, 3, 4, 5, 6]) {
        nn.seed(seed);
        for (const [there, here] of await losses(target, n, seed)) assert.is(there, here);
      }
  });

test("an artifact has the weights of now, not of the start", async () => {
  const net = new Net();
  const opt = new optim.SGD(net.parameters(), { lr: 0.5 });
  const step = compile((x: Tensor, y: Tensor) => opt.step(nn.crossEntropy(net.forward(x), y)));
  const forward = (x: Tensor) => net.forward(x);
  const before = await exportArtifact(forward, { inputs: [["N", 4]] });
  await step(rows(6), labels(6));
  const after = await exportArtifact(forward, { inputs: [["N", 4]] });
  assert.not.equal(after.weights["fc1.weight"]!.data, before.weights["fc1.weight"]!.data);
  const now = await net.fc1.weight.data();
  assert.equal(after.weights["fc1.weight"]!.data, new Uint8Array(now.buffer));
});

test("data that a function closes over goes along", async () => {
  const table = tensor([10, 20, 30]);
  const artifact = await exportArtifact((x: Tensor) => x.add(table), {
    target: "js",
    inputs: [[3]],
  });
  const device = createCpuDevice();
  const run = await load(artifact, device, { states: initialStates(artifact, device) });
  const [y] = await run.run([Float32Array.of(1, 2, 3)]);
  assert.equal([...(await y!.data())], [11, 22, 33]);
});

test("without weights the signature still says what states there are", async () => {
  const net = new Net();
  const artifact = await exportArtifact((x: Tensor) => net.forward(x), {
    inputs: [["N", 4]],
    weights: false,
    name: "net",
  });
  assert.equal(artifact.weights, {});
  assert.is(artifact.signature.states.length, 4);
  assert.is(artifact.name, "net");
});

test("an artifact for webgpu needs no adapter", async () => {
  const net = new Net();
  const artifact = await exportArtifact((x: Tensor) => net.forward(x), {
    inputs: [["N", 4]],
    target: "webgpu",
  });
  assert.is(artifact.target, "webgpu");
  assert.is(Object.keys(artifact.weights).length, 4);
});

test.run();
