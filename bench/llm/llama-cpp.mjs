/**
 * llama.cpp by node-llama-cpp, on one thread of the CPU: `node llama-cpp.mjs FILE LENGTHS` prints a
 * line of JSON as `kiln.ts` does. Prompts and times are as there.
 */
import { getLlama, LlamaLogLevel } from "node-llama-cpp";

const [file, given] = process.argv.slice(2);
const lengths = JSON.parse(given);

const now = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const median = (all) => [...all].sort((a, b) => a - b)[all.length >> 1];

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

const [firstTokenMs] = await tell(lengths.first, 1, 1);
const [nextFirstTokenMs] = await tell(lengths.first, 2, 1);
const prefills = [];
const tokens = [];
for (const which of [3, 4, 5]) {
  const [first, ...more] = await tell(lengths.prompt, which, lengths.made);
  prefills.push(first);
  tokens.push(...more);
}
const peakMiB = process.resourceUsage().maxRSS / 1024;
const sorted = [...tokens].sort((a, b) => a - b);
const spread = (sorted[(3 * sorted.length) >> 2] - sorted[sorted.length >> 2]) / 2 / median(tokens);
console.log(
  JSON.stringify({
    loadMs,
    firstTokenMs,
    nextFirstTokenMs,
    prefillTokensPerSecond: (1000 * lengths.prompt) / median(prefills),
    decodeTokensPerSecond: 1000 / median(tokens),
    spread,
    peakMiB,
  }),
);
process.exit(0);
