/**
 * Loops that do not end, on every target: a signal ends a run and a bound on trips does, meanwhile others have their turn, and
 * the states are as they were before. And what is refused of artifacts that are not trusted.
 */
import type { Artifact, Flow } from "@kiln-ml/artifact";
import { constant, input, param, scan, type Tensor, whileLoop } from "@kiln-ml/ir";
import { createCpuDevice, createWasmDevice, type Device, load, openWebGpu } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import type { Program } from "../../compiler/src/program.ts";
import { nameOfVariant, variants, wasmDevice } from "../support/wasm.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";
import { artifact, place } from "./artifacts.ts";

const x = input("x", "f32", [4]);
const w = param([1, 2, 3, 4], { name: "w" });

/** w takes what a loop makes of it, while `x` is positive: for ever, or never. */
function endless(): Program {
  const [last] = whileLoop(
    [w as Tensor, x],
    (_, y) => y!.sum().greater(0),
    (v, y) => [v!.mul(1.5).sin(), y!],
  );
  return { inputs: [x], outputs: [{ name: "y", value: last!.add(0) }], updates: [[w, last!]] };
}

/** A loop whose trips are counted, so many that nobody waits for its end. */
function counted(length: number): Program {
  const { carry } = scan(
    [w as Tensor],
    [],
    ([v], _x, i) => ({ carry: [v!.mul(0.5).add(i.mul(0).convert("f32")).add(x)], ys: [] }),
    { length },
  );
  return { inputs: [x], outputs: [{ name: "y", value: carry[0]! }], updates: [[w, carry[0]!]] };
}

const ones = Float32Array.of(1, 1, 1, 1);
const zeros = new Float32Array(4);

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.unreachable("the run ended by itself") as never,
    (error: unknown) => error,
  );
}

async function loaded(device: Device, program: Program) {
  const { artifact: made } = compileProgram(program, { target: device.target });
  const state = device.upload([1, 2, 3, 4], "f32", [4]);
  return { exe: await load(made, device, { states: [state] }), state };
}

const bound = (n: number) =>
  `run: the loops make more trips than maxTrips, which is ${n}\n  pass a larger maxTrips, or bound the loop itself: whileLoop(…, { maxTrips })`;

async function checkLimits(device: Device): Promise<void> {
  for (const program of [endless(), counted(2 ** 40)]) {
    const { exe, state } = await loaded(device, program);
    const values = async () => [...(await state.data())];

    const ended = new AbortController();
    ended.abort(new Error("enough"));
    assert.is(
      ((await rejection(exe.run([ones], { signal: ended.signal }))) as Error).message,
      "enough",
    );

    // The timer that aborts fires only if the run lets it.
    const own = new AbortController();
    setTimeout(() => own.abort(), 60);
    const running = exe.run([ones], { signal: own.signal });
    const later = exe.run([ones], { maxTrips: 40 });
    assert.is(((await rejection(running)) as Error).name, "AbortError");
    const error = (await rejection(later)) as Error;
    assert.is(error.name, "GraphError");
    assert.is(error.message, bound(40));
    assert.equal(await values(), [1, 2, 3, 4]);
    exe.dispose();
  }

  // What ends within its limits does what it does without them.
  const { exe, state } = await loaded(device, counted(10));
  const { signal } = new AbortController();
  for (const options of [{ maxTrips: 10, signal }, undefined, { maxTrips: 10 }, { signal }]) {
    state.write([1, 2, 3, 4]);
    const [y] = await exe.run([ones], options);
    assert.equal([...(await y!.data())], [...(await state.data())]);
    assert.ok(Math.abs(Number((await y!.data())[0]) - 2) < 0.01);
    const before = [...(await state.data())];
    assert.is(((await rejection(exe.run([ones], { maxTrips: 9 }))) as Error).message, bound(9));
    assert.equal([...(await state.data())], before);
    y!.dispose();
  }
  exe.dispose();
  const stops = await loaded(device, endless());
  const [y] = await stops.exe.run([zeros], { maxTrips: 0 });
  assert.equal([...(await y!.data())], [1, 2, 3, 4]);
}

test("js: endless loops end when they are told, and hold nobody meanwhile", () =>
  checkLimits(createCpuDevice({ poison: true })));
for (const variant of variants)
  test(`wasm: endless loops end when they are told, ${nameOfVariant(variant)}`, async () => {
    await checkLimits(wasmDevice(variant));
  });
gpuTest("webgpu: endless loops end when they are told", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  await checkLimits(device);
  device.destroy();
});

/** Loops of an artifact that no compiler made, around nothing. */
const hollow = (flow: Flow): Artifact => {
  const { kernels, signature, plan } = artifact({
    signature: {
      dims: [],
      inputs: [{ name: "on", dtype: "bool", shape: [] }],
      outputs: [],
      states: [],
    },
  });
  return artifact({ kernels, signature, plan: { ...plan, flow: [flow] } });
};

test("loops around nothing end too", async () => {
  const device = createCpuDevice();
  const deep = (depth: number): Flow =>
    depth === 0
      ? { loop: { dim: "i", trips: 2 ** 53 - 1 }, body: [] }
      : { loop: { dim: `i${depth}`, trips: 2 ** 53 - 1 }, body: [deep(depth - 1)] };
  const flag = place("input");
  const flows: Flow[] = [deep(0), deep(8), { while: { test: [], flag }, body: [] }];
  for (const flow of flows) {
    const exe = await load(hollow(flow), device);
    const on = device.upload(Uint8Array.of(1), "bool", []);
    const error = await rejection(exe.run([on], { signal: AbortSignal.timeout(40) }));
    assert.is((error as Error).name, "TimeoutError");
    assert.is(((await rejection(exe.run([on], { maxTrips: 1e6 }))) as Error).message, bound(1e6));
  }
});

test("a device that is destroyed ends the run that goes on", async () => {
  for (const device of [createCpuDevice(), createWasmDevice({ threads: 1 })]) {
    const { exe } = await loaded(device, endless());
    const running = exe.run([ones]);
    setTimeout(() => device.destroy(), 40);
    assert.match(
      ((await rejection(running)) as Error).message,
      "run: the device was destroyed\n  open a device again, and load the artifact on it",
    );
  }
});

test("reads and writes of a state come in their turn while a loop runs", async () => {
  const device = createCpuDevice();
  const { exe, state } = await loaded(device, endless());
  const own = new AbortController();
  setTimeout(() => own.abort(), 40);
  const running = exe.run([ones], { signal: own.signal });
  const before = state.data();
  state.write([5, 6, 7, 8]);
  await rejection(running);
  assert.equal([...(await before)], [1, 2, 3, 4]);
  assert.equal([...(await state.data())], [5, 6, 7, 8]);
});

test("a bound that is none is refused", async () => {
  const { exe } = await loaded(createCpuDevice(), counted(2));
  for (const maxTrips of [-1, Number.NaN])
    assert.is(
      ((await rejection(exe.run([ones], { maxTrips }))) as Error).message,
      `run: maxTrips must be a number of 0 or more, got ${maxTrips}\n  leave it out for no bound`,
    );
});

test("kernels in JavaScript are refused where scripts are, those of wasm are not", async () => {
  const program: Program = {
    inputs: [x],
    outputs: [{ name: "y", value: x.add(constant(1, "f32")) }],
    updates: [],
  };
  const js = compileProgram(program, { target: "js", name: "f" }).artifact;
  const device = createCpuDevice();
  const error = (await rejection(load(js, device, { scripts: false }))) as Error;
  assert.is(error.name, "ArtifactError");
  assert.is(
    error.message,
    "load: f has kernels in JavaScript, which scripts: false refuses\n  compile it for wasm or webgpu, or load it in a worker that may do no harm",
  );
  const kernels = await import(
    `data:text/javascript,${encodeURIComponent(js.kernels.map((k) => `export ${k.text}`).join("\n"))}`
  );
  assert.instance(await rejection(load(js, device, { scripts: false, kernels })), Error);
  const wasm = compileProgram(program, { target: "wasm" }).artifact;
  const exe = await load(wasm, wasmDevice(variants[0]!), { scripts: false });
  assert.equal([...(await (await exe.run([zeros]))[0]!.data())], [1, 1, 1, 1]);
  assert.ok(await load(js, device));
});

test.run();
