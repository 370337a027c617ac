/** Rows of language models: what was measured is there with its unit, and a failure says why. */
import { Decoder, decoderConfig, generateTokens, TextSession } from "@kiln-ml/llm";
import { loadState, stateBytes } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { rowsOf } from "../../bench/llm/rows.ts";
import { shapes } from "../../bench/llm/shapes.ts";
import { parameterCount } from "../../packages/llm/src/size.ts";

test("shapes are of about the size that they are named after", () => {
  const sizes = Object.entries(shapes).map(([name, json]) => {
    const count = parameterCount(decoderConfig(json));
    const named = Number.parseInt(name.replace(/^\D+/, ""), 10);
    const unit = { K: 1e3, M: 1e6, B: 1e9 }[name.at(-1) as "K"]!;
    return count / (named * unit);
  });
  for (const ratio of sizes) assert.ok(ratio > 0.9 && ratio < 1.3, `${sizes}`);
});

test("the count of parameters is that of the decoder, but for norms", () => {
  const config = decoderConfig(shapes.stories260K);
  const net = new Decoder(config, { empty: true });
  const held = net
    .parameters()
    .reduce((n, p) => n + (p.shape as number[]).reduce((a, b) => a * b), 0);
  const norms = (2 * config.layers + 1) * config.width;
  assert.is(parameterCount(config), held - norms);
});

test("a decoder of halves tells what one of floats of the same values does", async () => {
  const config = decoderConfig({ ...shapes.stories260K, num_hidden_layers: 1 });
  const halves = new Decoder(config, { weights: "f16" });
  const floats = new Decoder(config);
  await loadState(halves, await stateBytes(floats), { convert: true });
  await loadState(floats, await stateBytes(halves), { convert: true });
  const made = [];
  for (const net of [floats, halves]) {
    const session = new TextSession(net, { target: "js", capacity: 16 });
    const tokens: unknown[] = [];
    for await (const t of generateTokens(session, [[1, 7, 9]], { maxTokens: 6 })) tokens.push(...t);
    made.push(tokens);
    await session.dispose();
  }
  assert.equal(made[0], made[1]);
});

test("matrices are halves where they are asked for, norms are not", () => {
  const net = new Decoder(decoderConfig(shapes.stories260K), { weights: "f16" });
  for (const [name, { dtype }] of net.state())
    assert.is(dtype, /norm\.weight$/.test(name) ? "f32" : "f16", name);
});

test("each measure is a row, and what failed says why", () => {
  const rows = rowsOf("25M f32", "wasm", {
    loadMs: 10,
    firstTokenMs: 20,
    nextFirstTokenMs: 5,
    prefillTokensPerSecond: 1000,
    decodeTokensPerSecond: 100,
    spread: 0.01,
    peakMiB: 300,
    kernels: 85,
    bytes: 2 ** 20,
  });
  assert.equal(
    rows.map((r) => `${r.metric}: ${r.value} ${r.unit}`),
    [
      "decode: 100 tokens/s",
      "prefill: 1000 tokens/s",
      "first token: 20 ms",
      "first token, again: 5 ms",
      "load: 10 ms",
      "peak memory: 300 MiB",
      "kernels a token: 85 ",
      "moved a token: 1 MiB",
    ],
  );
  const [failed] = rowsOf("1B f32", "wasm", { failure: "RangeError: out of memory" });
  assert.is(failed!.value, null);
  assert.is(failed!.note, "RangeError: out of memory");
});

test.run();
