/**
 * Several entries that are damaged, forged or asked for wrongly: each refused by what is wrong, and
 * nothing kept.
 */
import { ArtifactError, type Constant, packArtifact } from "@kiln-ml/artifact";
import {
  type ArtifactEntries,
  decodeEntries,
  type EntryFiles,
  encodeEntries,
  filesInMemory,
} from "@kiln-ml/artifact/entries";
import { DeviceError, DtypeError, GraphError, ShapeError } from "@kiln-ml/ir";
import { createCpuDevice, createWasmDevice } from "@kiln-ml/runtime";
import { loadEntries } from "@kiln-ml/runtime/entries";
import { exportEntries } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { printManifest } from "../../packages/artifact/src/manifest.ts";
import { sample } from "./sample.ts";

const w: Constant = { dtype: "f32", shape: [2], data: new Uint8Array(8).fill(1) };
const all: ArtifactEntries = {
  version: 1,
  name: "pair",
  states: sample.signature.states,
  entries: { one: [{ ...sample, weights: {} }], two: [{ ...sample, weights: {} }] },
  weights: { w, runs: "zeros" },
};
const files = encodeEntries(all);

type Kind = new (...args: never[]) => Error;

async function refused(kind: Kind, message: string, call: () => unknown): Promise<void> {
  let error: unknown;
  try {
    await call();
  } catch (e) {
    error = e;
  }
  assert.instance(error, kind, message);
  assert.is((error as Error).message, message);
}

// biome-ignore lint/suspicious/noExplicitAny: what is forged has no type.
type Edit = (manifest: any) => void;

/** The files with a manifest that `edit` has changed and that is sealed again. */
function forged(edit: Edit): Map<string, Uint8Array> {
  const { crc32: _, ...manifest } = JSON.parse(
    new TextDecoder().decode(files.get("manifest.json")),
  );
  edit(manifest);
  return new Map(files).set("manifest.json", printManifest(manifest));
}

// biome-ignore format: one case a row
const manifests: [string, Edit][] = [
  ["manifest.json: version 2 was found, this reader needs version 1\n  load it with a release of kiln-ml that reads version 2", (m) => { m.version = 2; }],
  ["manifest.json: the manifest has the unknown field \"more\"", (m) => { m.more = 1; }],
  ["manifest.json: entries is empty", (m) => { m.entries = []; }],
  ["manifest.json: entries has \"one\" twice", (m) => { m.entries[1].name = "ONE"; }],
  ["manifest.json: entries[0].name is \"a/b\", not an identifier", (m) => { m.entries[0].name = "a/b"; }],
  ["manifest.json: entries[1].programs is not for the targets that those of the first entry are", (m) => { m.entries[1].programs[0].target = "wasm"; }],
  ["manifest.json: entries[0].programs is not for the targets that those of the first entry are", (m) => { m.entries[0].programs = []; }],
  ["manifest.json: states has \"w\" twice", (m) => { m.states[1].name = "w"; }],
  ["manifest.json: states[0].from is 1 of 1 shards", (m) => { m.states[0].from = 1; }],
  ["manifest.json: states[0].from is \"ones\", not a shard or \"zeros\"", (m) => { m.states[0].from = "ones"; }],
  ["manifest.json: states[1].shape is [134217728,134217728], whose bytes exceed 2^53 - 1", (m) => { m.states[1].shape = [2 ** 27, 2 ** 27]; }],
  ["manifest.json: shards[0].name is \"weights-7.safetensors\", not weights-00001.safetensors", (m) => { m.shards[0].name = "weights-7.safetensors"; }],
  ["manifest.json: states has no \"runs\", which one has", (m) => { m.states.pop(); }],
  ["manifest.json: states says \"runs\" is i32[3], one i32[]", (m) => { m.states[1].shape = [3]; }],
  ["manifest.json: states says \"runs\" is not written, which one writes", (m) => { m.states[1].written = false; }],
  ["weights-00001.safetensors: has \"w\", the manifest says \"runs\", \"w\"", (m) => { m.states[1].from = 0; }],
  ["weights-00001.safetensors: has \"w\", the manifest says nothing", (m) => { delete m.states[0].from; }],
];

test("a forged manifest is refused by its field, by whoever reads it", async () => {
  for (const [message, edit] of manifests) {
    const forgedFiles = forged(edit);
    await refused(ArtifactError, message, () => decodeEntries(forgedFiles));
    const device = createCpuDevice();
    // The loader reads shards that a state needs, and no others.
    if (!message.endsWith("nothing"))
      await refused(ArtifactError, message, () => loadEntries(forgedFiles, device));
    assert.is(device.memory().byOwner.arrays, undefined, message);
  }
});

test("a file that is missing, altered or cut is refused by its name", async () => {
  const device = createCpuDevice();
  for (const name of files.keys()) {
    const bytes = files.get(name)!;
    const without = new Map(files);
    without.delete(name);
    const one = name.split("/").at(-1)!;
    const flipped = bytes.slice();
    flipped[bytes.length >> 1]! ^= 1;
    for (const spoilt of [
      without,
      new Map(files).set(name, flipped),
      new Map(files).set(name, bytes.slice(1)),
    ]) {
      const error = await loadEntries(spoilt, device).then(
        () => undefined,
        (e: Error) => e,
      );
      assert.instance(error, ArtifactError, name);
      assert.ok(error!.message.includes(one), `${name}: ${error!.message}`);
      await decodeEntries(spoilt).then(
        () => assert.unreachable(name),
        (e) => assert.instance(e, ArtifactError),
      );
    }
  }
  assert.is(device.memory().byOwner.arrays, undefined);
});

test("programs of two builds do not mix", async () => {
  const other = encodeEntries({
    ...all,
    entries: { ...all.entries, one: [{ ...sample, name: "later", weights: {} }] },
  });
  const mixed = new Map(files).set("one.js/manifest.json", other.get("one.js/manifest.json")!);
  await assertMessage(
    loadEntries(mixed, createCpuDevice()),
    /^one\.js\/manifest\.json: (checksum|\d+ bytes)/,
  );
});

async function assertMessage(call: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await call.then(
    () => undefined,
    (e: Error) => e,
  );
  assert.match(String(error?.message), message);
}

test("what is asked for and not there is said, with what there is", async () => {
  const device = createCpuDevice();
  const upload = (dtype: "f32" | "i32", shape: number[]) =>
    device.upload(
      new Float32Array(2).map(() => 1),
      dtype === "i32" ? "f32" : dtype,
      shape,
    );
  await refused(
    ArtifactError,
    'loadEntries: pair has no entry "three"\n  its entries are one, two',
    () => loadEntries(files, device, { entries: ["three"] }),
  );
  await refused(ArtifactError, 'loadEntries: pair has no state "v" in these entries', () =>
    loadEntries(files, device, { states: { v: upload("f32", [2]) } }),
  );
  await refused(ShapeError, "loadEntries: state w must have shape [2], got [1,2]", () =>
    loadEntries(files, device, { states: { w: upload("f32", [1, 2]) } }),
  );
  await refused(DtypeError, "loadEntries: state runs must be i32, got f32", () =>
    loadEntries(files, device, { states: { runs: device.upload([1], "f32", []) } }),
  );
  await refused(
    DeviceError,
    "loadEntries: state w is on another device\n  upload it to the device that loads the entries",
    () =>
      loadEntries(files, device, { states: { w: createCpuDevice().upload([1, 1], "f32", [2]) } }),
  );
  await refused(
    ArtifactError,
    "loadEntries: pair has kernels in JavaScript, which scripts: false refuses\n  compile it for wasm or webgpu",
    () => loadEntries(files, device, { scripts: false }),
  );
  await refused(
    DeviceError,
    "loadEntries: pair is compiled for js, the cpu device runs wasm\n  compile it for this target too, or open a device of another",
    () => loadEntries(files, createWasmDevice()),
  );
  await refused(
    ArtifactError,
    "loadEntries: model is not a URL\n  in Node, openEntries of @kiln-ml/artifact/node takes paths",
    () => loadEntries("model", device),
  );
  await refused(
    ArtifactError,
    "loadEntries: pair carries no values for w\n  give arrays for them: { states: { … } }",
    () => loadEntries(encodeEntries({ ...all, weights: { runs: "zeros" } }), device),
  );
  const model = await loadEntries(files, device, { states: { w: upload("f32", [2]) } });
  await refused(ArtifactError, 'entry: pair has no "three"\n  its entries are one, two', () =>
    model.run("three", []),
  );
  model.dispose();
});

/** Each entry has a state of its own, which its program does not touch. */
function apart(shape: readonly number[]): Map<string, Uint8Array> {
  const rows = ["a", "b"].map((name) => ({
    name,
    dtype: "f32" as const,
    shape,
    trainable: false,
    written: false,
  }));
  const entries = rows.map((row, i) => {
    const states = [...sample.signature.states, row];
    return [`e${i}`, [{ ...sample, signature: { ...sample.signature, states }, weights: {} }]];
  });
  const states = [...all.states, ...rows];
  const weights = { ...all.weights, a: "zeros", b: "zeros" } as const;
  return encodeEntries({ ...all, states, entries: Object.fromEntries(entries), weights });
}

test("one array is not two states, be they of different entries", async () => {
  const device = createCpuDevice();
  const array = device.upload([1, 2], "f32", [2]);
  await refused(
    DeviceError,
    "loadEntries: state b is the array of a too\n  give each state an array of its own",
    () => loadEntries(apart([2]), device, { states: { a: array, b: array } }),
  );
  const model = await loadEntries(apart([2]), device, { states: { a: array }, entries: ["e0"] });
  assert.is(model.states.get("a"), array);
  model.dispose();
  assert.equal([...(await array.data())], [1, 2]);
});

test("zeros beyond any memory are refused with their bytes, and nothing is kept", async () => {
  const device = createCpuDevice();
  await refused(
    DeviceError,
    "loadEntries: the states of pair take 1125899906842636 bytes, of which 4 were loaded: state a has 562949953421312 bytes, more than there is memory for",
    () => loadEntries(apart([2 ** 47]), device, {}),
  );
  assert.is(device.memory().byOwner.arrays, undefined);
});

test("a listener that throws at the end leaves nothing behind", async () => {
  const device = createCpuDevice();
  await refused(Error, "not now", () =>
    loadEntries(files, device, {
      onProgress({ phase }) {
        if (phase === "ready") throw new Error("not now");
      },
    }),
  );
  assert.equal(device.memory().byOwner, createCpuDevice().memory().byOwner);
});

test("a manifest of one program is none of entries", async () => {
  await refused(
    ArtifactError,
    "manifest.json: has one program, not several entries\n  load it with load, or openModel",
    () => decodeEntries(new Map([["manifest.json", new Map(files).get("one.js/manifest.json")!]])),
  );
  assert.ok(packArtifact(sample).length > 0);
});

test("what cannot be written is refused before anything is", async () => {
  await refused(
    ArtifactError,
    'entryFiles: the weights of "w" are f32[2] of 4 bytes, the state is f32[2]',
    () => encodeEntries({ ...all, weights: { w: { ...w, data: new Uint8Array(4) } } }),
  );
  await refused(ArtifactError, 'entryFiles: there is no state "v"', () =>
    encodeEntries({ ...all, weights: { v: "zeros" } }),
  );
  await refused(ArtifactError, "entryFiles: shardBytes must be a number above 0, got 0", () =>
    encodeEntries(all, { shardBytes: 0 }),
  );
  await refused(
    GraphError,
    "exportEntries: got no functions\n  give them by name: { prefill: …, decode: … }",
    () => exportEntries({}),
  );
  await refused(
    GraphError,
    'exportEntries: one is neither a compiled function nor { fn, inputs }\n  give { fn: (x) => x.relu(), inputs: [["N", 4]] }',
    () => exportEntries({ one: (() => 1) as never }),
  );
  await refused(
    GraphError,
    'exportEntries: an entry is called "a b", which is no identifier\n  call it a_b',
    () => exportEntries({ "a b": { fn: () => 1, inputs: [] } as never }),
  );
});

test("a load that is ended, or fails, frees what it had, and a cache of damage is passed by", async () => {
  const device = createCpuDevice();
  const control = new AbortController();
  const source = filesInMemory(files);
  const ending: EntryFiles = {
    async read(name, most, signal) {
      if (name.startsWith("weights")) control.abort(new Error("enough"));
      return source.read(name, most, signal);
    },
  };
  await refused(Error, "enough", () => loadEntries(ending, device, { signal: control.signal }));
  const late = (name: string): EntryFiles => ({
    read: (n, most) => (n === name ? Promise.reject(new Error("gone")) : source.read(n, most)),
  });
  await refused(Error, "gone", () => loadEntries(late("weights-00001.safetensors"), device));
  assert.is(device.memory().byOwner.arrays, undefined);
  const kept = new Map<string, Uint8Array>();
  const cache = {
    get: async (key: string) => kept.get(key),
    put: async (key: string, bytes: Uint8Array) => void kept.set(key, bytes),
  };
  await loadEntries(files, device, { cache });
  const [key] = kept.keys();
  assert.match(key!, /^[0-9a-f]{8}-\d+-weights-00001\.safetensors$/);
  // From the cache, which is right; anew, where it is not.
  (await loadEntries(late("weights-00001.safetensors"), device, { cache })).dispose();
  kept.set(key!, new Uint8Array(kept.get(key!)!.length));
  (await loadEntries(files, device, { cache })).dispose();
  assert.equal(kept.get(key!), files.get("weights-00001.safetensors"));
});

test.run();
