/**
 * Artifacts whose module is compiled already, as runtimes at the edge give it: no bytes become
 * code.
 */
import { decodeArtifact, encodeArtifact } from "@kiln-ml/artifact";
import { createWasmDevice, load } from "@kiln-ml/runtime";
import { compile, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const twice = compile((x: Tensor) => x.mul(2), { inputs: [["N"]], target: "wasm" });
const files = encodeArtifact(await twice.artifact());
const module = new WebAssembly.Module(files.get("kernels.wasm")! as BufferSource);
const light = new Map([...files].filter(([name]) => !name.endsWith(".wasm")));

/** While `work` runs, the engine makes no code of bytes. */
async function withoutCode<T>(work: () => Promise<T>): Promise<T> {
  const { compile: before } = WebAssembly;
  WebAssembly.compile = () => Promise.reject(new Error("no code is made here"));
  try {
    return await work();
  } finally {
    WebAssembly.compile = before;
  }
}

test("a folder without its modules runs with the module that is given", async () => {
  const artifact = decodeArtifact(light, { modules: false });
  const device = createWasmDevice({ threads: 1 });
  const program = await withoutCode(() => load(artifact, device, { module }));
  const [y] = await program.run([Float32Array.of(1, 2, 3)]);
  assert.equal([...(await y!.data())], [2, 4, 6]);
  device.destroy();
});

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "nothing",
    (error: Error) => error.message,
  );

test("what is no module, several threads, and files that are wanted are refused", async () => {
  const artifact = decodeArtifact(light, { modules: false });
  const one = createWasmDevice({ threads: 1 });
  assert.is(
    await messageOf(load(artifact, one, { module: {} })),
    "load: module must be a WebAssembly.Module of the artifact's kernels.wasm",
  );
  assert.match(await messageOf(load(artifact, one)), /^load: the plain module was left out/);
  one.destroy();
  const two = createWasmDevice({ threads: 2 });
  assert.is(
    await messageOf(load(artifact, two, { module })),
    "load: a module that is compiled already runs on one thread\n  createWasmDevice({ threads: 1 })",
  );
  two.destroy();
  assert.throws(() => decodeArtifact(light), /kernels\.wasm: the file is missing/);
});

test.run();
