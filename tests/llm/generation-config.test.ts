/** generation_config.json: what it says is done, is handed on, or is refused by its name. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  choose,
  generateTokens,
  LanguageModelError,
  TextSession,
  whisperConfig,
} from "@kiln-ml/llm";
import { loadModel } from "@kiln-ml/llm/node";
import { compile, type Tensor } from "kiln-ml";
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
