/**
 * Vectors of texts over a real port, as OpenAI's clients ask for them: what embed gives, and
 * refusals by field.
 */
import { Embedder, Encoder, encoderConfig } from "@kiln-ml/llm";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { filled, more } from "../llm/made-up.ts";
import { post, refusal, started } from "./asking.ts";

/** A letter a token. */
const tokenizer = {
  size: 40,
  encode: (text: string) => [...text].map((c) => c.charCodeAt(0) % 40),
  decode: () => "",
};

const net = await filled(new Encoder(encoderConfig(more.encoders[0]!.config)));
const embedder = new Embedder({ net, tokenizer }, { target: "js" });
const server = await started({ embedder });
test.after(async () => {
  await server.stop();
  await embedder.dispose();
});

interface Answer {
  readonly object: string;
  readonly model: string;
  readonly data: readonly { readonly index: number; readonly embedding: number[] | string }[];
  readonly usage: object;
}

const ask = (body: object): Promise<Response> => post(server, "/v1/embeddings", body);

test("vectors come in the order of the texts, as numbers or as bytes", async () => {
  const texts = ["abc", "z", "hello"];
  const want = (await embedder.embed(texts)).map((v) => [...v]);
  const answer = (await (await ask({ model: "m", input: texts })).json()) as Answer;
  assert.is(answer.object, "list");
  assert.equal(answer.usage, { prompt_tokens: 9, total_tokens: 9 });
  assert.equal(
    answer.data.map((d) => [d.index, d.embedding]),
    want.map((v, i) => [i, v]),
  );
  const one = (await (await ask({ input: "hello", encoding_format: "base64" })).json()) as Answer;
  const bytes = Buffer.from(one.data[0]!.embedding as string, "base64");
  const floats = new Float32Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  );
  assert.equal([...floats], [...(await embedder.embed(["hello"]))[0]!]);
});

test("many texts are one answer, and null is what is not said", async () => {
  const texts = Array.from({ length: 40 }, (_, i) => "abc".repeat(1 + (i % 3)));
  const said = { dimensions: null, encoding_format: null };
  const { data } = (await (await ask({ input: texts, ...said })).json()) as Answer;
  const close = (a: number, b: number): boolean => Math.abs(a - b) < 1e-6;
  for (const [i, { index, embedding }] of data.entries()) {
    assert.is(index, i);
    const like = data[i % 3]!.embedding as number[];
    assert.ok((embedding as number[]).every((x, d) => close(x, like[d]!)));
  }
});

test("an embedding ends between two batches", async () => {
  const control = new AbortController();
  let runs = 0;
  const counted = {
    ...tokenizer,
    encode(text: string) {
      if (++runs === 3) control.abort(new Error("enough"));
      return tokenizer.encode(text);
    },
  };
  const small = new Embedder({ net, tokenizer: counted }, { target: "js", batch: 1 });
  const error = await small.embed(["a", "b", "c"], { signal: control.signal }).catch((e) => e);
  assert.is(error.message, "enough");
  await small.dispose();
});

test("what is wrong is refused by its field, and other questions are not answered", async () => {
  const wrong = async (body: object): Promise<string> => refusal(await ask(body));
  const { width, context } = net.config;
  assert.equal(
    [
      await wrong({}),
      await wrong({ input: [] }),
      await wrong({ input: ["a", ""] }),
      await wrong({ input: [[1, 2]] }),
      await wrong({ input: "a", dimensions: 3 }),
      await wrong({ input: "a", encoding_format: "int8" }),
      await wrong({ input: "a", model: "other" }),
      await wrong({ input: "a".repeat(context + 1) }),
      await wrong({ input: [...Array(40).fill("a"), "a".repeat(context + 1)] }),
      await refusal(await post(server, "/v1/completions", { prompt: "a" })),
    ],
    [
      "400 invalid_value: input must be texts that are not empty, 0 is absent",
      "400 invalid_value: input must be 1 to 2048 texts, got 0",
      '400 invalid_value: input must be texts that are not empty, 1 is ""',
      "400 invalid_value: input must be texts that are not empty, 0 is [1,2]",
      `400 invalid_value: dimensions must be ${width}, got 3`,
      '400 invalid_value: encoding_format must be float or base64, got "int8"',
      "404 model_not_found: there is no model other here, but m",
      `400 invalid_value: embed: text 0 has ${context + 1} tokens, the model was made for ${context}\n  split it, or pass { truncate: true }`,
      `400 invalid_value: embed: text 40 has ${context + 1} tokens, the model was made for ${context}\n  split it, or pass { truncate: true }`,
      "405 method_not_allowed: /v1/completions does not take POST",
    ],
  );
});

test.run();
