/**
 * Prefill and decode of a language model as one artifact, weights and caches once: told by the
 * runtime alone, in Node and in a page, as a session tells it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ArtifactEntries, encodeEntries } from "@kiln-ml/artifact/entries";
import { openEntries, writeEntries } from "@kiln-ml/artifact/node";
import { Decoder, decoderConfig, generateTokens, TextSession } from "@kiln-ml/llm";
import { createCpuDevice, createWasmDevice } from "@kiln-ml/runtime";
import { loadEntries } from "@kiln-ml/runtime/entries";
import { exportEntries, loadWeights, type TargetName } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { browserTest, bundleForPage, pageOf, resultOf, withPage } from "../support/browser.ts";
import { dataFolder, dataTest } from "../support/data.ts";
import { runs } from "../support/setup.ts";
import { skip } from "../support/skip.ts";
import { greedyTokens, type Telling } from "./entries-page.ts";
import { modelFiles, smallTensors } from "./small-model.ts";
import { llama2cPieces, llama2cTensors, storiesConfig } from "./stories.ts";
import { story } from "./stories-gguf.ts";

const scratch = mkdtempSync(join(tmpdir(), "kiln-entries-"));
test.after(() => rmSync(scratch, { recursive: true, force: true }));

const devices = { js: createCpuDevice, wasm: createWasmDevice };

async function small(): Promise<Decoder> {
  const net = new Decoder(decoderConfig(JSON.parse(modelFiles["config.json"])));
  await loadWeights(net, smallTensors);
  return net;
}

/** An artifact of a fresh session, for these targets. */
async function artifactOf(
  net: Decoder,
  targets: readonly TargetName[],
  options: object = {},
): Promise<ArtifactEntries> {
  const session = new TextSession(net, { target: "js", ...options });
  const all = await exportEntries(session.programs(), { targets, name: "told" });
  await session.dispose();
  return all;
}

async function bySession(net: Decoder, prompt: readonly number[], maxTokens: number) {
  const session = new TextSession(net, { target: "js" });
  const text = [...prompt];
  for await (const [token] of generateTokens(session, [prompt], { maxTokens, ends: [] }))
    text.push(token!);
  await session.dispose();
  return text;
}

test("entries of a model tell what its session tells, with the prompt whole and in chunks", async () => {
  const net = await small();
  const prompt = [1, 3, 4, 3, 3, 4, 4];
  const want = await bySession(net, prompt, 12);
  const all = await artifactOf(net, ["js", "wasm"]);
  const out = join(scratch, "small");
  await writeEntries(out, all, { shardBytes: 512 });
  for (const open of Object.values(devices)) {
    const device = open();
    for (const chunk of [16, 3, 1]) {
      const model = await loadEntries(await openEntries(out), device);
      assert.equal(await greedyTokens(model, prompt, { count: 12, chunk }), want);
      model.dispose();
    }
    assert.is(device.memory().byOwner.arrays, undefined);
    device.destroy();
  }
});

test("weights are in files once, whatever entries and targets there are, and caches nowhere", async () => {
  const net = await small();
  const all = await artifactOf(net, ["js", "wasm"], { cache: "int8" });
  const bytes = Object.values(smallTensors).reduce((n, t) => n + t.data.length, 0);
  const files = encodeEntries(all);
  const shards = [...files].filter(([name]) => name.endsWith(".safetensors"));
  assert.equal(
    shards.map(([name]) => name),
    ["weights-00001.safetensors"],
  );
  assert.ok(shards[0]![1].length < bytes + 4096, `${shards[0]![1].length} for ${bytes}`);
  const caches = all.states.filter((s) => s.name.startsWith("cache."));
  assert.is(caches.length, 4);
  assert.ok(caches.every((s) => s.written));
});

async function stories(folder: string): Promise<Decoder> {
  const net = new Decoder(storiesConfig);
  const file = new Uint8Array(readFileSync(`${folder}/weights/stories260K.bin`));
  await loadWeights(net, llama2cTensors(file));
  return net;
}

/** Tokens as text, without the one that texts begin with. */
function textOf(folder: string, tokens: readonly number[]): string {
  const pieces = llama2cPieces(new Uint8Array(readFileSync(`${folder}/weights/tok512.bin`)));
  const plain = (p: string) =>
    p.replace(/^<0x(..)>$/, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const told = tokens.filter((t) => t > 2).map((t) => plain(pieces[t]!));
  return told.join("").slice(1);
}

dataTest(
  "200 tokens of stories260K by the runtime alone, on js and wasm",
  "stories260K",
  async (folder) => {
    const out = join(scratch, "stories");
    await writeEntries(out, await artifactOf(await stories(folder), ["js", "wasm"]), {
      shardBytes: 2 ** 18,
    });
    assert.ok(readdirSync(out).filter((n) => n.endsWith(".safetensors")).length > 2);
    for (const open of Object.values(devices)) {
      const device = open();
      const model = await loadEntries(await openEntries(out), device);
      const tokens = await greedyTokens(model, [1], { count: 200, chunk: 32 });
      assert.is(textOf(folder, tokens), story);
      // The story again, with its first 85 tokens as a prompt of three chunks.
      const again = await greedyTokens(model, tokens.slice(0, 85), { count: 116, chunk: 32 });
      assert.equal(again, tokens);
      model.dispose();
      device.destroy();
    }
  },
);

/** A page that tells by the runtime of one target, without the compiler. */
const pageText = (
  { from, open }: Runtime,
  prompt: readonly number[],
  { count, chunk }: Telling,
): string => `
import { ${open.split("(")[0]} } from "@kiln-ml/runtime/run-${from}";
import { loadEntries } from "@kiln-ml/runtime/entries";
import { greedyTokens } from "./tests/llm/entries-page.ts";
async function main() {
  const model = await loadEntries("/model", await ${open}, { cache: true });
  return greedyTokens(model, [${prompt}], { count: ${count}, chunk: ${chunk} });
}
globalThis.result = main().catch((error) => error.name + ": " + error.message);`;

interface Runtime {
  readonly from: TargetName;
  readonly open: string;
  readonly policy?: string;
}

const runtimes: readonly Runtime[] = [
  { from: "js", open: "createCpuDevice()", policy: "default-src 'self'" },
  { from: "wasm", open: "createWasmDevice()" },
  { from: "webgpu", open: "openWebGpu({ allowSoftware: true })" },
];

async function inPage(
  all: ArtifactEntries,
  runtime: Runtime,
  prompt: readonly number[],
  how: Telling,
) {
  const headers = runtime.policy ? { "Content-Security-Policy": runtime.policy } : undefined;
  const page = pageOf(await bundleForPage({ text: pageText(runtime, prompt, how) }), headers);
  const served = [...encodeEntries(all)].map(([name, b]) => [`/model/${name}`, b] as const);
  const site = { ...page, files: { ...page.files, ...Object.fromEntries(served) } };
  return withPage(site, async (visit) => (await resultOf(visit)) as number[]);
}

browserTest("a page tells by the runtime of each target, js under a strict policy", async () => {
  const net = await small();
  const prompt = [1, 3, 4, 3];
  const want = await bySession(net, prompt, 4);
  // One artifact has all targets: each page takes the programs of its own.
  const all = await artifactOf(net, ["js", "wasm", "webgpu"]);
  for (const runtime of runtimes)
    assert.equal(await inPage(all, runtime, prompt, { count: 4, chunk: 3 }), want, runtime.from);
});

const folder = dataFolder("stories260K");
for (const runtime of runtimes.slice(1)) {
  const name = `200 tokens of stories260K in a page on ${runtime.from}, by the runtime alone`;
  if (folder === undefined) skip(name, "no data: stories260K");
  else if (runtime.from === "webgpu" && runs(8) < 200)
    skip(name, "a software adapter takes minutes: set FC_RUNS=25");
  else
    browserTest(name, async () => {
      const all = await artifactOf(await stories(folder), [runtime.from]);
      const tokens = await inPage(all, runtime, [1], { count: 200, chunk: 32 });
      assert.is(textOf(folder, tokens), story);
    });
}

test.run();
