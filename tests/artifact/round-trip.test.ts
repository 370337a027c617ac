/** What is encoded comes back equal, in both forms, and the kernels run. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type Artifact,
  type Constant,
  decodeArtifact,
  encodeArtifact,
  filesOf,
  kernelModule,
  packArtifact,
  unpackArtifact,
  unpackFiles,
} from "../../packages/artifact/src/index.ts";
import { runs } from "../support/setup.ts";
import { anyArtifact } from "./arbitrary.ts";
import { refusal, sample, wasmSample } from "./sample.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

test("the folder form decodes to the artifact", () => {
  const files = encodeArtifact(sample);
  assert.equal(
    [...files.keys()],
    ["manifest.json", "kernels.js", "constants.safetensors", "weights.safetensors"],
  );
  assert.equal(decodeArtifact(files), sample);
});

test("the one-file form decodes to the artifact", () => {
  assert.equal(unpackArtifact(packArtifact(sample)), sample);
});

test("any artifact survives both forms", () => {
  fc.assert(
    fc.property(anyArtifact, (a: Artifact) => {
      assert.equal(decodeArtifact(encodeArtifact(a)), a);
      assert.equal(unpackArtifact(packArtifact(a)), a);
    }),
    { numRuns: runs(100) },
  );
});

test("the manifest is JSON with one step a line and the checksum last", () => {
  const text = new TextDecoder().decode(encodeArtifact(sample).get("manifest.json"));
  assert.match(text, /^\{"kernel":1,"args":\[.*\}$/m);
  assert.match(text, /,\n"crc32": "[0-9a-f]{8}"\n\}\n$/);
});

test("filesOf lists what a loader fetches", () => {
  const files = encodeArtifact(sample);
  const listed = filesOf(files.get("manifest.json")!);
  for (const f of listed) assert.is(files.get(f.name)!.length, f.bytes);
  assert.is(listed.length, 3);
});

test("kernels.js is an ES module that exports each kernel", async () => {
  const url = `data:text/javascript,${encodeURIComponent(kernelModule(sample.kernels))}`;
  const module = (await import(url)) as Record<string, (...args: unknown[]) => void>;
  assert.equal(Object.keys(module), ["scale", "shift"]);
  const [t, y, runs] = [new Float32Array(2), new Float32Array(2), new Int32Array(1)];
  module.scale!([5, 7], [2, 3], t, 1);
  module.shift!(t, [1], y, runs, 1);
  assert.equal([...y, ...runs], [11, 22, 1]);
});

test("tensors of an archive are views, aligned to their elements", () => {
  const bytes = packArtifact(sample);
  const { weights } = unpackArtifact(bytes);
  assert.is(weights.w!.data.buffer, bytes.buffer);
  for (const file of unpackFiles(bytes).values()) assert.is(file.byteOffset % 64, 0);
  const moved = new Uint8Array(bytes.length + 1);
  moved.set(bytes, 1);
  const { w } = unpackArtifact(moved.subarray(1)).weights as { w: Constant };
  assert.is(w.data.byteOffset % 4, 0);
  assert.equal(w, sample.weights.w);
});

test("webgpu kernels are one WGSL file each", () => {
  const wgsl: Artifact = {
    ...sample,
    target: "webgpu",
    kernels: sample.kernels.map((k) => ({ ...k, text: `// ${k.name}\n`, workgroups: ["N", 1, 1] })),
    limits: { maxBufferSize: 268435456 },
    features: ["shader-f16"],
  };
  const files = encodeArtifact(wgsl);
  assert.equal(files.get("kernels/scale.wgsl"), bytesOf("// scale\n"));
  assert.equal(decodeArtifact(files), wgsl);
});

test("wasm kernels are two modules, without texts", () => {
  const named = wasmSample.kernels.map((k) => ({ ...k, text: `(func $${k.name})` }));
  const files = encodeArtifact({ ...wasmSample, kernels: named });
  assert.equal([...files.keys()].slice(0, 3), [
    "manifest.json",
    "kernels.wasm",
    "kernels-relaxed.wasm",
  ]);
  assert.equal(files.get("kernels.wasm"), wasmSample.modules!.plain);
  assert.equal(files.get("kernels-relaxed.wasm"), wasmSample.modules!.relaxed);
  assert.equal(decodeArtifact(files), wasmSample);
  assert.equal(unpackArtifact(packArtifact(wasmSample)), wasmSample);
});

test("encoding refuses what decoding would refuse", () => {
  const renamed = { ...sample.kernels[0]!, name: "other" };
  assert.is(
    refusal(() => encodeArtifact({ ...sample, kernels: [renamed, sample.kernels[1]!] })),
    "kernels.js: the text of kernel other does not begin with function other(",
  );
  const half = { ...sample.kernels[0]!, text: "function scale() { return '\ud800' }" };
  assert.is(
    refusal(() => encodeArtifact({ ...sample, kernels: [half, sample.kernels[1]!] })),
    "kernels.js: the text of kernel scale has half a surrogate pair",
  );
  assert.is(
    refusal(() => encodeArtifact({ ...sample, weights: { z: sample.weights.w! } })),
    'manifest.json: signature.states has no "z", for which there are weights',
  );
  assert.match(
    refusal(() => encodeArtifact({ ...sample, version: 2 })),
    /^manifest\.json: version 2 was found, this reader needs version 1\n/,
  );
  const short = { ...sample.weights.w!, data: new Uint8Array(4) };
  assert.is(
    refusal(() => encodeArtifact({ ...sample, weights: { w: short } })),
    'writeSafetensors: tensor "w": f32[2] takes 8 bytes, its data have 4',
  );
});

test.run();
