/**
 * `kiln chat`: a conversation with a language model, line by line. Ctrl-C stops a reply; twice, or
 * the end of the input, leaves.
 */
import { createInterface, type Interface } from "node:readline";
import { compiledTexts } from "./compiled-text.ts";
import { describeFailure, PlainError } from "./failure.ts";
import {
  languageModels,
  loadingFrom,
  modelNotes,
  modelPath,
  nameOf,
  samplingFrom,
  samplingOptions,
  weightOptions,
} from "./language-model.ts";
import { helpOf, type Option, tableOf } from "./options.ts";
import { complain, say } from "./terminal.ts";
import { countFrom, parseOptions } from "./usage.ts";

export const options: readonly Option[] = [
  { name: "system", value: "TEXT", help: "what the model is told before the conversation" },
  { name: "context", value: "N", help: "the most tokens of a conversation (4096)" },
  ...samplingOptions,
  ...weightOptions,
];

export const help = helpOf(
  "chat MODEL [options]",
  options,
  `${modelNotes}Ctrl-C stops a reply; twice, or the end of the input, leaves.\n`,
);

interface Message {
  readonly role: string;
  readonly content: string;
}

/** Makes a reply in pieces. */
export type Reply = (messages: readonly Message[], signal: AbortSignal) => AsyncIterable<string>;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions("chat", args, tableOf(options));
  const path = modelPath("chat", positionals);
  const sampling = samplingFrom("chat", values);
  const most = countFrom("chat", "context", values.context, 4096);
  const { loadModel, TextSession, generate } = await languageModels("chat");
  const open = async () => {
    const { net, ...texts } = await loadModel(path, loadingFrom("chat", values));
    const capacity = Math.min(net.config.context, most);
    // Without a template nothing is run.
    const session = texts.chat && new TextSession(net, { capacity });
    return { ...texts, session };
  };
  const opened = (await compiledTexts("chat", path, values)) ?? (await open());
  const { tokenizer, chat, session } = opened;
  if (!chat || !session)
    throw new PlainError(
      `kiln chat: ${nameOf(path)} has no chat template: it was not made to converse\n  kiln generate goes on from a text`,
    );
  const reply: Reply = (messages, signal) => {
    const prompt = tokenizer.encode(chat(messages), { formatted: true });
    return generate({ session, tokenizer }, prompt, { ...sampling, signal });
  };
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " });
  const system = values.system === undefined ? [] : [{ role: "system", content: values.system }];
  try {
    await converse(lines, reply, system as readonly Message[]);
  } finally {
    lines.close();
    await session.dispose();
  }
  return 0;
}

/** Asks and replies until the lines end, or Ctrl-C is pressed twice. */
export async function converse(
  lines: Interface,
  reply: Reply,
  before: readonly Message[] = [],
): Promise<void> {
  let messages = before;
  let presses = 0;
  let now: AbortController | undefined;
  let ended = false;
  lines.once("close", () => {
    ended = true;
  });
  const press = (): void => {
    presses++;
    now?.abort();
    if (presses > 1) lines.close();
    else if (!now) say("\nCtrl-C again leaves\n");
  };
  // A terminal gives the key to `lines`, anything else a signal to the process.
  lines.on("SIGINT", press);
  process.on("SIGINT", press);
  try {
    lines.prompt();
    for await (const line of lines) {
      presses = 0;
      if (line.trim() !== "") {
        now = new AbortController();
        messages = await turn([...messages, { role: "user", content: line }], reply, now.signal);
        now = undefined;
      }
      if (presses > 1) break;
      if (!ended) lines.prompt();
    }
  } finally {
    process.off("SIGINT", press);
    lines.off("SIGINT", press);
  }
}

/** One reply, as it is made; the conversation with as much of it as there is. */
async function turn(
  asked: readonly Message[],
  reply: Reply,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  let content = "";
  try {
    for await (const piece of reply(asked, signal)) {
      content += piece;
      say(piece);
      // Keys are heard between turns of the event loop alone.
      await new Promise((next) => setImmediate(next));
    }
  } catch (error) {
    if (!signal.aborted) {
      // What could not be replied to, as a conversation that is too long, is forgotten.
      complain(`${describeFailure(error)}\n`);
      return asked.slice(0, -1);
    }
  }
  say("\n");
  return [...asked, { role: "assistant", content }];
}
