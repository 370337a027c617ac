/**
 * `@huggingface/transformers` on ONNX Runtime's one thread of the CPU: `node transformers.mjs FOLDER
 * DTYPE LENGTHS` prints a line of JSON as `kiln.ts` does. Prompts and times are as there.
 */
import { AutoModelForCausalLM, BaseStreamer, env, Tensor } from "@huggingface/transformers";

const [folder, dtype, given] = process.argv.slice(2);
const lengths = JSON.parse(given);
env.allowRemoteModels = false;
env.localModelPath = "/";

const now = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const median = (all) => [...all].sort((a, b) => a - b)[all.length >> 1];

const start = now();
const model = await AutoModelForCausalLM.from_pretrained(folder, {
  dtype,
  session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
});
const loadMs = now() - start;

const promptOf = (length, which) =>
  Array.from({ length }, (_, i) => (7 * i + 13 * which + 3) % lengths.vocabulary);

/** The first call is the prompt. */
class Times extends BaseStreamer {
  at = [];
  put() {
    this.at.push(now());
  }
  end() {}
}

/** CPU times of the first token and of those after it. */
async function tell(length, which, made) {
  const ids = BigInt64Array.from(promptOf(length, which), BigInt);
  const shaped = (data) => new Tensor("int64", data, [1, length]);
  const streamer = new Times();
  await model.generate({
    input_ids: shaped(ids),
    attention_mask: shaped(new BigInt64Array(length).fill(1n)),
    max_new_tokens: made,
    min_new_tokens: made,
    do_sample: false,
    streamer,
  });
  return streamer.at.slice(1).map((t, i) => t - streamer.at[i]);
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
