/**
 * Attention beside caches is the model without: at every length to 300, with windows in rings, by
 * any chunks, for texts that are taken up earlier, and with rows kept as halves and bytes.
 */
import { Decoder, decoderConfig, TextSession, type TextSessionOptions } from "@kiln-ml/llm";
import { type CompiledFunction, compile, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { emptyRows, written } from "../../packages/llm/src/cache.ts";
import { filled } from "./made-up.ts";

const most = 300;
const json = {
  vocab_size: 24,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 512,
};
const models = {
  "without windows": { ...json, model_type: "llama" },
  "with a window in every layer": { ...json, model_type: "mistral", sliding_window: 20 },
  "with a window in every other layer": {
    ...json,
    model_type: "gemma2",
    head_dim: 4,
    sliding_window: 7,
  },
};
const tokensOf = (seed: number): number[] =>
  Array.from({ length: most }, (_, i) => (i * i + seed * i + (seed % 5)) % 24);

const plain = new Map<Decoder, CompiledFunction<[Tensor], Tensor>>();
test.after(async () => {
  for (const run of plain.values()) await run.dispose();
});

/** The scores after each token of a text, of the model without a cache: all lengths at once. */
async function uncached(net: Decoder, tokens: readonly number[]): Promise<Float32Array[]> {
  const inputs = [{ shape: [1, "T"], dtype: "i32" as const }];
  const run = plain.get(net) ?? compile((x: Tensor) => net.forward(x), { target: "js", inputs });
  plain.set(net, run);
  const y = await run({ data: Int32Array.from(tokens), shape: [1, tokens.length] });
  const all = (await y.data()) as Float32Array;
  return tokens.map((_, i) => all.slice(24 * i, 24 * (i + 1)));
}

/** The greatest difference, of scores that are about 1. */
const apart = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((most, v, i) => Math.max(most, Math.abs(v - b[i]!)), 0);

const scoresOf = async (y: Tensor): Promise<Float32Array[]> => {
  const all = (await y.data()) as Float32Array;
  return Array.from({ length: all.length / 24 }, (_, b) => all.slice(24 * b, 24 * (b + 1)));
};

for (const [name, config] of Object.entries(models)) {
  const made = filled(new Decoder(decoderConfig(config)));
  const session = async (options: TextSessionOptions = {}): Promise<TextSession> =>
    new TextSession(await made, { target: "js", chunk: 8, capacity: 320, ...options });
  const text = tokensOf(3);
  const wanted = made.then((net) => uncached(net, text));

  test(`every length to ${most} is the model without a cache, ${name}`, async () => {
    const one = await session();
    for (const [i, token] of text.entries()) {
      const [found] = await scoresOf(await one.step([[token]], [i]));
      const off = apart(found!, (await wanted)[i]!);
      assert.ok(off < 2e-5, `${off} at length ${i + 1}`);
    }
    await one.dispose();
  });

  test(`two texts by chunks of any length are each alone, ${name}`, async () => {
    const other = tokensOf(11);
    const expected = [await wanted, await uncached(await made, other)];
    const two = await session({ batch: 2 });
    const at = [0, 0];
    for (let turn = 0; Math.min(...at) < 200; turn++) {
      // A text without a token in this step waits for the other.
      const lengths = [(turn * 5) % 9, turn % 4 === 3 ? 0 : (turn * 3 + 1) % 9];
      if (!Math.max(...lengths)) continue;
      const parts = [text, other].map((t, b) => t.slice(at[b], at[b]! + lengths[b]!));
      const found = await scoresOf(await two.step(parts, at));
      for (const [b, part] of parts.entries()) {
        at[b]! += part.length;
        if (!part.length) continue;
        const off = apart(found[b]!, expected[b]![at[b]! - 1]!);
        assert.ok(off < 2e-5, `${off} of text ${b} at length ${at[b]}`);
      }
    }
    await two.dispose();
  });

  test(`a text that is taken up earlier goes on as if it had been whole, ${name}`, async () => {
    const one = await session();
    let at = 0;
    const upTo = async (end: number, tokens: readonly number[]): Promise<Float32Array> => {
      for (;;) {
        const part = tokens.slice(at, Math.min(end, at + 8));
        const [found] = await scoresOf(await one.step([part], [at]));
        at += part.length;
        if (at === end) return found!;
      }
    };
    await upTo(120, text);
    for (const back of [3, 9, 13, 40, 100]) {
      const turned = [...text.slice(0, 120 - back), ...tokensOf(17).slice(0, 160)];
      at = one.known(0, turned);
      assert.ok(at === 120 - back || at === 0, `${at} of ${120 - back} are known`);
      if (name === "without windows") assert.is(at, 120 - back);
      const found = await upTo(160, turned);
      const off = apart(found, (await uncached(await made, turned))[159]!);
      assert.ok(off < 2e-5, `${off}, ${back} tokens back`);
      at = one.known(0, text);
      await upTo(120, text);
    }
    await one.dispose();
  });

  for (const [cache, bound] of [
    ["f16", 5e-3],
    ["int8", 3e-2],
  ] as const)
    test(`rows as ${cache} are within their rounding, ${name}`, async () => {
      const one = await session({ cache });
      let worst = 0;
      for (let at = 0; at < 96; at += 8) {
        const [found] = await scoresOf(await one.step([text.slice(at, at + 8)], [at]));
        worst = Math.max(worst, apart(found!, (await wanted)[at + 7]!));
      }
      assert.ok(worst < bound, `off by ${worst}`);
      assert.ok(worst > 0, "nothing was rounded");
      await one.dispose();
    });
}

test("a cache of a window is as long as it needs, whatever the capacity", async () => {
  const net = new Decoder(decoderConfig(models["with a window in every other layer"]));
  const rows = (options: TextSessionOptions) =>
    new TextSession(net, { target: "js", ...options }).cache.map((c) => c.key.rows.shape[1]);
  assert.equal(rows({ chunk: 8, capacity: 512 }), [7 + 16, 512]);
  assert.equal(rows({ chunk: 8, capacity: 23 }), [23, 23]);
});

for (const target of ["js", "wasm"] as const)
  test(`bytes are within half a step of their row's greatest, on ${target}`, async () => {
    const kept = emptyRows("rows", [2, 5, 3, 4], "int8");
    const run = compile((x: Tensor, at: Tensor) => written(kept, x, at, 5), { target });
    const x = Float32Array.from({ length: 48 }, (_, i) => Math.sin(7 * i) * 10 ** ((i % 7) - 3));
    // A row of zeros, and one that stands beyond the end.
    x.fill(0, 4, 8);
    const at = { data: Int32Array.of(3, 0, 1, 5), shape: [2, 2] };
    const found = (await (await run({ data: x, shape: [2, 2, 3, 4] }, at)).data()) as Float32Array;
    const places = [3, 0, 5 + 1];
    for (const [token, place] of places.entries())
      for (let head = 0; head < 3; head++) {
        const from = (token * 3 + head) * 4;
        const row = x.slice(from, from + 4);
        const step = Math.max(...row.map(Math.abs)) / 127;
        for (const [i, v] of row.entries()) {
          const off = Math.abs(found[(place * 3 + head) * 4 + i]! - v);
          assert.ok(off <= step * 0.5001, `${off} of ${v}`);
        }
      }
    for (const place of [1, 2, 4, 5, 7, 8, 9])
      assert.ok(
        found.slice(12 * place, 12 * (place + 1)).every((v) => v === 0),
        `row ${place}`,
      );
    await run.dispose();
  });

test("what no cache is, and a step beyond the chunk, are refused", async () => {
  const net = new Decoder(decoderConfig(models["without windows"]));
  assert.throws(
    () => new TextSession(net, { cache: "int4" as never }),
    (e: Error) => e.message === 'textSession: unknown cache "int4"\n  known are f32, f16, int8',
  );
  const one = new TextSession(net, { target: "js", chunk: 2 });
  const found = await one.step([[1, 2, 3]], [0]).catch((e: Error) => e.message);
  assert.is(
    found,
    "step: 3 tokens at once, the session takes 2\n  run them in parts, or make the session with a larger chunk",
  );
  await one.dispose();
});

test.run();
