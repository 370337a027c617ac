/** Whisper against transformers 5.17, in f64 there: features, what is heard, what is written. */
import {
  LanguageModelError,
  logMelFeatures,
  SpeechSession,
  type Tokenizer,
  transcribe,
  Whisper,
  whisperConfig,
} from "@kiln-ml/llm";
import { compile, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { filled, more, namesOf, near } from "./made-up.ts";

const { whisper, ids, mel } = more;
const net = await filled(new Whisper(whisperConfig(whisper.config)));
const features = {
  data: Float32Array.from({ length: 160 }, (_, i) => 0.5 * Math.sin(0.3 * i)),
  shape: [1, 8, 20],
};
const tokens = { data: Int32Array.from(ids), shape: [1, 12] };

test("it has the weights that transformers has", () =>
  assert.equal(namesOf(net), [...whisper.names!].sort()));

test("features of a sound are those that transformers makes", async () => {
  const run = compile((x: Tensor) => logMelFeatures(x, 80), { target: "js" });
  const wave = Float32Array.from({ length: 16_000 }, (_, i) =>
    i < 12_000 ? 0.3 * Math.sin(0.05 * i) + 0.1 * Math.sin(0.0001 * i * i) : 0,
  );
  const y = await run({ data: wave, shape: [1, 16_000] });
  assert.equal(y.shape, [1, ...mel.shape]);
  const all = (await y.data()) as Float32Array;
  // Powers of f32 spectra, told in logarithms: those near the floor of 1e-10 are rounded most.
  for (const [band, row] of mel.rows)
    for (const [i, w] of row.entries()) assert.ok(Math.abs(all[100 * band + i]! - w) < 2e-4);
  await run.dispose();
});

test("what is heard and what is written are what transformers gives", async () => {
  const run = compile(
    (x: Tensor, t: Tensor) => [net.model.forward(x), net.forward(x, t)] as const,
    { target: "js" },
  );
  const [heard, scores] = await run(features, tokens);
  const [h, s] = [await heard.data(), await scores.data()] as Float32Array[];
  for (const [i, at] of [0, 9].entries())
    near(h!.slice(16 * at, 16 * (at + 1)), whisper.heard[i]!, "heard");
  for (const [i, at] of [0, 5, 11].entries())
    near(s!.slice(40 * at, 40 * (at + 1)), whisper.logits[i]!, "written");
  await run.dispose();
});

test("it is the same beside caches of what was heard and written", async () => {
  const session = new SpeechSession(net, { target: "js" });
  const hear = compile((x: Tensor) => net.hear(x, session.cache), { target: "js" });
  await (await hear(features)).data();
  const scores = new Map<number, ArrayLike<number>>();
  let at = 0;
  for (const length of [1, 3, 2, 4, 1, 1]) {
    const y = await session.step([ids.slice(at, at + length)], [at]);
    at += length;
    scores.set(at - 1, (await y.data()) as never);
  }
  for (const [i, place] of [0, 5, 11].entries())
    near(scores.get(place)!, whisper.logits[i]!, "beside caches");
  await Promise.all([session.dispose(), hear.dispose()]);
});

const names = ["startoftranscript", "en", "transcribe", "translate", "notimestamps"];
const tokenizer: Tokenizer = {
  size: 40,
  encode: (text) => names.flatMap((n, i) => (text === `<|${n}|>` ? [10 + i] : [])),
  decode: (all) => all.map((t) => String.fromCharCode(97 + (t % 26))).join(""),
};

const said = async (session: SpeechSession, samples: Float32Array, options = {}) => {
  let text = "";
  const all = { language: "en", maxTokens: 6, ends: [], ...options };
  for await (const piece of transcribe({ session, tokenizer }, samples, all)) text += piece;
  return text;
};
const wave = (length: number, pitch: number) =>
  Float32Array.from({ length }, (_, i) => Math.sin(pitch * i * (1 + i / 1000)));

test("a sound is written window by window, and what was heard before is not known", async () => {
  const session = new SpeechSession(net, { target: "js" });
  assert.is(session.window, 3200);
  const [a, b] = [wave(3200, 0.2), wave(1000, 0.9)];
  const whole = await said(session, Float32Array.of(...a, ...b));
  const fresh = new SpeechSession(net, { target: "js" });
  assert.is(whole, (await said(session, a)) + (await said(fresh, b)));
  assert.is(whole.length, 12);
  await Promise.all([session.dispose(), fresh.dispose()]);
});

test("a sound that is heard ends the text of the one before, and none is written of both", async () => {
  const session = new SpeechSession(net, { target: "js" });
  const ended = (act: Promise<unknown>) =>
    act.then(
      () => "",
      (e: Error) => e.message.split("\n")[0],
    );
  const other = "generate: another generation has begun on this session";
  const both = [session.hear(wave(3200, 0.2)), session.hear(wave(900, 0.9))].map(ended);
  assert.equal(await Promise.all(both), [other, ""]);
  const all = { language: "en", maxTokens: 6, ends: [] };
  const first = transcribe({ session, tokenizer }, wave(3200, 0.2), all);
  await first.next();
  await session.hear(wave(900, 0.9));
  assert.is(await ended(first.next()), other);
  await session.dispose();
});

test("what is aborted before it begins is not heard", async () => {
  const session = new SpeechSession(net, { target: "js" });
  let heard = 0;
  session.hear = async () => void heard++;
  const signal = AbortSignal.abort(new Error("enough"));
  const found = await said(session, wave(10, 1), { signal }).catch((e: Error) => e.message);
  assert.equal([found, heard], ["enough", 0]);
  await session.dispose();
});

test("a language without a token, a longer sound and another model are refused", async () => {
  const session = new SpeechSession(net, { target: "js" });
  const message = (act: Promise<unknown>) =>
    act.then(
      () => "",
      (e) => (e instanceof LanguageModelError ? e.message.split("\n")[0] : String(e)),
    );
  assert.is(
    await message(said(session, wave(10, 1), { language: "tlh" })),
    'transcribe: the tokenizer has no token for "tlh"',
  );
  assert.is(
    await message(said(session, wave(10, 1), { language: undefined, task: "translate" })),
    'transcribe: task "translate" goes with a language',
  );
  assert.is(
    await message(session.hear(new Float32Array(3201))),
    "hear: the sound has 3201 samples, a window 3200",
  );
  assert.throws(
    () => whisperConfig({ model_type: "wav2vec2" }),
    /config: unknown model of speech wav2vec2/,
  );
  assert.throws(
    () =>
      whisperConfig({
        ...whisper.config,
        d_model: 15,
        activation_function: "no",
        scale_embedding: true,
      }),
    /encoder_attention_heads is 4, which does not divide 15; decoder_.*; activation_function is "no"; scale_embedding is true/,
  );
  await session.dispose();
});

test.run();
