/**
 * Texts that begin as the one before: only what is new runs, and what follows is what a session
 * without a past says.
 */

import { assign } from "@kiln-ml/ir";
import { Decoder, decoderConfig, generateTokens, TextSession } from "@kiln-ml/llm";
import { compile } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

const llama = {
  model_type: "llama",
  vocab_size: 24,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 48,
};
const windows = { ...llama, model_type: "gemma2", sliding_window: 4, head_dim: 4 };

type Prompts = readonly (readonly number[])[];

/** What follows each prompt, and how many tokens ran for it. */
async function told(session: TextSession, prompts: Prompts, maxTokens = 6) {
  const before = session.ran;
  const made = prompts.map((): number[] => []);
  for await (const tokens of generateTokens(session, prompts, { maxTokens }))
    for (const [b, t] of tokens.entries()) if (t !== undefined) made[b]!.push(t);
  return { made, ran: session.ran - before };
}

const plain = new Decoder(decoderConfig(llama));
const others = new Map<string, TextSession>();

/** What a session says whose texts before began otherwise. */
async function fresh(net: Decoder, prompts: Prompts) {
  const name = `${net.config.window} ${prompts.length}`;
  const options = { target: "js", batch: prompts.length, chunk: 4 } as const;
  const session = others.get(name) ?? new TextSession(net, options);
  others.set(name, session);
  await told(session, Array(prompts.length).fill([23]), 1);
  return told(session, prompts);
}
test.after(async () => {
  for (const session of others.values()) await session.dispose();
});

for (const json of [llama, windows])
  test(`turns of a conversation run what is new: ${json.model_type}`, async () => {
    const net = json === llama ? plain : new Decoder(decoderConfig(json));
    const session = new TextSession(net, { target: "js", chunk: 4 });
    const prompt = [1, 5, 9, 2, 7, 3, 11];
    const first = await told(session, [prompt]);
    // The last token that is made runs no more.
    assert.is(first.ran, prompt.length + 5);
    const next = [...prompt, ...first.made[0]!, 4, 8];
    const second = await told(session, [next]);
    assert.is(second.ran, 1 + 2 + 5);
    assert.equal(second.made, (await fresh(net, [next])).made);
    // Another end of what was said, then the same once more.
    const other = [...prompt.slice(0, 5), 20, 21];
    const third = await told(session, [other]);
    // A window's rows are used again: 15 tokens back, what stood there is gone.
    assert.is(third.ran, json === windows ? 7 + 5 : 2 + 5);
    assert.equal(third.made, (await fresh(net, [other])).made);
    const again = await told(session, [other]);
    assert.is(again.ran, 1 + 5);
    assert.equal(again.made, third.made);
    await session.dispose();
  });

test("texts of a batch begin each as its own before", async () => {
  const session = new TextSession(plain, { target: "js", batch: 2, chunk: 4 });
  await told(session, [
    [1, 2, 3, 4, 5, 6],
    [7, 8],
  ]);
  const next = [
    [1, 2, 3, 9],
    [7, 8, 9, 10, 11],
  ];
  const { made, ran } = await told(session, next);
  assert.equal(made, (await fresh(plain, next)).made);
  assert.ok(ran <= 1 + 3 + 10);
  await session.dispose();
});

test("nothing is known once a weight has changed", async () => {
  const session = new TextSession(plain, { target: "js", chunk: 4 });
  const prompt = [1, 5, 9, 2, 7];
  await told(session, [prompt]);
  const change = compile(
    () => {
      const w = plain.model.layers[0]!.mlp.down_proj!.weight;
      assign(w, w.mul(-3).add(0.1));
      return w.sum();
    },
    { target: "js", inputs: [] },
  );
  await (await change()).data();
  const { made, ran } = await told(session, [prompt]);
  assert.is(ran, 5 + 5);
  assert.equal(made, (await fresh(plain, [prompt])).made);
  await session.dispose();
});

test("weights that change while a text is told leave nothing known", async () => {
  const session = new TextSession(plain, { target: "js" });
  const change = compile(
    () => {
      const w = plain.model.norm.weight!;
      assign(w, w.mul(-1));
      return w.sum();
    },
    { target: "js", inputs: [] },
  );
  let count = 0;
  for await (const _ of generateTokens(session, [[1, 2, 3]], { maxTokens: 4 }))
    if (++count === 2) await (await change()).data();
  assert.is(session.known(0, [1, 2, 3]), 0);
  await session.dispose();
});

test("what a signal cut off is known as far as it ran", async () => {
  const session = new TextSession(plain, { target: "js", chunk: 4 });
  const control = new AbortController();
  const prompt = [1, 5, 9, 2, 7, 3];
  const cut = async () => {
    for await (const _ of generateTokens(session, [prompt], { signal: control.signal }))
      control.abort(new Error("enough"));
  };
  assert.is(await cut().catch((e: Error) => e.message), "enough");
  const { made, ran } = await told(session, [prompt]);
  assert.is(ran, 1 + 5);
  assert.equal(made, (await fresh(plain, [prompt])).made);
  await session.dispose();
});

test("a generation ends with an error where another begins on its session", async () => {
  const session = new TextSession(plain, { target: "js" });
  const first = generateTokens(session, [[1, 2]]);
  await first.next();
  const { made } = await told(session, [[3, 4]]);
  assert.is(
    await first.next().catch((e: Error) => e.message),
    "generate: another generation has begun on this session\n  await one before the next, or make a session for each",
  );
  assert.equal(made, (await fresh(plain, [[3, 4]])).made);
  await session.dispose();
});

test("temperatures and such are values of one program, and programs are bounded", async () => {
  const session = new TextSession(plain, { target: "js" });
  const draw = async (options: object): Promise<void> => {
    for await (const _ of generateTokens(session, [[1, 2]], { maxTokens: 2, ...options }));
  };
  await draw({ temperature: 0.5, topP: 0.9, minP: 0.01 });
  const before = session.compiles;
  for (const temperature of [0.6, 0.7, 1.5])
    await draw({ temperature, topP: temperature / 2, minP: temperature / 20 });
  assert.is(session.compiles, before);
  for (let topK = 1; topK < 12; topK++) await draw({ temperature: 1, topK });
  // Those that went are counted no more.
  assert.is(session.compiles, 2 + 8);
  await session.dispose();
});

test.run();
