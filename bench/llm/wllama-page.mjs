/**
 * `@wllama/wllama`, llama.cpp as wasm, in a page and on one thread. Its own clock tells prompts and
 * tokens apart; a prompt is a text here, since it takes no tokens, and of about as many of them.
 */
import { LoggerWithoutDebug, Wllama } from "@wllama/wllama";

const median = (all) => [...all].sort((a, b) => a - b)[all.length >> 1];

/** Fewer tokens than others make: a page that takes minutes is given up. */
const made = 16;

async function measure({ prompt }) {
  const bytes = await (await fetch("/model.gguf")).blob();
  const wllama = new Wllama(
    { default: "/wllama.wasm" },
    { suppressNativeLog: true, logger: LoggerWithoutDebug },
  );
  const start = performance.now();
  await wllama.loadModel([bytes], { n_ctx: 512, n_batch: 128, n_threads: 1, n_gpu_layers: 0 });
  const loadMs = performance.now() - start;
  /** Letters are tokens of their own. */
  const textOf = (which) =>
    Array.from({ length: prompt - 2 }, (_, i) =>
      String.fromCharCode(97 + ((7 * i + 13 * which) % 26)),
    ).join("");
  const [prefills, tokens] = [[], []];
  for (const which of [1, 2, 3]) {
    const { timings } = await wllama.createCompletion({
      prompt: textOf(which),
      max_tokens: made,
      temperature: 0,
      ignore_eos: true,
      cache_prompt: false,
    });
    // The first text warms up.
    if (which === 1) continue;
    prefills.push(timings.prompt_per_second);
    tokens.push(timings.predicted_per_second);
  }
  await wllama.exit();
  return {
    loadMs,
    prefillTokensPerSecond: median(prefills),
    decodeTokensPerSecond: median(tokens),
  };
}

const lengths = JSON.parse(document.querySelector("#lengths").textContent);
globalThis.result = measure(lengths).catch((error) => ({
  failure: String(error?.message ?? error),
}));
