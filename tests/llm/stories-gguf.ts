/** The 260K-parameter Llama of ../shared/data as one GGUF file with its vocabulary. */
import { readFileSync } from "node:fs";
import { ggufName, writeGguf } from "./gguf-text.ts";
import { llama2cPieces, llama2cScores, llama2cTensors } from "./stories.ts";

/** What llama2.c's own test expects of 200 steps at temperature 0. */
export const story = `Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball. She wanted to play with it, but it was too high.
Lily's mom said, "Lily, let's go to the park." Lily was sad and didn't know what to do. She said, "I want to play with your ball, but I can't find it."
Lily was sad and didn't know what to do. She said, "I'm sorry, Lily. I didn't know what to do."
Lily didn't want to help her mom, so she`;

/** The bytes of the file, of the unpacked archive. */
export function storiesGguf(folder: string): Uint8Array {
  const read = (name: string): Uint8Array =>
    new Uint8Array(readFileSync(`${folder}/weights/${name}`));
  const plain = llama2cTensors(read("stories260K.bin"), (c) => c);
  const vocabulary = read("tok512.bin");
  const pieces = llama2cPieces(vocabulary).map((p) => p.replaceAll(" ", "\u2581"));
  return writeGguf({
    values: {
      "general.architecture": "llama",
      "llama.embedding_length": 64,
      "llama.feed_forward_length": 172,
      "llama.block_count": 5,
      "llama.attention.head_count": 8,
      "llama.attention.head_count_kv": 4,
      "llama.context_length": 512,
      "llama.attention.layer_norm_rms_epsilon": 1e-5,
      "tokenizer.ggml.model": "llama",
      "tokenizer.ggml.tokens": pieces,
      "tokenizer.ggml.scores": llama2cScores(vocabulary),
      "tokenizer.ggml.token_type": pieces.map((p, i) => (i < 3 ? 3 : /^<0x..>$/.test(p) ? 6 : 1)),
      "tokenizer.ggml.bos_token_id": 1,
      "tokenizer.ggml.eos_token_id": 2,
    },
    tensors: Object.entries(plain).map(([name, { shape, data }]) => ({
      name: ggufName(name),
      shape,
      type: 0,
      data,
    })),
  });
}
