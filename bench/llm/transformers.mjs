/**
 * `@huggingface/transformers` on ONNX Runtime's one thread of the CPU: `node transformers.mjs
 * FOLDER DTYPE LENGTHS` prints a line of JSON as `kiln.ts` does. Prompts and times are as there.
 */
import { AutoModelForCausalLM, BaseStreamer, env, Tensor } from "@huggingface/transformers";
import { now, printRates } from "./rates.mjs";

const [folder, dtype, given] = process.argv.slice(2);
const lengths = JSON.parse(given);
env.allowRemoteModels = false;
env.localModelPath = "/";

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

await printRates(lengths, loadMs, tell);
