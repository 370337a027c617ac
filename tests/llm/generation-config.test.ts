/** generation_config.json: what it says is done, is handed on, or is refused by its name. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeEntries } from "@kiln-ml/artifact/entries";
import {
  choose,
  generateTokens,
  LanguageModelError,
  TextSession,
  whisperConfig,
} from "@kiln-ml/llm";
import { loadModel } from "@kiln-ml/llm/node";
import { createCpuDevice } from "@kiln-ml/runtime";
import { loadEntries } from "@kiln-ml/runtime/entries";
import { compile, exportEntries, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { more } from "./made-up.ts";
import { modelFiles } from "./small-model.ts";

const scratch = mkdtempSync(join(tmpdir(), "kiln-generation-"));
test.after(() => rmSync(scratch, { recursive: true, force: true }));

let folders = 0;
function loaded(generation: object) {
  const folder = join(scratch, String(folders++));
  mkdirSync(folder);
  const files = { ...modelFiles, "generation_config.json": JSON.stringify(generation) };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return loadModel(folder);
}

async function made(generation: object, options: object = {}, after = [3, 4]): Promise<number[]> {
  const { net } = await loaded(generation);
  const session = new TextSession(net, { target: "js" });
  const tokens: number[] = [];
  const all = { maxTokens: 8, ends: [], ...options };
  for await (const [t] of generateTokens(session, [[1, ...after]], all)) tokens.push(t!);
  await session.dispose();
  return tokens;
}

test("tokens that are suppressed are never made, and those of the beginning not first", async () => {
  const plain = await made({});
  const [first] = plain;
  const never = await made({ suppress_tokens: [first] });
  assert.not.ok(never.includes(first!), `${never}`);
  // One letter is left at the beginning; what follows it is what follows it anyway.
  const other = first === 3 ? 4 : 3;
  const begun = await made({ begin_suppress_tokens: [0, 1, 2, first] });
  assert.equal(begun, [other, ...(await made({}, { maxTokens: 7 }, [3, 4, other]))]);
  // A caller's list goes in the place of the file's.
  assert.equal(await made({ suppress_tokens: [first] }, { suppress: [] }), plain);
  assert.equal(await made({}, { suppress: [first] }), never);
  assert.equal(await made({}, { beginSuppress: [0, 1, 2, first] }), begun);
  const drawn = await made({ suppress_tokens: [3] }, { temperature: 5, maxTokens: 24 });
  assert.not.ok(drawn.includes(3), `${drawn}`);
  assert.ok(new Set(drawn).size > 2, `${drawn}`);
});

test("choose leaves out what is suppressed, whatever its score", async () => {
  for (const target of ["js", "wasm"] as const) {
    const run = compile(
      (x: Tensor, h: Tensor, k: Tensor) => choose(x, h, k, { suppress: [0, 3] }),
      {
        target,
        inputs: [[2, 4], { shape: [2, 1], dtype: "i32" }, { shape: [2], dtype: "u32" }],
      },
    );
    const scores = { data: Float32Array.of(9, 1, 2, 8, 9, 5, -1e30, 8), shape: [2, 4] };
    const chosen = await run(
      scores,
      { data: new Int32Array(2), shape: [2, 1] },
      new Uint32Array(2),
    );
    assert.equal([...(await chosen.data())], [2, 1]);
  }
});

test("entries of an artifact leave out what is suppressed", async () => {
  const chosenBy = async (generation: object) => {
    const { net } = await loaded(generation);
    const session = new TextSession(net, { target: "js" });
    const all = await exportEntries(session.programs(), { targets: "js" });
    const model = await loadEntries(encodeEntries(all), createCpuDevice());
    const chosen: Record<string, number> = {};
    for (const name of model.entries.filter((n) => n === "greedy" || n === "first")) {
      const [y] = await model.run(name, [{ data: Float32Array.of(1, 9, 8, 7, 2), shape: [1, 5] }]);
      chosen[name] = await y!.item();
    }
    model.dispose();
    await session.dispose();
    return chosen;
  };
  assert.equal(await chosenBy({}), { greedy: 1 });
  assert.equal(await chosenBy({ suppress_tokens: [1] }), { greedy: 2 });
  const begun = { suppress_tokens: [1], begin_suppress_tokens: [2] };
  assert.equal(await chosenBy(begun), { greedy: 2, first: 3 });
});

test("what is recommended is handed on, where texts are drawn", async () => {
  const odds = { temperature: 0.6, top_p: 0.9, top_k: 0, repetition_penalty: 1.1 };
  assert.equal((await loaded({ do_sample: true, ...odds })).sampling, {
    temperature: 0.6,
    topP: 0.9,
    repetitionPenalty: 1.1,
  });
  assert.equal((await loaded(odds)).sampling, { repetitionPenalty: 1.1 });
  assert.equal((await loaded({ num_beams: 1, bad_words_ids: null, max_length: 9 })).sampling, {});
});

/** Fields as the makers of models publish them; tokens are those that the small model has. */
// biome-ignore format: one model a row
const published: Readonly<Record<string, readonly [object, object]>> = {
  "Llama 3": [{ bos_token_id: 128000, do_sample: true, eos_token_id: [128001, 128008, 128009], temperature: 0.6, top_p: 0.9, max_length: 4096, transformers_version: "4.40.0" }, { temperature: 0.6, topP: 0.9 }],
  "Llama 2": [{ _from_model_config: true, bos_token_id: 1, eos_token_id: 2, pad_token_id: 0, temperature: 0.9, top_p: 0.6 }, {}],
  "Qwen 2": [{ bos_token_id: 151643, pad_token_id: 151643, do_sample: true, eos_token_id: [151645, 151643], repetition_penalty: 1.1, temperature: 0.7, top_p: 0.8, top_k: 20 }, { temperature: 0.7, topK: 20, topP: 0.8, repetitionPenalty: 1.1 }],
  "Gemma 3": [{ bos_token_id: 2, cache_implementation: "hybrid", do_sample: true, eos_token_id: [1, 106], pad_token_id: 0, top_k: 64, top_p: 0.95 }, { temperature: 1, topK: 64, topP: 0.95 }],
  "Whisper": [{ alignment_heads: [[3, 1], [4, 2]], begin_suppress_tokens: [3, 4], bos_token_id: 50257, decoder_start_token_id: 50258, eos_token_id: 50257, forced_decoder_ids: [[1, null], [2, 50359]], is_multilingual: true, lang_to_id: { "<|en|>": 50259 }, max_initial_timestamp_index: 50, max_length: 448, no_timestamps_token_id: 50363, pad_token_id: 50257, prev_sot_token_id: 50361, return_timestamps: false, suppress_tokens: [], task_to_id: { transcribe: 50359 }, median_filter_width: 7 }, {}],
  "a tuned Whisper": [{ _attn_implementation: "sdpa", condition_on_prev_tokens: false, compression_ratio_threshold: 1.35, logprob_threshold: -1, no_speech_threshold: 0.6, return_token_timestamps: false, language: "de", task: "transcribe", use_cache: false }, {}],
  "every default": [{ max_length: 20, max_new_tokens: null, min_length: 0, early_stopping: false, num_beams: 1, num_beam_groups: 1, do_sample: false, use_cache: true, prefill_chunk_size: null, temperature: 1, top_k: 50, top_p: 1, min_p: null, top_h: null, typical_p: 1, length_penalty: 1, no_repeat_ngram_size: 0, bad_words_ids: [], force_words_ids: [], sequence_bias: {}, generation_kwargs: {}, suppress_tokens: null, diversity_penalty: 0, repetition_penalty: 1, assistant_early_exit: null, assistant_lookbehind: 10, target_lookbehind: 10, num_assistant_tokens: 20, num_assistant_tokens_schedule: "constant", assistant_confidence_threshold: 0.4, trust_remote_code: false }, { repetitionPenalty: 1 }],
};

test("what makers of models publish is read, and no field of it refused", async () => {
  for (const [name, [generation, sampling]] of Object.entries(published))
    assert.equal((await loaded(generation)).sampling, sampling, name);
});

test("fields that are not built or unknown are refused, all at once", async () => {
  const refused = async (generation: object, options?: object): Promise<string> => {
    const error = await made(generation, options).then(
      () => undefined,
      (e: Error) => e,
    );
    assert.instance(error, LanguageModelError);
    return error!.message;
  };
  assert.is(
    await refused({ num_beams: 5, temprature: 1, eos_token_id: 2 }),
    "loadModel: generation_config.json: num_beams is 5, which is not built; temprature is unknown\n  take the field out if texts may do without",
  );
  assert.is(
    await refused({ bad_words_ids: [[1]], sequence_bias: { a: 1 } }),
    "loadModel: generation_config.json: bad_words_ids is a list of 1, which is not built; sequence_bias is an object, which is not built\n  take the field out if texts may do without",
  );
  assert.is(
    await refused({ suppress_tokens: [1, 5] }),
    "loadModel: generation_config.json: suppress_tokens has 5, the model knows tokens from 0 to 4\n  take the file that came with the weights",
  );
  assert.is(
    await refused({}, { suppress: [5] }),
    "generate: suppress has token 5, the model knows 5",
  );
  assert.is(
    await refused({}, { suppress: [0, 1, 2], beginSuppress: [3, 4] }),
    "generate: beginSuppress leaves no token of 5",
  );
});

test("Whisper has its lists from config.json too", () => {
  const config = whisperConfig({
    ...more.whisper.config,
    suppress_tokens: [1, 2],
    begin_suppress_tokens: [7],
  });
  assert.equal([config.suppress, config.beginSuppress], [[1, 2], [7]]);
  assert.is(whisperConfig(more.whisper.config).suppress, undefined);
});

test.run();
