/** Weights by other names come into modules: renamed, split, converted, in part, and with a report of each. */
import {
  fromPytorch,
  readTensors,
  remapTensors,
  writeNpz,
  writeSafetensors,
} from "@kiln-ml/formats";
import { GraphError, loadState, loadWeights, nn, stateBytes, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { constant, fixture, numbersOf } from "./read.ts";

class Net extends nn.Module {
  conv = new nn.Conv2d(1, 2, 3);
  norm = new nn.BatchNorm2d(2);
  out = new nn.Linear(8, 3);
  override forward(x: Tensor): Tensor {
    return this.out.forward(this.norm.forward(this.conv.forward(x)).reshape([-1, 8]));
  }
}

/** The fixture's model is a Sequential: convolution, normalisation, flattening, a matrix. */
const byPlace = [
  [/^0\./, "conv."],
  [/^1\./, "norm."],
  [/^3\./, "out."],
] as const;

async function message(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => assert.unreachable("nothing was thrown") as never,
    (error: Error) => `${error.name}: ${error.message}`,
  );
}

test("a PyTorch file loads into a module of other names", async () => {
  for (const name of ["state-dict.pt", "state-dict.legacy.pt"]) {
    const net = new Net();
    const report = await loadWeights(net, fixture(name), { remap: byPlace });
    assert.equal(report, {
      applied: [
        "conv.weight",
        "conv.bias",
        "norm.weight",
        "norm.bias",
        "norm.runningMean",
        "norm.runningVar",
        "out.weight",
        "out.bias",
      ],
      missing: [],
      unused: [],
      mismatched: [],
    });
    assert.equal([...(await net.norm.runningMean!.data())], [0.25, 0.25]);
  }
});

test("a whole pickled module loads where unknown names are skipped", async () => {
  const net = new nn.Sequential([
    new nn.Conv2d(1, 2, 3),
    new nn.BatchNorm2d(2),
    new nn.Flatten(),
    new nn.Linear(8, 3),
  ]);
  const report = await loadWeights(net, fixture("module.pt"), { unknown: "skip" });
  assert.is(report.applied.length, 8);
});

test("what does not fit is reported, and refused if strict", async () => {
  const net = new nn.Linear(2, 3);
  const bytes = writeNpz({
    weight: constant("f32", [2, 3], [1, 2, 3, 4, 5, 6]),
    scale: constant("f32", [1], [1]),
  });
  assert.equal(await loadWeights(net, bytes, { strict: false }), {
    applied: [],
    missing: ["bias"],
    unused: ["scale"],
    mismatched: ["weight: f32[2,3] in the file, f32[3,2] here"],
  });
  assert.is(
    await message(loadWeights(net, bytes)),
    "GraphError: loadWeights: the file does not fit: missing bias; unused scale; mismatched weight: f32[2,3] in the file, f32[3,2] here\n  pass { strict: false } to load the rest",
  );
});

test("a part of a model loads, and the rest stays", async () => {
  const [net, other] = [new Net(), new Net()];
  const before = await net.out.weight.data();
  const tensors = remapTensors(readTensors(await stateBytes(other)).tensors, [[/^out\./, null]]);
  const report = await loadWeights(net, tensors, { strict: false });
  assert.equal(report.missing, ["out.weight", "out.bias"]);
  assert.equal(await net.conv.weight.data(), await other.conv.weight.data());
  assert.equal(await net.out.weight.data(), before);
});

test("floats of another width are converted if asked for", async () => {
  const net = new nn.Linear(2, 1, { bias: false });
  const tensors = { weight: constant("bf16", [1, 2], [0.5, -3]) };
  const report = await loadWeights(net, tensors, { strict: false });
  assert.equal(report.mismatched, ["weight: bf16[1,2] in the file, f32[1,2] here"]);
  await loadWeights(net, tensors, { convert: true });
  assert.equal([...(await net.weight.data())], [0.5, -3]);
  const ints = { weight: constant("i32", [1, 2], [1, 2]) };
  assert.match(await message(loadWeights(net, ints, { convert: true })), /mismatched weight: i32/);
});

test("loadState renames too", async () => {
  const net = new nn.Linear(2, 1);
  const bytes = writeSafetensors({
    "fc.w": constant("f32", [1, 2], [1, 2]),
    "fc.b": constant("f32", [1], [3]),
  });
  await loadState(net, bytes, {
    remap: [
      ["fc.", ""],
      [/^w$/, "weight"],
      [/^b$/, "bias"],
    ],
  });
  assert.equal([...(await net.bias!.data())], [3]);
});

test("rules apply in turn, and two names that become one are refused", () => {
  const t = constant("f32", [], [0]);
  const rules = [
    [/^layers\.(\d+)\./, "blocks.$1."],
    ["blocks.0.", "first."],
    [/\.skip$/, null],
  ] as const;
  assert.equal(
    Object.keys(remapTensors({ "layers.0.w": t, "layers.1.w": t, "a.skip": t }, rules)),
    ["first.w", "blocks.1.w"],
  );
  assert.throws(
    () => remapTensors({ "a.w": t, "b.w": t }, [[/^[ab]\./, ""]]),
    (e: Error) => e instanceof GraphError && e.message === 'remap: "a.w" and "b.w" both become "w"',
  );
});

test("PyTorch's attention comes apart into query, key and value", async () => {
  const rows = Array.from({ length: 12 }, (_, i) => i);
  const tensors = fromPytorch({
    "module.self_attn.in_proj_weight": constant("f32", [6, 2], rows),
    "module.self_attn.in_proj_bias": constant("f32", [6], rows.slice(6)),
    "module.self_attn.out_proj.weight": constant("f32", [2, 2], [1, 0, 0, 1]),
    "module.self_attn.out_proj.bias": constant("f32", [2], [0, 0]),
  });
  assert.equal(numbersOf(tensors["self_attn.key.weight"]!), [4, 5, 6, 7]);
  assert.equal(numbersOf(tensors["self_attn.value.bias"]!), [10, 11]);
  const net = new nn.MultiHeadAttention(2, 1);
  const report = await loadWeights(net, tensors, { remap: [["self_attn.", ""]] });
  assert.is(report.applied.length, 8);
});

test.run();
