/** Models in folders and files: what is read tells the same, and what is refused says why. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Constant, writeSafetensors } from "@kiln-ml/artifact";
import { type Decoder, generate, TextSession } from "@kiln-ml/llm";
import { loadModel } from "@kiln-ml/llm/node";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { areRefused } from "./refused.ts";
import { modelFiles, smallTensors } from "./small-model.ts";

const scratch = mkdtempSync(join(tmpdir(), "kiln-llm-"));
test.after(() => rmSync(scratch, { recursive: true, force: true }));

type Files = Readonly<Record<string, Uint8Array | string | undefined>>;

let folders = 0;
function folderOf(files: Files): string {
  const folder = join(scratch, String(folders++), "small");
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files))
    if (text !== undefined) writeFileSync(join(folder, name), text);
  return folder;
}

const names = Object.keys(smallTensors);
const part = (list: readonly string[]): Uint8Array =>
  writeSafetensors(Object.fromEntries(list.map((n) => [n, smallTensors[n]!])));
const [first, second] = [names.slice(0, 5), names.slice(5)];
const indexOf = (files: readonly (readonly [string, readonly string[]])[]): string =>
  JSON.stringify({
    weight_map: Object.fromEntries(files.flatMap(([file, list]) => list.map((n) => [n, file]))),
  });
const shards: Files = {
  ...modelFiles,
  "model.safetensors": undefined,
  "model.safetensors.index.json": indexOf([
    ["a.safetensors", first],
    ["b.safetensors", second],
  ]),
  "a.safetensors": part(first),
  "b.safetensors": part(second),
};

async function told(path: string): Promise<{ net: Decoder; text: string }> {
  const { net, tokenizer } = await loadModel(path);
  const session = new TextSession(net, { target: "js" });
  let text = "";
  for await (const piece of generate({ session, tokenizer }, "ab", { maxTokens: 8 })) text += piece;
  await session.dispose();
  return { net, text };
}

test("a folder of one file, and of shards, are the same model", async () => {
  const one = await told(folderOf(modelFiles));
  const two = await told(folderOf(shards));
  assert.is(one.text, two.text);
  assert.is(one.text.length, 8);
});

test("loading tells of bytes as they come, and ends by a signal", async () => {
  const folder = folderOf(shards);
  const told = new Map<string, [number, number]>();
  await loadModel(folder, {
    onProgress: ({ file, loaded, total }) => told.set(file, [loaded, total]),
  });
  for (const file of ["config.json", "a.safetensors", "b.safetensors"]) {
    const size = Buffer.byteLength(shards[file] as Uint8Array);
    assert.equal(told.get(file), [size, size], file);
  }
  const control = new AbortController();
  const files: string[] = [];
  const ended = loadModel(folder, {
    signal: control.signal,
    onProgress: ({ file }) => {
      files.push(file);
      if (file === "a.safetensors") control.abort(new Error("enough"));
    },
  });
  assert.is(await ended.catch((e: Error) => e.message), "enough");
  assert.not.ok(files.includes("b.safetensors"));
  const before = loadModel(folder, { signal: AbortSignal.abort(new Error("before")) });
  assert.is(await before.catch((e: Error) => e.message), "before");
});

test("tokens that end a text are the generation's too", async () => {
  const files = { ...modelFiles, "generation_config.json": '{ "eos_token_id": [2, 3] }' };
  const { net } = await loadModel(folderOf(files));
  assert.equal(net.config.ends, [2, 3]);
});

test("a head that is the embedding may be in the file too, and old files' rotations", async () => {
  const extra: Record<string, Constant> = {
    ...smallTensors,
    "lm_head.weight": smallTensors["model.embed_tokens.weight"]!,
    "model.layers.0.self_attn.rotary_emb.inv_freq": smallTensors["model.norm.weight"]!,
  };
  const files = { ...modelFiles, "model.safetensors": writeSafetensors(extra) };
  assert.is((await told(folderOf(files))).text, (await told(folderOf(modelFiles))).text);
});

test("a model converses by the template beside it", async () => {
  const template =
    "{{ bos_token }}{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}";
  const about = {
    chat_template: [
      { name: "tool_use", template: "no" },
      { name: "default", template },
    ],
    bos_token: { content: "<s>" },
    eos_token: "</s>",
  };
  const files = { ...modelFiles, "tokenizer_config.json": JSON.stringify(about) };
  const { chat, tokenizer } = await loadModel(folderOf(files));
  const text = chat!([{ role: "user", content: "ab" }]);
  assert.is(text, "<s>ab</s>");
  assert.equal(tokenizer.encode(text, { formatted: true }), [1, 3, 4, 2]);
  const beside = { ...files, "chat_template.jinja": "{{ messages[0].role }}" };
  assert.is((await loadModel(folderOf(beside))).chat!([{ role: "x", content: "" }]), "x");
  assert.is((await loadModel(folderOf(modelFiles))).chat, undefined);
});

const whole = modelFiles["model.safetensors"];
const config = JSON.parse(modelFiles["config.json"]);
const cases: readonly (readonly [message: string, files: Files])[] = [
  [
    "loadModel: small has no config.json\n  give the folder of a model, or a .gguf file",
    { "tokenizer.json": modelFiles["tokenizer.json"] },
  ],
  [
    "loadModel: small has no tokenizer.json\n  give the folder of a model, or a .gguf file",
    { ...modelFiles, "tokenizer.json": undefined },
  ],
  [
    "loadModel: small has neither model.safetensors nor model.safetensors.index.json\n  download the weights into it",
    { ...modelFiles, "model.safetensors": undefined },
  ],
  ["loadModel: config.json is no object", { ...modelFiles, "config.json": "[]" }],
  [
    "loadModel: 2 of 2 shards are absent: a.safetensors, b.safetensors\n  download them into small",
    { ...shards, "a.safetensors": undefined, "b.safetensors": undefined },
  ],
  [
    "loadModel: b.safetensors lacks what model.safetensors.index.json says it has: model.norm.weight\n  take the index that came with the shards",
    { ...shards, "b.safetensors": part(second.filter((n) => n !== "model.norm.weight")) },
  ],
  [
    "loadModel: model.safetensors.index.json names files that are not beside it: ../a.safetensors",
    { ...shards, "model.safetensors.index.json": indexOf([["../a.safetensors", first]]) },
  ],
  [
    "loadModel: model.safetensors.index.json has no weight_map\n  take the index that came with the shards",
    { ...shards, "model.safetensors.index.json": "{}" },
  ],
  [
    'loadModel: model.safetensors.index.json names no file for "w": 7\n  take the index that came with the shards',
    { ...shards, "model.safetensors.index.json": '{ "weight_map": { "w": 7 } }' },
  ],
  [
    "loadModel: config.json describes 4480040 parameters, the weights have 512\n  take the config.json that came with the weights",
    { ...modelFiles, "config.json": JSON.stringify({ ...config, num_hidden_layers: 1e4 }) },
  ],
  [
    `model.safetensors: tensor "model.norm.weight": data_offsets [${whole.length - 8 - headerOf(whole) - 32},${whole.length - 8 - headerOf(whole)}] do not lie in the ${whole.length - 9 - headerOf(whole)} bytes of data`,
    { ...modelFiles, "model.safetensors": whole.subarray(0, whole.length - 1) },
  ],
  [
    "loadWeights: the file does not fit: mismatched model.layers.0.mlp.gate_proj.weight: f32[8,8] in the file, f32[10,8] here, model.layers.0.mlp.up_proj.weight: f32[8,8] in the file, f32[10,8] here, model.layers.0.mlp.down_proj.weight: f32[8,8] in the file, f32[8,10] here\n  pass { strict: false } to load the rest",
    { ...modelFiles, "config.json": JSON.stringify({ ...config, intermediate_size: 10 }) },
  ],
  [
    "loadModel: the tokenizer knows 5 tokens, the model 4\n  take the tokenizer that came with the weights",
    {
      ...modelFiles,
      "config.json": JSON.stringify({ ...config, vocab_size: 4 }),
      "model.safetensors": writeSafetensors({
        ...smallTensors,
        "model.embed_tokens.weight": {
          dtype: "f32",
          shape: [4, 8],
          data: smallTensors["model.embed_tokens.weight"]!.data.slice(0, 128),
        },
      }),
    },
  ],
];

function headerOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
}

areRefused(cases.map(([message, files]) => [message, () => loadModel(folderOf(files))]));

test("what does not exist is said", async () => {
  const found = await loadModel(join(scratch, "none.gguf")).catch((e: Error) => e.message);
  assert.is(
    found,
    "loadModel: none.gguf does not exist\n  give the folder of a model, or a .gguf file",
  );
});

test.run();
