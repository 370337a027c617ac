/**
 * One shape on one target, in a process of its own: `node kiln.mjs SHAPE WEIGHTS TARGET [FILE]`
 * prints a line of JSON. Weights of few bits lie in a GGUF file, whose blocks stay as they are,
 * with 8-bit activations as llama.cpp has them; floats are made up.
 */
import { type Constant, writeSafetensors } from "@kiln-ml/artifact";
import { Decoder, decoderConfig, generateTokens, TextSession } from "@kiln-ml/llm";
import { loadModel } from "@kiln-ml/llm/node";
import { loadWeights, setThreads } from "kiln-ml";
import { timingOf } from "../measure.ts";
import { peakBytes } from "../peak.ts";
import { lengths, type Measured, shapes } from "./shapes.ts";

const [name = "", weights, target, path] = process.argv.slice(2) as [
  string,
  "f32" | "f16" | "int8" | "int4",
  "js" | "wasm",
  string?,
];
setThreads(1);
const config = decoderConfig(shapes[name]);

type Plain = "f32" | "f16";

/** Values of about the size that training gives, fast to make: a billion of them take a while. */
function fileOf(weights: Plain): Uint8Array {
  let seed = 1;
  const state = new Decoder(config, { weights, empty: true }).state();
  const tensors = [...state].map(([path, { dtype, shape }]): [string, Constant] => {
    const [rows, columns = 1] = shape as number[];
    const values = new Float32Array(rows! * columns);
    if (path.endsWith("norm.weight")) values.fill(1);
    else
      for (let i = 0; i < values.length; i++) {
        seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
        values[i] = (seed / 2 ** 31) * 0.04;
      }
    const data = new Uint8Array(dtype === "f16" ? halves(values) : values.buffer);
    return [path, { dtype, shape: shape as number[], data }];
  });
  return writeSafetensors(Object.fromEntries(tensors));
}

/** Halves of small numbers, cut off: the bits of f32 above the thirteenth, less the bias. */
function halves(values: Float32Array): ArrayBuffer {
  const bits = new Uint32Array(values.buffer);
  const out = Uint16Array.from(bits, (b) => {
    const exponent = ((b >>> 23) & 255) - 112;
    return ((b >>> 16) & 0x8000) | (exponent <= 0 ? 0 : (exponent << 10) | ((b >>> 13) & 1023));
  });
  return out.buffer as ArrayBuffer;
}

/** Other tokens for each, so that nothing of a prompt is known from the one before. */
const promptOf = (length: number, which: number): number[] =>
  Array.from({ length }, (_, i) => (7 * i + 13 * which + 3) % config.vocabulary);

/** CPU time, as other tables have it: by the clock, what else the machine does is measured too. */
const now = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function firstTokens(session: TextSession, which: number, maxTokens = 1): Promise<number> {
  const start = now();
  const prompt = promptOf(lengths.first, which);
  for await (const _ of generateTokens(session, [prompt], { maxTokens, ends: [] }));
  return now() - start;
}

/** The net, and CPU time from the bytes of a file on. */
async function loaded(): Promise<{ readonly net: Decoder; readonly start: number }> {
  if (path !== undefined) {
    const start = now();
    return { net: (await loadModel(path, { activations: "i8" })).net, start };
  }
  const file = fileOf(weights as Plain);
  const start = now();
  const net = new Decoder(config, { weights: weights as Plain, empty: true });
  await loadWeights(net, file);
  return { net, start };
}

async function measure(): Promise<Measured> {
  const { net, start } = await loaded();
  const capacity = Math.min(config.context, 512);
  const session = new TextSession(net, { target, capacity, chunk: lengths.prompt });
  const loadMs = now() - start;
  const firstTokenMs = await firstTokens(session, 1);
  const nextFirstTokenMs = await firstTokens(session, 2);
  // The second token compiles what all others run.
  await firstTokens(session, 2, 8);
  const prefills: number[] = [];
  const tokens: number[] = [];
  for (const which of [3, 4, 5]) {
    const prompt = promptOf(lengths.prompt, which);
    const made = generateTokens(session, [prompt], { maxTokens: lengths.made, ends: [] });
    const times = [now()];
    for await (const _ of made) times.push(now());
    const [start, first] = times as [number, number];
    prefills.push(first - start);
    // A mean of each text: the processor's clock counts in steps of milliseconds.
    tokens.push((times.at(-1)! - first) / (times.length - 2));
  }
  const [prefill, decode] = [timingOf(prefills), timingOf(tokens)];
  const peakMiB = peakBytes() / 2 ** 20;
  const kernels = await session.profile([[5]], [lengths.prompt]);
  return {
    loadMs,
    firstTokenMs,
    nextFirstTokenMs,
    prefillTokensPerSecond: (1000 * lengths.prompt) / prefill.median,
    decodeTokensPerSecond: 1000 / decode.median,
    spread: decode.spread,
    peakMiB,
    kernels: kernels.length,
    bytes: kernels.reduce((sum, k) => sum + k.bytes, 0),
  };
}

console.log(JSON.stringify(await measure()));
process.exit(0);
