/**
 * llama.cpp by node-llama-cpp, on one thread of the CPU: `node llama-cpp.mjs FILE LENGTHS` prints a
 * line of JSON as `kiln.ts` does. Prompts and times are as there.
 */
import { getLlama, LlamaLogLevel } from "node-llama-cpp";
import { now, printRates } from "./rates.mjs";

const [file, given] = process.argv.slice(2);
const lengths = JSON.parse(given);

const llama = await getLlama({
  gpu: false,
  build: "never",
  maxThreads: 1,
  logLevel: LlamaLogLevel.error,
});
const start = now();
const model = await llama.loadModel({ modelPath: file, useMmap: false });
const context = await model.createContext({
  contextSize: 512,
  batchSize: lengths.prompt,
  threads: 1,
});
const loadMs = now() - start;
const sequence = context.getSequence();

const promptOf = (length, which) =>
  Array.from({ length }, (_, i) => ((7 * i + 13 * which + 3) % (lengths.vocabulary - 3)) + 3);

/** CPU times of the first token and of those after it. */
async function tell(length, which, made) {
  await sequence.clearHistory();
  const times = [];
  let before = now();
  const how = { temperature: 0, yieldEogToken: true };
  for await (const _ of sequence.evaluate(promptOf(length, which), how)) {
    const after = now();
    times.push(after - before);
    before = after;
    if (times.length === made) break;
  }
  return times;
}

await printRates(lengths, loadMs, tell);
