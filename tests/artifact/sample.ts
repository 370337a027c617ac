/**
 * A small artifact for the codec's tests, ways to damage it, and an arbitrary of others. No tests here.
 */
import * as assert from "uvu/assert";
import { type Artifact, ArtifactError, encodeArtifact } from "../../packages/artifact/src/index.ts";
import { printManifest } from "../../packages/artifact/src/manifest.ts";

/** y = x·w + 1 over [N,2], counting its runs. */
export const sample: Artifact = {
  version: 1,
  target: "js",
  name: "sample",
  signature: {
    dims: [{ name: "N", min: 1, max: null }],
    inputs: [{ name: "x", dtype: "f32", shape: ["N", 2] }],
    outputs: [{ name: "y", dtype: "f32", shape: ["N", 2] }],
    states: [
      { name: "w", dtype: "f32", shape: [2], trainable: true, written: false },
      { name: "runs", dtype: "i32", shape: [], trainable: false, written: true },
    ],
  },
  kernels: [
    {
      name: "scale",
      text: "function scale(x, w, y, N) {\n  // x·w\n  for (let i = 0; i < 2 * N; i++) y[i] = x[i] * w[i % 2];\n}",
      bindings: [
        { name: "x", dtype: "f32", access: "read" },
        { name: "w", dtype: "f32", access: "read" },
        { name: "y", dtype: "f32", access: "write" },
      ],
      dims: ["N"],
    },
    {
      name: "shift",
      text: "function shift(t, one, y, runs, N) {\n  for (let i = 0; i < 2 * N; i++) y[i] = t[i] + one[0];\n  runs[0]++;\n}",
      bindings: [
        { name: "t", dtype: "f32", access: "read" },
        { name: "one", dtype: "f32", access: "read" },
        { name: "y", dtype: "f32", access: "write" },
        { name: "runs", dtype: "i32", access: "readwrite" },
      ],
      dims: ["N"],
    },
  ],
  plan: {
    slots: [{ sizes: [["*", "N", 8]] }],
    steps: [
      {
        kernel: 0,
        args: [
          { in: "input", index: 0 },
          { in: "state", index: 0 },
          { in: "slot", index: 0 },
        ],
        bytes: ["*", "N", 24],
        flops: ["*", "N", 2],
      },
      {
        kernel: 1,
        args: [
          { in: "slot", index: 0 },
          { in: "constant", index: 0 },
          { in: "output", index: 0 },
          { in: "state", index: 1 },
        ],
        bytes: ["*", "N", 16],
        flops: ["*", "N", 2],
      },
    ],
    copies: [],
  },
  constants: [{ dtype: "f32", shape: [], data: new Uint8Array([0, 0, 128, 63]) }],
  weights: {
    w: { dtype: "f32", shape: [2], data: new Uint8Array([0, 0, 0, 64, 0, 0, 64, 64]) },
    runs: { dtype: "i32", shape: [], data: new Uint8Array(4) },
  },
  limits: {},
  features: [],
};

/** A module with nothing but a custom section, named by one letter. */
const moduleNamed = (letter: string): Uint8Array =>
  new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 0, 2, 1, letter.charCodeAt(0)]);

/** The sample for wasm, as it comes back from files: the texts are not in them. */
export const wasmSample: Artifact = {
  ...sample,
  target: "wasm",
  kernels: sample.kernels.map((k) => ({
    ...k,
    text: "",
    phases: [
      { entry: `${k.name}.pack`, units: 1 },
      { entry: `${k.name}.tiles`, units: ["/", ["+", "N", 3], 4] },
    ],
    stack: ["*", "N", 16],
  })),
  modules: { plain: moduleNamed("p"), relaxed: moduleNamed("r") },
};

/** The files of `a` with the manifest changed by `edit` and sealed again, as an attacker would. */
export function forge(
  edit: (manifest: unknown) => void,
  a: Artifact = sample,
): Map<string, Uint8Array> {
  const files = encodeArtifact(a);
  const manifest: Record<string, unknown> = JSON.parse(
    new TextDecoder().decode(files.get("manifest.json")),
  );
  delete manifest.crc32;
  edit(manifest);
  return files.set("manifest.json", printManifest(manifest));
}

/** The message of the ArtifactError that `f` must throw. */
export function refusal(f: () => unknown): string {
  try {
    f();
  } catch (error) {
    assert.instance(error, ArtifactError, String(error));
    return (error as ArtifactError).message;
  }
  return assert.unreachable("nothing was thrown") as never;
}

/** Runs `f`; true if it threw an ArtifactError, and any other error escapes. */
export function isRefused(f: () => unknown): boolean {
  try {
    f();
    return false;
  } catch (error) {
    if (error instanceof ArtifactError) return true;
    throw error;
  }
}
