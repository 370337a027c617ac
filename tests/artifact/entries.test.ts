/**
 * Artifacts with several entries: what programs share is there once, whoever runs it, whatever
 * target; zeros are not stored; shards come one at a time, checked, and kept where asked.
 */
import { encodeArtifact } from "@kiln-ml/artifact";
import { type ArtifactEntries, decodeEntries, encodeEntries } from "@kiln-ml/artifact/entries";
import { createCpuDevice, createWasmDevice, type Device } from "@kiln-ml/runtime";
import { type EntriesProgress, loadEntries } from "@kiln-ml/runtime/entries";
import { assign, compile, exportEntries, param, type Tensor, zeros } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

/** `write` puts a row into a cache, `read` gives it all, scaled; both have the weight. */
function functions() {
  const cache = param(zeros([4, 2]), { name: "cache", trainable: false });
  const scale = param([1, 2], { name: "scale" });
  const other = param([[5], [6]], { name: "scale" });
  const write = {
    fn: (row: Tensor) => {
      assign(cache, cache.add(row.mul(scale)));
      return row.sum();
    },
    inputs: [[2]],
  };
  const read = compile((n: Tensor) => cache.mul(scale).matmul(other).mul(n), { inputs: [[]] });
  return { write, read: read as never };
}

const made = (options: object = {}): Promise<ArtifactEntries> =>
  exportEntries(functions(), { targets: ["js", "wasm"], name: "pair", ...options });

/** What the cache gives after two rows. */
async function run(from: Parameters<typeof loadEntries>[0], device: Device): Promise<number[]> {
  const loaded = await loadEntries(from, device);
  for (const row of [
    [1, 1],
    [0.5, 3],
  ])
    for (const y of await loaded.run("write", [Float32Array.from(row)])) y.dispose();
  const [y] = await loaded.run("read", [Float32Array.of(2)]);
  const values = [...(await y!.data())];
  y!.dispose();
  loaded.dispose();
  return values;
}

// Rows of the cache: [1.5, 8]; by the weight [1.5, 16]; by the other 7.5 + 96.
const want = Array(4).fill(207);

test("loading takes the weights and one shard at most, and reads each shard once", async () => {
  const sizes = [100, 3000, 40, 800, 800, 1];
  const weights = sizes.map((n, i) => param(new Float32Array(n).fill(i + 1), { name: `w${i}` }));
  const fn = (): Tensor => weights.reduce((sum, w) => sum.add(w.sum()), zeros([]));
  const all = await exportEntries({ sum: { fn, inputs: [] } }, { targets: "js", name: "sum" });
  const inFiles = encodeEntries(all, { shardBytes: 4000 });
  const isShard = (name: string): boolean => name.endsWith(".safetensors");
  const largest = Math.max(...[...inFiles].map(([n, b]) => (isShard(n) ? b.length : 0)));
  const held = sizes.reduce((a, b) => a + 4 * b, 0);
  const device = createCpuDevice();
  const read: string[] = [];
  let most = 0;
  const files = {
    async read(name: string): Promise<Uint8Array> {
      if (!isShard(name)) return inFiles.get(name)!;
      read.push(name);
      const bytes = inFiles.get(name)!.slice();
      // What the device holds, and the shard at hand: those before it are on the device.
      most = Math.max(most, device.memory().live + bytes.length);
      return bytes;
    },
  };
  const loaded = await loadEntries(files, device);
  assert.equal(read, [...inFiles.keys()].filter(isShard));
  assert.ok(read.length >= 3, `${read}`);
  assert.ok(most <= held + largest, `${most} bytes, weights have ${held}, a shard ${largest}`);
  assert.ok(most > held / 2);
  const [sum] = await loaded.run("sum", []);
  assert.is(
    Number(await sum!.item()),
    sizes.reduce((s, n, i) => s + n * (i + 1), 0),
  );
  loaded.dispose();
  device.destroy();
});

test("entries share states by identity, and two states of one name are two", async () => {
  const all = await made();
  assert.equal(
    all.states.map((s) => [s.name, s.shape, s.written]),
    [
      ["cache", [4, 2], true],
      ["scale", [2], false],
      ["scale.2", [2, 1], false],
    ],
  );
  assert.equal(Object.keys(all.entries), ["write", "read"]);
});

test("on js and wasm a run of one entry is seen by the other, from memory and from files", async () => {
  const files = encodeEntries(await made());
  for (const device of [createCpuDevice(), createWasmDevice()]) {
    assert.equal(await run(files, device), want);
    // Each load has states of its own.
    assert.equal(await run(files, device), want);
    assert.is(device.memory().byOwner.arrays, undefined);
    device.destroy();
  }
});

test("zeros are in no shard, and a shard has no more than it may", async () => {
  const files = encodeEntries(await made(), { shardBytes: 8 });
  const names = [...files.keys()].filter((n) => n.startsWith("weights"));
  assert.equal(names, ["weights-00001.safetensors", "weights-00002.safetensors"]);
  const device = createCpuDevice();
  assert.equal(await run(files, device), want);
  const back = await decodeEntries(files);
  assert.is(back.weights.cache, "zeros");
  assert.equal([...encodeEntries(back, { shardBytes: 8 })], [...files]);
});

test("from a URL shards come one by one, told of, and only those that entries need", async () => {
  const files = encodeEntries(await made(), { shardBytes: 8 });
  const asked: string[] = [];
  const fetch = async (url: URL): Promise<Response> => {
    const name = url.pathname.slice("/model/".length);
    asked.push(name);
    const body = files.get(name)!;
    return new Response(body as BodyInit, { headers: { "content-length": `${body.length}` } });
  };
  const told: EntriesProgress[] = [];
  const onProgress = (progress: EntriesProgress) => told.push(progress);
  const from = new URL("https://host/model");
  const device = createWasmDevice();
  const model = await loadEntries(from, device, { fetch, onProgress, entries: ["write"] });
  const needed = ["manifest.json", "write.wasm/manifest.json", "write.wasm/kernels-relaxed.wasm"];
  const plain = device.features.has("relaxed-simd")
    ? needed
    : [...needed.slice(0, 2), "write.wasm/kernels.wasm"];
  assert.equal(asked, [...plain, "weights-00001.safetensors"]);
  const total = files.get("weights-00001.safetensors")!.length;
  assert.equal(told[0], { phase: "fetch", loaded: total, total });
  assert.equal(told.at(-1), { phase: "ready", loaded: total, total });
  assert.equal([...model.states.keys()].sort(), ["cache", "scale"]);
  device.destroy();
});

test("a program of an entry is an artifact like any other, in a folder of its own", async () => {
  const all = await made();
  const files = encodeEntries(all);
  for (const program of all.entries.write!)
    for (const [name, bytes] of encodeArtifact(program))
      assert.equal(files.get(`write.${program.target}/${name}`), bytes);
});

test.run();
