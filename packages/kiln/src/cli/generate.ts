/** `kiln generate`: what a language model goes on with, as it is made. */
import { compiledTexts } from "./compiled-text.ts";
import {
  languageModels,
  loadingFrom,
  modelNotes,
  modelPath,
  samplingFrom,
  samplingOptions,
  weightOptions,
} from "./language-model.ts";
import { helpOf, type Option, tableOf } from "./options.ts";
import { say } from "./terminal.ts";
import { parseOptions, UsageError } from "./usage.ts";

export const options: readonly Option[] = [
  { name: "prompt", value: "TEXT", help: "the text to go on from" },
  ...samplingOptions,
  ...weightOptions,
];

export const help = helpOf(
  "generate MODEL --prompt TEXT [options]",
  options,
  `${modelNotes}What follows the prompt is printed, without it.\n`,
);

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions("generate", args, tableOf(options));
  const path = modelPath("generate", positionals);
  if (values.prompt === undefined)
    throw new UsageError("kiln generate: needs --prompt TEXT\n  see kiln generate --help");
  const sampling = samplingFrom("generate", values);
  const { loadModel, TextSession, generate } = await languageModels("generate");
  const compiled = await compiledTexts("generate", path, values);
  if (compiled) return tell(generate(compiled, String(values.prompt), sampling), compiled.session);
  const { net, tokenizer } = await loadModel(path, loadingFrom("generate", values));
  const prompt = tokenizer.encode(String(values.prompt));
  // Caches of what is asked for: a model's whole context may take more memory than its weights.
  const room = Math.max(1, Math.min(net.config.context, prompt.length + sampling.maxTokens));
  const session = new TextSession(net, { capacity: room });
  return tell(generate({ session, tokenizer }, prompt, sampling), session);
}

/** Pieces as they are made. */
async function tell(
  pieces: AsyncIterable<string>,
  session: { dispose(): Promise<void> },
): Promise<number> {
  try {
    for await (const piece of pieces) say(piece);
    say("\n");
  } finally {
    await session.dispose();
  }
  return 0;
}
