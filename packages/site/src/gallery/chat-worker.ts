/** A language model off the page's thread: opens files, and answers token by token until stopped. */
import {
  generate,
  type LanguageModel,
  type ModelFiles,
  openModelFiles,
  TextSession,
} from "@kiln-ml/llm";
import type { FromChat, ToChat, Turn } from "./chat-messages.ts";
import { openTarget } from "./device.ts";

interface Scope {
  postMessage(message: FromChat): void;
  addEventListener(kind: "message", listen: (event: { readonly data: ToChat }) => void): void;
}
const scope = globalThis as unknown as Scope;
const post = (message: FromChat): void => scope.postMessage(message);

/** Tokens that a conversation may have here, whatever the model was made for: caches take memory. */
const most = 2048;
/** Of an answer: models that were not made to converse never end by themselves. */
const mostMade = 256;

let opened: { readonly model: LanguageModel; readonly session: TextSession } | undefined;
let stop: AbortController | undefined;

const bytesOf = async (file: Blob | string): Promise<Uint8Array> => {
  if (typeof file !== "string") return new Uint8Array(await file.arrayBuffer());
  const response = await fetch(file);
  if (!response.ok) throw new Error(`${file}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
};

async function open({ name, files, target }: Extract<ToChat, { kind: "open" }>): Promise<void> {
  const device = await openTarget(target);
  const names = new Set(files.keys());
  const source: ModelFiles = { name, names, read: (file) => bytesOf(files.get(file)!) };
  const model = await openModelFiles(source);
  const { config } = model.net;
  // Prompts of these models are short: chunks of 32 tokens waste less on a page's first words.
  const capacity = Math.min(config.context, most);
  opened = { model, session: new TextSession(model.net, { capacity, chunk: 32 }) };
  const { parameterCount: parameters } = model.net;
  const converses = model.chat !== undefined;
  post({ kind: "opened", device, parameters, context: capacity, converses });
}

/** The tokens of a conversation, without its first turns where it has grown too long. */
function promptOf({ chat, tokenizer }: LanguageModel, turns: readonly Turn[], room: number) {
  if (!chat) return tokenizer.encode(turns.map((t) => t.content).join(""));
  for (let from = 0; ; from += 2) {
    const text = chat(turns.slice(from));
    const tokens = tokenizer.encode(text, { formatted: true });
    if (tokens.length <= room || from + 2 >= turns.length) return tokens;
  }
}

async function say({ turns, temperature }: Extract<ToChat, { kind: "say" }>): Promise<void> {
  if (!opened) return;
  const { model, session } = opened;
  const { tokenizer } = model;
  stop = new AbortController();
  const { signal } = stop;
  const prompt = promptOf(model, turns, session.capacity - mostMade);
  const started = performance.now();
  let first = 0;
  const seed = Math.floor(Math.random() * 2 ** 31);
  const sampling = temperature > 0 ? { temperature, topP: 0.95, seed } : {};
  const pieces = generate({ session, tokenizer }, prompt, {
    ...sampling,
    maxTokens: mostMade,
    signal,
  });
  let tokens = 0;
  let reason: "stop" | "length" | "stopped" = "stopped";
  try {
    for (;;) {
      const { done, value } = await pieces.next();
      first ||= performance.now();
      if (done) {
        [reason, tokens] = [value.reason, value.madeTokens];
        break;
      }
      tokens++;
      post({ kind: "piece", text: value });
      // A message that asks to stop is heard between two tokens.
      await new Promise((heard) => setTimeout(heard));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const seconds = (performance.now() - first) / 1000;
  const tokensPerSecond = tokens > 1 ? (tokens - 1) / seconds : 0;
  post({ kind: "ended", reason, tokens, firstMs: first - started, tokensPerSecond });
}

async function answer(message: ToChat): Promise<void> {
  if (message.kind === "open") await open(message);
  else if (message.kind === "say") await say(message);
  else stop?.abort();
}

scope.addEventListener("message", ({ data }) => {
  answer(data).catch((error: Error) =>
    post({ kind: "failed", text: `${error.name}: ${error.message}` }),
  );
});
