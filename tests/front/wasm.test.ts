/** The front door on wasm: named, chosen by "auto", with threads, and missing. */
import { spawnSync } from "node:child_process";
import { createWasmDevice } from "@kiln-ml/runtime";
import { build } from "esbuild";
import { compile, GraphError, nn, optim, setThreads, type Tensor, to, useDevice } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { storedOf } from "../../packages/kiln/src/devices/storage.ts";
import { engineLacks } from "../../packages/kiln/src/devices/wasm-support.ts";
import { labels, Net, rows } from "./net.ts";

const close = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-5, `${a} and ${b}`);
/** The target that a value lives on. */
const targetOf = (t: Tensor) => storedOf(t)?.session.target;

function trainer(target?: "js" | "wasm") {
  nn.seed(5);
  const net = new Net();
  const opt = new optim.Adam(net.parameters(), { lr: 0.05 });
  const step = compile(
    (x: Tensor, y: Tensor) => {
      const loss = nn.crossEntropy(net.forward(x), y);
      opt.step(loss);
      return loss;
    },
    target ? { target } : {},
  );
  return { net, opt, step, next: async (n = 6) => (await step(rows(n), labels(n))).item() };
}

/** Runs a script in a process of its own, as one file, because loaders of modules are WebAssembly themselves. */
async function runAlone(contents: string) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    conditions: ["@kiln-ml/source"],
  });
  const input = outputFiles[0]!.text;
  return spawnSync(process.execPath, ["--input-type=module"], { encoding: "utf8", input });
}

test("threads are a positive number or auto, and fixed once the device is open", async () => {
  for (const bad of [0, -1, 1.5, Number.NaN, "two", null])
    assert.throws(
      () => setThreads(bad as number),
      (e: Error) =>
        e instanceof GraphError &&
        /^setThreads: takes a positive integer or "auto"/.test(e.message),
    );
  const { stdout, stderr } = await runAlone(`
    import { compile, setThreads } from "kiln-ml";
    const f = compile((x) => x.mul(2), { target: "wasm", threads: 2 });
    console.log((await (await f([1, 2, 3])).data()).join());
    setThreads(2);
    try { compile((x) => x, { threads: 1 }); } catch (e) { console.log(e.name + ": " + e.message); }`);
  const hint = "call it before anything runs, or useDevice(createWasmDevice({ threads: 1 }))";
  assert.is(
    stdout,
    `2,4,6\nGraphError: setThreads: the wasm device is open with 2 threads, 1 were asked for\n  ${hint}\n`,
    stderr,
  );
});

test("a network trains on wasm as on js, and its results live there", async () => {
  const [a, b] = [trainer("wasm"), trainer("js")];
  for (let i = 0; i < 4; i++) close(await a.next(), await b.next());
  assert.is(targetOf(await a.step(rows(6), labels(6))), "wasm");
});

test("a model moves to wasm and back, and functions follow", async () => {
  const { net, opt, step, next } = trainer();
  const other = trainer("js");
  for (const target of ["js", "wasm", "js"] as const) {
    await to({ net, opt }, target);
    close(await next(), await other.next());
    assert.is(targetOf(await compile((x: Tensor) => net.forward(x))(rows(2))), target);
  }
  assert.is(step.compiles, 3);
});

const wide = (n: number) => ({ data: new Float32Array(n * 256).fill(0.5), shape: [n, 256] });

test("auto runs a tiny program on js and a larger one on wasm", async () => {
  const double = compile((x: Tensor) => x.mul(2));
  assert.is(targetOf(await double([1, 2])), "js");
  const square = compile((x: Tensor) => x.matmul(x.transpose()));
  const y = await square(wide(64));
  assert.is(targetOf(y), "wasm");
  assert.is((await y.data())[0], 64);
  assert.is(square.compiles, 1);
});

test("eager reads are placed too, and mix values of both targets", async () => {
  const { tensor } = await import("kiln-ml");
  const small = tensor([1, 2, 3]).mul(2);
  assert.equal([...(await small.data())], [2, 4, 6]);
  assert.is(targetOf(small), "js");
  const x = tensor(new Float32Array(65536).fill(1 / 16)).reshape([256, 256]);
  const large = x.matmul(x);
  assert.is((await large.data())[0], 1);
  assert.is(targetOf(large), "wasm");
  const mixed = large.sum().add(small.sum());
  assert.is(await mixed.item(), 65536 + 12);
});

test("f16 and bf16 run where auto puts them, eager and compiled, as bits", async () => {
  const { tensor } = await import("kiln-ml");
  const x = tensor([1, 2.5], { dtype: "f16" });
  assert.equal(await x.mul(2).data(), Uint16Array.of(0x4000, 0x4500));
  const widened = compile((y: Tensor) => y.convert("f32").add(1));
  assert.equal(
    await (await widened(tensor([1, -3], { dtype: "bf16" }))).data(),
    Float32Array.of(2, -2),
  );
});

test("what auto placed moves once, to the faster target that a larger program asks for", async () => {
  const w = new nn.Linear(256, 64);
  const forward = compile((x: Tensor) => w.forward(x));
  const few = compile((x: Tensor) => w.bias!.mul(x.sum()));
  await few([1, 2]);
  assert.is(targetOf(w.bias!), "js");
  await forward(wide(128));
  assert.is(targetOf(w.bias!), "wasm");
  await few([1, 2]);
  assert.is(targetOf(w.bias!), "wasm");
  assert.equal([few.compiles, forward.compiles], [2, 1]);
});

test("what a program or a move named stays", async () => {
  const [moved, used] = [new nn.Linear(256, 64), new nn.Linear(256, 64)];
  await to(moved, "js");
  const read = compile((x: Tensor) => used.forward(x), { target: "js" });
  await read(wide(1));
  for (const layer of [moved, used]) {
    await compile((x: Tensor) => layer.forward(x))(wide(128));
    assert.is(targetOf(layer.weight), "js");
  }
});

test("a device opened by hand takes over, and a lost one is replaced", async () => {
  const { device } = useDevice(createWasmDevice({ threads: 1 }));
  const f = compile((x: Tensor) => x.matmul(x.transpose()));
  assert.is((await (await f(wide(64))).data())[0], 64);
  device.destroy();
  await device.lost;
  assert.is((await (await f(wide(64))).data())[0], 64);
  const g = compile((x: Tensor) => x.add(1), { target: "wasm" });
  const { device: second } = useDevice(createWasmDevice({ threads: 1 }));
  await g([1]);
  second.destroy();
  assert.equal([...(await (await g([1])).data())], [2]);
});

test("the artifact of a wasm function has modules, for whichever session", async () => {
  const f = compile((x: Tensor) => x.mul(2).sum(1), { target: "js", inputs: [["N", 4]] });
  const { modules, target } = await f.artifact({ target: "wasm" });
  assert.is(target, "wasm");
  for (const bytes of Object.values(modules!)) assert.ok(WebAssembly.validate(bytes));
});

test("an engine lacks WebAssembly, SIMD, or the page's leave", () => {
  assert.is(engineLacks(globalThis), undefined);
  assert.is(engineLacks({}), "this engine has no WebAssembly");
  const { Module } = WebAssembly;
  const old = { WebAssembly: { Module, validate: () => false } };
  assert.is(engineLacks(old), "this engine's WebAssembly has no SIMD");
  class Forbidden {
    constructor() {
      throw new WebAssembly.CompileError("disallowed by embedder");
    }
  }
  const strict = { WebAssembly: { Module: Forbidden, validate: () => true } };
  assert.is(engineLacks(strict), "this page's policy forbids WebAssembly");
});

test("without WebAssembly, auto runs on js and the target wasm is a DeviceError", async () => {
  const { stdout, stderr } = await runAlone(`
    import { compile } from "kiln-ml";
    delete globalThis.WebAssembly;
    const f = (x) => x.matmul(x.transpose());
    const x = { data: new Float32Array(64 * 256).fill(0.5), shape: [64, 256] };
    console.log((await (await compile(f)(x)).data())[0]);
    await compile(f, { target: "wasm" })(x).catch((e) => console.log(e.name + ": " + e.message));`);
  assert.is(
    stdout,
    '64\nDeviceError: wasm: this engine has no WebAssembly\n  use the target js, or "auto"\n',
    stderr,
  );
});

test.run();
