/** Folders as they are published: with other prefixes, names of old, and what models make. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Constant, writeSafetensors } from "@kiln-ml/artifact";
import {
  Decoder,
  decoderConfig,
  Encoder,
  encoderConfig,
  Whisper,
  whisperConfig,
} from "@kiln-ml/llm";
import { loadEncoder, loadModel, loadSpeechModel } from "@kiln-ml/llm/node";
import type { nn } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { filled, more } from "./made-up.ts";
import { modelFiles } from "./small-model.ts";

const scratch = mkdtempSync(join(tmpdir(), "kiln-names-"));
test.after(() => rmSync(scratch, { recursive: true, force: true }));

type Tensors = Record<string, Constant>;

async function tensorsOf(net: nn.Module): Promise<Tensors> {
  const all = [...(await filled(net)).checkpoint()].map(async ([name, t]) => {
    const data = new Uint8Array(((await t.data()) as Float32Array).slice().buffer);
    return [name, { dtype: "f32", shape: t.shape as number[], data }] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}

const named = (tensors: Tensors, name: (own: string) => string): Tensors =>
  Object.fromEntries(Object.entries(tensors).map(([own, t]) => [name(own), t]));

const extra: Constant = { dtype: "f32", shape: [1], data: new Uint8Array(4) };

let folders = 0;
function folderOf(config: object, tensors: Tensors, files: Record<string, string> = {}): string {
  const folder = join(scratch, String(folders++));
  mkdirSync(join(folder, "1_Pooling"), { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  writeFileSync(join(folder, "tokenizer.json"), modelFiles["tokenizer.json"]);
  writeFileSync(join(folder, "model.safetensors"), writeSafetensors(tensors));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** Throws unless both have the same values under the same names. */
async function areSame(found: nn.Module, wanted: nn.Module): Promise<void> {
  const [a, b] = [found.checkpoint(), wanted.checkpoint()];
  assert.equal([...a.keys()], [...b.keys()]);
  for (const [name, t] of a) assert.equal(await t.data(), await b.get(name)!.data(), name);
}

test("GPT-2 without its prefix, with masks and a tied head", async () => {
  const { config } = more.decoders[0]!;
  const net = new Decoder(decoderConfig(config));
  const tensors = named(await tensorsOf(net), (n) => n.replace("transformer.", ""));
  const extras = { "h.0.attn.bias": extra, "h.0.attn.masked_bias": extra, "lm_head.weight": extra };
  const found = await loadModel(folderOf(config, { ...tensors, ...extras }));
  await areSame(found.net, net);
});

test("BERT with heads, its prefix and names of old, and how it pools", async () => {
  const { config } = more.encoders[0]!;
  const net = new Encoder(encoderConfig(config));
  const old = (n: string) =>
    `bert.${n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")}`;
  const heads = { "cls.predictions.bias": extra, "bert.pooler.dense.bias": extra };
  const tensors = { ...named(await tensorsOf(net), old), ...heads };
  const pooling = { "1_Pooling/config.json": '{"pooling_mode_cls_token": true}' };
  const found = await loadEncoder(folderOf(config, tensors, pooling));
  await areSame(found.net, net);
  assert.is(found.pooling, "cls");
  const two = { pooling_mode_cls_token: true, pooling_mode_mean_tokens: true };
  const files = { "1_Pooling/config.json": JSON.stringify(two) };
  const refused = await loadEncoder(folderOf(config, tensors, files)).catch((e) => e.message);
  assert.match(refused, /pooling by pooling_mode_cls_token and pooling_mode_mean_tokens is not/);
});

test("Whisper with its tied head", async () => {
  const { config } = more.whisper;
  const net = new Whisper(whisperConfig(config));
  const tensors = { ...(await tensorsOf(net)), "proj_out.weight": extra };
  await areSame((await loadSpeechModel(folderOf(config, tensors))).net, net);
});

test("Whisper's texts end where generation_config.json says", async () => {
  const { eos_token_id: _ends, ...config } = more.whisper.config;
  const tensors = await tensorsOf(new Whisper(whisperConfig(config)));
  const files = { "generation_config.json": '{ "eos_token_id": 7 }' };
  const { net } = await loadSpeechModel(folderOf(config, tensors, files));
  assert.equal(net.config.ends, [7]);
});

test("vectors that go through more than is built are refused", async () => {
  const { config } = more.encoders[0]!;
  const tensors = await tensorsOf(new Encoder(encoderConfig(config)));
  const load = (...types: string[]) => {
    const list = types.map((t) => ({ type: `sentence_transformers.models.${t}` }));
    const files = { "modules.json": JSON.stringify(list) };
    return loadEncoder(folderOf(config, tensors, files)).catch((e: Error) => e.message);
  };
  assert.is(typeof (await load("Transformer", "Pooling", "Normalize")), "object");
  assert.is(
    await load("Transformer", "Pooling", "Dense", "Normalize"),
    "loadEncoder: modules.json has sentence_transformers.models.Dense, which is not built\n  take a model of Transformer, Pooling, Normalize alone",
  );
});

test("links to what is gone are no files, and a file is no folder", async () => {
  const folder = join(scratch, "links");
  mkdirSync(folder);
  symlinkSync(join(scratch, "gone"), join(folder, "config.json"));
  const told = (path: string) => loadEncoder(path).catch((e: Error) => e.message);
  const hint = "\n  give the folder of a model";
  assert.is(
    await told(folder),
    `loadEncoder: links has no config.json and no tokenizer.json${hint}`,
  );
  writeFileSync(join(folder, "tokenizer.json"), modelFiles["tokenizer.json"]);
  assert.is(await told(folder), `loadEncoder: links has no config.json${hint}`);
  assert.is(
    await told(join(folder, "tokenizer.json")),
    `loadEncoder: tokenizer.json is no folder${hint}`,
  );
});

test("a folder without a model says so", async () => {
  const gone = (load: (folder: string) => Promise<unknown>) =>
    load(join(scratch, "none")).catch((e: Error) => e.message);
  assert.is(
    await gone(loadEncoder),
    "loadEncoder: none does not exist\n  give the folder of a model",
  );
  assert.is(
    await gone(loadSpeechModel),
    "loadSpeechModel: none does not exist\n  give the folder of a model",
  );
});

test.run();
