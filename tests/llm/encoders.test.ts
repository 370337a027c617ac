/** Encoders against transformers 5.17, in f64 there, and vectors of texts. */
import { Decoder, decoderConfig, Embedder, Encoder, encoderConfig, encoders } from "@kiln-ml/llm";
import { compile, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { filled, more, namesOf, near } from "./made-up.ts";

const { ids } = more;

test("there is a reference for every encoder", () => {
  const known = new Set(more.encoders.map((r) => r.type));
  assert.equal([...known].sort(), Object.keys(encoders).sort());
});

for (const { type, config, names, rows } of more.encoders) {
  const net = new Encoder(encoderConfig(config));

  if (names)
    test(`${type} has the weights that transformers has, but for the pooler`, () =>
      assert.equal(namesOf(net), names.filter((n) => !n.startsWith("pooler.")).sort()));

  test(`${type} gives what transformers gives, beside a shorter text`, async () => {
    await filled(net);
    const run = compile((x: Tensor, n: Tensor) => net.forward(x, n), { target: "js" });
    const padding = Array(5).fill(net.config.padding) as number[];
    const data = Int32Array.from([...ids, ...ids.toReversed().slice(0, 7), ...padding]);
    const y = await run({ data, shape: [2, 12] }, Int32Array.of(12, 7));
    const all = (await y.data()) as Float32Array;
    const row = (b: number, t: number) => all.slice((12 * b + t) * 16, (12 * b + t + 1) * 16);
    near(row(0, 0), rows[0]!, type);
    near(row(0, 11), rows[1]!, type);
    near(row(1, 3), rows[2]!, type);
    await run.dispose();
  });
}

/** A letter a token. */
const tokenizer = {
  size: 40,
  encode: (text: string) => [...text].map((c) => c.charCodeAt(0) % 40),
  decode: () => "",
};

const bert = await filled(new Encoder(encoderConfig(more.encoders[0]!.config)));
const texts = ["abc", "z", "abcdefghijkl", "hello"];

/** The states of one text alone. */
async function statesOf(net: Encoder | Decoder, text: string): Promise<Float32Array[]> {
  const tokens = tokenizer.encode(text);
  const run = compile((x: Tensor, n: Tensor) => net.states(x, n), { target: "js" });
  const y = await run(
    { data: Int32Array.from(tokens), shape: [1, tokens.length] },
    Int32Array.of(tokens.length),
  );
  const all = (await y.data()) as Float32Array;
  await run.dispose();
  return tokens.map((_, i) => all.slice(16 * i, 16 * (i + 1)));
}

const pooled = {
  mean: (rows: Float32Array[]) =>
    rows[0]!.map((_, j) => rows.reduce((sum, r) => sum + r[j]!, 0) / rows.length),
  max: (rows: Float32Array[]) => rows[0]!.map((_, j) => Math.max(...rows.map((r) => r[j]!))),
  cls: (rows: Float32Array[]) => rows[0]!,
  last: (rows: Float32Array[]) => rows.at(-1)!,
};

for (const [pooling, of] of Object.entries(pooled) as [keyof typeof pooled, typeof pooled.mean][])
  test(`vectors by ${pooling} are those of each text alone, in any batch`, async () => {
    const options = { pooling, normalize: false, batch: 3, target: "js" } as const;
    const embedder = new Embedder({ net: bert, tokenizer }, options);
    const found = await embedder.embed(texts);
    for (const [i, text] of texts.entries())
      near(found[i]!, [...of(await statesOf(bert, text))], text);
    await embedder.dispose();
  });

test("vectors have length 1 unless told otherwise, of decoders too", async () => {
  const net = await filled(new Decoder(decoderConfig(more.decoders[0]!.config)));
  const embedder = new Embedder({ net, tokenizer, pooling: "last" }, { target: "js" });
  const [a] = await embedder.embed(["abc", "abcde"]);
  assert.ok(Math.abs(a!.reduce((sum, v) => sum + v * v, 0) - 1) < 1e-5);
  const last = (await statesOf(net, "abc")).at(-1)!;
  const length = Math.hypot(...last);
  near(a!, [...last.map((v) => v / length)], "last");
  await embedder.dispose();
});

test("a text beyond the context is refused, or cut where that is asked for", async () => {
  const long = "a".repeat(70);
  const embedder = new Embedder({ net: bert, tokenizer }, { target: "js" });
  const found = await embedder.embed([long]).catch((e: Error) => e.message);
  assert.is(
    found,
    "embed: text 0 has 70 tokens, the model was made for 64\n  split it, or pass { truncate: true }",
  );
  const cut = new Embedder({ net: bert, tokenizer }, { target: "js", truncate: true });
  const [a] = await cut.embed([long]);
  const [b] = await cut.embed(["a".repeat(64)]);
  assert.equal(a, b);
  await Promise.all([embedder.dispose(), cut.dispose()]);
});

test.run();
