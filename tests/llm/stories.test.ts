/**
 * The 260K-parameter Llama of llama2.c: its 200 greedy tokens on every target, by chunks, in
 * batches, after save and load.
 */
import { readFileSync } from "node:fs";
import { writeSafetensors } from "@kiln-ml/artifact";
import { Decoder, generate, generateTokens, ggufModel, readGguf, TextSession } from "@kiln-ml/llm";
import { loadState, loadWeights, stateBytes } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { dataTest } from "../support/data.ts";
import { llama2cPieces, llama2cTensors, storiesConfig } from "./stories.ts";
import { storiesGguf, story } from "./stories-gguf.ts";

const read = (folder: string, name: string): Uint8Array =>
  new Uint8Array(readFileSync(`${folder}/weights/${name}`));

async function model(folder: string): Promise<Decoder> {
  const net = new Decoder(storiesConfig);
  await loadWeights(net, llama2cTensors(read(folder, "stories260K.bin")));
  return net;
}

/** Tokens as text, and the one that a text begins with as none. */
function vocabulary(folder: string) {
  const pieces = llama2cPieces(read(folder, "tok512.bin")).map((p) =>
    p.replace(/^<0x(..)>$/, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );
  return {
    size: pieces.length,
    // Greedy from the left serves the prompts here: it is no test of a tokenizer.
    encode: (text: string): number[] => [1, ...longestPieces(` ${text}`, pieces)],
    decode: (tokens: readonly number[]): string =>
      tokens
        .filter((t) => t > 2)
        .map((t) => pieces[t])
        .join("")
        .slice(1),
  };
}

function longestPieces(text: string, pieces: readonly string[]): number[] {
  const found: number[] = [];
  for (let at = 0; at < text.length; ) {
    let best = -1;
    for (const [token, piece] of pieces.entries())
      if (token > 2 && text.startsWith(piece, at) && piece.length > (pieces[best]?.length ?? 0))
        best = token;
    found.push(best);
    at += pieces[best]!.length;
  }
  return found;
}

async function greedy(
  session: TextSession,
  prompts: readonly (readonly number[])[],
  maxTokens: number,
): Promise<number[][]> {
  const texts = prompts.map((p) => [...p]);
  for await (const tokens of generateTokens(session, prompts, { maxTokens }))
    for (const [b, t] of tokens.entries()) if (t !== undefined) texts[b]!.push(t);
  return texts;
}

for (const target of ["js", "wasm"] as const)
  dataTest(`200 greedy tokens are llama2.c's on ${target}`, "stories260K", async (folder) => {
    const session = new TextSession(await model(folder), { target });
    const [text] = await greedy(session, [[1]], 200);
    assert.is(vocabulary(folder).decode(text!), story);
    // One program for steps of a token, one for what is chosen; a prompt of one token needs no
    // other.
    assert.is(session.compiles, 2);
    await session.dispose();
  });

dataTest("a prompt in chunks goes on as the text that it is of", "stories260K", async (folder) => {
  const net = await model(folder);
  const session = new TextSession(net, { target: "wasm", chunk: 32 });
  const [text] = await greedy(session, [[1]], 120);
  // Whole, and in chunks of which the last is one token: a step of decode.
  for (const chunk of [90, 7]) {
    const other = new TextSession(net, { target: "wasm", chunk });
    const [found] = await greedy(other, [text!.slice(0, 85)], 36);
    assert.equal(found, text);
    assert.is(other.compiles, 3);
    await other.dispose();
  }
  await session.dispose();
});

dataTest("three texts of other lengths are what each is alone", "stories260K", async (folder) => {
  const net = await model(folder);
  const { encode } = vocabulary(folder);
  const prompts = [encode("Once upon a time"), [1], encode("The dog saw a big cat and ran to the")];
  const together = new TextSession(net, { target: "wasm", batch: 3, chunk: 4, capacity: 96 });
  const found = await greedy(together, prompts, 40);
  const alone = new TextSession(net, { target: "wasm", capacity: 96 });
  for (const [b, prompt] of prompts.entries()) {
    const [text] = await greedy(alone, [prompt], 40);
    assert.equal(found[b], text, `text ${b}`);
  }
  await together.dispose();
  await alone.dispose();
});

dataTest(
  "weights saved and loaded, and from safetensors, tell it too",
  "stories260K",
  async (f) => {
    const bytes = writeSafetensors(llama2cTensors(read(f, "stories260K.bin")));
    const first = new Decoder(storiesConfig);
    await loadWeights(first, bytes);
    const second = new Decoder(storiesConfig);
    await loadState(second, await stateBytes(first));
    const session = new TextSession(second, { target: "wasm" });
    const [text] = await greedy(session, [[1]], 60);
    assert.ok(story.startsWith(vocabulary(f).decode(text!)));
    await session.dispose();
  },
);

dataTest("weights of a GGUF file tell it too", "stories260K", async (f) => {
  const { config, tensors } = ggufModel(readGguf(storiesGguf(f)));
  const net = new Decoder(config);
  await loadWeights(net, tensors);
  const session = new TextSession(net, { target: "wasm" });
  const [text] = await greedy(session, [[1]], 200);
  assert.is(vocabulary(f).decode(text!), story);
  await session.dispose();
});

dataTest(
  "pieces end at a stop, a seed draws the same, a signal ends it",
  "stories260K",
  async (f) => {
    const session = new TextSession(await model(f), { target: "wasm" });
    const told = { session, tokenizer: vocabulary(f) };
    const all = async (options: object): Promise<string> => {
      let text = "";
      for await (const piece of generate(told, "Once upon", options)) text += piece;
      return text;
    };
    assert.is(
      await all({ stop: ["Lily. She"], maxTokens: 60 }),
      " a time, there was a little girl named ",
    );
    const drawn = { temperature: 1, topK: 40, topP: 0.9, minP: 0.02, repetitionPenalty: 1.1 };
    const [a, b, c] = [
      await all({ ...drawn, seed: 7, maxTokens: 30 }),
      await all({ ...drawn, seed: 7, maxTokens: 30 }),
      await all({ ...drawn, seed: 8, maxTokens: 30 }),
    ];
    assert.is(a, b);
    assert.is.not(a, c);
    const control = new AbortController();
    let pieces = 0;
    const cut = async (): Promise<void> => {
      for await (const _ of generate(told, "Once upon", { signal: control.signal }))
        if (++pieces === 3) control.abort(new Error("enough"));
    };
    const end = await cut().then(
      () => "",
      (e: Error) => e.message,
    );
    assert.is(end, "enough");
    assert.is(pieces, 3);
    await session.dispose();
  },
);

test.run();
