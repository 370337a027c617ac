/** State as bytes and files, moving it, and coming back from a lost device. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCpuDevice, createWasmDevice } from "@kiln-ml/runtime";
import {
  ArtifactError,
  compile,
  DeviceError,
  GraphError,
  loadState,
  loadWeights,
  nn,
  optim,
  param,
  restore,
  snapshot,
  stateBytes,
  type Tensor,
  to,
  useDevice,
} from "kiln-ml";
import { load, save } from "kiln-ml/node";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { labels, Net, onTarget, rejection, rows } from "./net.ts";

function trainer() {
  const net = new Net();
  const opt = new optim.Adam(net.parameters(), { lr: 0.05 });
  const step = compile((x: Tensor, y: Tensor) => {
    const loss = nn.crossEntropy(net.forward(x), y);
    opt.step(loss);
    return loss;
  });
  return { net, opt, next: async () => (await step(rows(6), labels(6))).item() };
}

test("a checkpoint of model and optimizer resumes to the bit", async () => {
  const a = trainer();
  for (let i = 0; i < 3; i++) await a.next();
  const bytes = await stateBytes({ net: a.net, opt: a.opt });
  const b = trainer();
  // The optimizer of b has made no moments yet.
  const report = await loadState({ net: b.net, opt: b.opt }, bytes);
  assert.is(report.applied.length, 4 + 1 + 4);
  for (let i = 0; i < 3; i++) assert.is(await b.next(), await a.next());
});

test("loading into a running function changes its next call and compiles nothing", async () => {
  const net = new Net();
  const predict = compile((x: Tensor) => net.forward(x));
  const first = await (await predict(rows(2))).data();
  const bytes = await stateBytes(net);
  const other = new Net();
  await loadState(net, await stateBytes(other));
  assert.not.equal(await (await predict(rows(2))).data(), first);
  await loadState(net, bytes);
  assert.equal(await (await predict(rows(2))).data(), first);
  assert.is(predict.compiles, 1);
});

test("strict loading refuses what does not fit and changes nothing", async () => {
  const net = new Net();
  const before = await net.fc1.weight.data();
  const bytes = await stateBytes({ "fc1.weight": net.fc2.weight, extra: net.fc1.bias as Tensor });
  const error = await rejection(loadState(net, bytes));
  assert.instance(error, GraphError);
  assert.is(
    error.message,
    "loadState: the file does not fit: missing fc1.bias, fc2.weight, fc2.bias; unused extra; mismatched fc1.weight: f32[3,6] in the file, f32[6,4] here\n  pass { strict: false } to load the rest",
  );
  assert.equal(await net.fc1.weight.data(), before);
});

test("loading that is not strict reports what it left out", async () => {
  const net = new Net();
  const other = new Net();
  const bytes = await stateBytes({ "fc1.weight": other.fc1.weight, extra: other.fc2.weight });
  const report = await loadState(net, bytes, { strict: false });
  assert.equal(report.applied, ["fc1.weight"]);
  assert.equal(report.missing, ["fc1.bias", "fc2.weight", "fc2.bias"]);
  assert.equal(report.unused, ["extra"]);
  assert.equal(await net.fc1.weight.data(), await other.fc1.weight.data());
});

test("what has no state, and tensors without shapes and bytes, are refused by name", async () => {
  const w = param([1, 2]);
  const wrong: [() => Promise<unknown>, string][] = [
    [
      () => snapshot(w as never),
      "state: takes modules, optimizers and tensors by name, got Tensor",
    ],
    [
      () => stateBytes({ net: { w, n: "abc" } } as never),
      'state: takes modules, optimizers and tensors by name, got "abc"',
    ],
    [
      () => loadWeights(new Net(), { weight: w } as never),
      "loadWeights: weight must be { dtype, shape, data }, got Tensor\n  for tensors there is net.load({ … })",
    ],
    [
      () => loadWeights(new Net(), null as never),
      "loadWeights: the file must be an object, got null",
    ],
  ];
  for (const [call, message] of wrong) {
    const error = await rejection(call());
    assert.instance(error, GraphError);
    assert.is(error.message, message);
  }
});

test("damaged bytes are an ArtifactError", async () => {
  const bytes = await stateBytes(new Net());
  assert.instance(await rejection(loadState(new Net(), bytes.subarray(0, 40))), ArtifactError);
});

test("files are written whole and read back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-state-"));
  try {
    const net = new Net();
    const path = join(folder, "net.safetensors");
    await save(path, net);
    await save(path, net);
    assert.equal(readdirSync(folder), ["net.safetensors"]);
    const other = new Net();
    await load(path, other);
    assert.equal(await other.fc2.weight.data(), await net.fc2.weight.data());
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("Module.load assigns, and the next call sees it", async () => {
  const net = new Net();
  const other = new Net();
  const predict = compile((x: Tensor) => net.forward(x));
  await predict(rows(2));
  net.load(other.weights);
  const expected = await compile((x: Tensor) => other.forward(x))(rows(2));
  assert.equal(await (await predict(rows(2))).data(), await expected.data());
});

test("a function follows its parameters to another device, moments along", async () => {
  const { net, next } = trainer();
  const losses = [await next(), await next()];
  const other = trainer();
  await loadState(other.net, await stateBytes(net));
  // Another device of the same target takes the place of the first.
  useDevice(createCpuDevice());
  await net.to("js");
  losses.push(await next(), await next());
  assert.ok(losses[3]! < losses[0]!, losses.join(" "));
});

test("a parameter elsewhere than an explicit target is refused with the remedy", async () => {
  const net = new Net();
  const opt = new optim.SGD(net.parameters(), { lr: 0.1 });
  const predict = compile((x: Tensor) => net.forward(x), { target: "js" });
  await compile((x: Tensor) => opt.step(net.forward(x).sum()), { target: "js" })(rows(1));
  useDevice(createCpuDevice());
  const error = await rejection(predict(rows(1)));
  assert.instance(error, DeviceError);
  assert.match(error.message, /^run: parameter weight|^run: parameter fc1.weight/);
  assert.match(error.message, '\n  move it first: await to(module, "js")');
  await to(net, "js");
  await predict(rows(1));
});

test("a parameter that was only read moves to where it is first used", async () => {
  const net = new Net();
  const before = await net.fc1.weight.data();
  useDevice(createCpuDevice());
  await compile((x: Tensor) => net.forward(x), { target: "js" })(rows(1));
  assert.equal(await net.fc1.weight.data(), before);
});

for (const target of ["js", "wasm"] as const)
  test(
    `${target}: a lost device is replaced from a snapshot, and training goes on`,
    onTarget(target, async () => {
      const session = useDevice(target === "js" ? createCpuDevice() : createWasmDevice());
      const { net, opt, next } = trainer();
      await next();
      await next();
      const saved = await snapshot({ net, opt });
      const expected = await next();
      session.device.destroy();
      assert.instance(await rejection(next()), DeviceError);
      await restore(saved);
      assert.is(await next(), expected);
    }),
  );

test.run();
