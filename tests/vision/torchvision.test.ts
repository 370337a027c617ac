/**
 * Models against torchvision's: names and shapes of all weights, counts of parameters, and scores with the same weights. The fixtures are
 * made by tests/fixtures/make-torchvision.py.
 */
import { readFileSync } from "node:fs";
import { fromPytorch, type Tensors } from "@kiln-ml/formats";
import { compile, loadWeights, nn, type Tensor } from "kiln-ml";
import * as vision from "kiln-ml/vision";
import { test } from "uvu";
import * as assert from "uvu/assert";

interface Reference {
  /** Name and shape of each entry of the state dict, in its order. */
  readonly keys: readonly string[];
  readonly size?: number;
  /** The first eight scores of the first image, and the last eight of the second. */
  readonly scores?: readonly number[];
}

const references: Readonly<Record<string, Reference>> = JSON.parse(
  readFileSync("tests/fixtures/vision/torchvision.json", "utf8"),
);

/** An even number in [0, 1): a hash of the place, which the fixture's maker computes too. */
function numberAt(seed: number, at: number): number {
  let x = (at + seed * 1000003) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x45d9f3b) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x45d9f3b) >>> 0;
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

const entryOf = (key: string): { readonly name: string; readonly shape: number[] } => {
  const [name, dims] = key.split(" ") as [string, string];
  return { name, shape: dims ? dims.split(",").map(Number) : [] };
};

/** The state dict with values of the size that keeps activations within bounds. */
function stateDict({ keys }: Reference): Tensors {
  const entries = keys.map((key, at) => {
    const { name, shape } = entryOf(key);
    const count = shape.reduce((a, b) => a * b, 1);
    const isGain = /running_var$/.test(name) || (shape.length === 1 && /weight$/.test(name));
    const isKernel = shape.length > 1 && /weight$/.test(name);
    const bound = Math.sqrt((6 * shape[0]!) / count);
    const [scale, shift] = isGain ? [1, 0.5] : isKernel ? [2 * bound, -bound] : [0.2, -0.1];
    const values = new Float32Array(count);
    // Millions of them: a loop, not a function a value.
    for (let i = 0; i < count; i++) values[i] = scale * numberAt(at, i) + shift;
    const data = new Uint8Array(values.buffer);
    return [name, { dtype: "f32", shape, data }] as const;
  });
  return Object.fromEntries(entries);
}

const counts = {
  resnet18: 11_689_512,
  resnet34: 21_797_672,
  resnet50: 25_557_032,
  mobilenet_v3_large: 5_483_032,
  mobilenet_v3_small: 2_542_856,
  efficientnet_b0: 5_288_548,
};
const small = { patch: 8, layers: 2, heads: 4, width: 64, hidden: 128 };
const models: Readonly<Record<string, () => vision.VisionModel>> = {
  ...Object.fromEntries(Object.keys(counts).map((name) => [name, () => vision.model(name)])),
  googlenet: () => vision.googlenet({ aux: true, transformInput: true }),
  vit_small: () => new vision.VisionTransformer(small, { imageSize: 32 }),
};

const trained = (net: vision.VisionModel): number =>
  net.parameters().reduce((sum, t) => sum + (t.shape as number[]).reduce((a, b) => a * b, 1), 0);

for (const [name, make] of Object.entries(models))
  test(`${name} takes torchvision's state dict, and gives its scores`, async () => {
    const reference = references[name]!;
    const net = nn.skipInit(make);
    if (name in counts) assert.is(trained(net), counts[name as keyof typeof counts]);
    const state = stateDict(reference);
    const report = await loadWeights(net, state, { names: "pytorch" });
    assert.is(report.applied.length, Object.keys(fromPytorch(state)).length);
    net.eval();
    const size = reference.size!;
    const pixels = Float32Array.from(
      { length: 6 * size * size },
      (_, i) => 2 * numberAt(999, i) - 1,
    );
    const run = compile((x: Tensor) => net.forward(x), { target: "wasm" });
    const y = await (await run({ data: pixels, shape: [2, 3, size, size] })).data();
    const found = [...y.slice(0, 8), ...y.slice(-8)];
    const scale = Math.max(...reference.scores!.map(Math.abs));
    for (const [i, expected] of reference.scores!.entries())
      assert.ok(Math.abs(found[i]! - expected) < 2e-4 * scale, `${i}: ${found[i]}, ${expected}`);
  });

test("googlenet has torchvision's parameters with and without its other classifiers", () => {
  assert.is(trained(nn.skipInit(() => vision.googlenet())), 6_624_904);
  const all = nn.skipInit(() => vision.googlenet({ aux: true }));
  assert.is(trained(all), 13_004_888);
});

test("vit_b_16 has torchvision's names and shapes", () => {
  const net = nn.skipInit(() => vision.vitB16());
  assert.is(trained(net), 86_567_656);
  const none = references.vit_b_16!.keys.map((key) => {
    const { name, shape } = entryOf(key);
    return [name, { dtype: "f32" as const, shape, data: new Uint8Array(0) }] as const;
  });
  const told = Object.entries(fromPytorch(Object.fromEntries(none)));
  const own = [...net.state()].filter(([, t]) => t.dtype === "f32");
  const text = (list: readonly (readonly [string, { readonly shape: readonly unknown[] }])[]) =>
    list.map(([name, { shape }]) => `${name} [${shape}]`).sort();
  assert.equal(text(own), text(told));
});

test.run();
