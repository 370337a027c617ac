/**
 * Requests of OpenAI's completions and chat completions, read strictly: what changes the answer and
 * is not built is refused.
 */
import type { ChatMessage, GenerateOptions } from "@kiln-ml/llm";
import { wrongField } from "./errors.ts";
import { cut, isRecord } from "./tensor-json.ts";

export interface TextRequest {
  readonly stream: boolean;
  /** The last event of a stream says how many tokens there were. */
  readonly withUsage: boolean;
  readonly options: Omit<GenerateOptions, "signal">;
}

type Json = Readonly<Record<string, unknown>>;

/** What is refused unless it has a value that asks for nothing. */
const notBuilt: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  best_of: [1],
  echo: [false],
  suffix: [""],
  logprobs: [false, 0],
  top_logprobs: [0],
  logit_bias: [],
  presence_penalty: [0],
  frequency_penalty: [0],
  tools: [],
  functions: [],
  response_format: [],
};

const isNothing = (x: unknown): boolean =>
  x === undefined ||
  x === null ||
  (typeof x === "object" && Object.keys(x).length === 0) ||
  (isRecord(x) && x.type === "text");

/** What both kinds of requests have. `most` is how many tokens are made where none is asked for. */
export function textRequest(json: unknown, most: number): TextRequest {
  if (!isRecord(json)) throw wrongField("body", "must be an object");
  for (const [name, fine] of Object.entries(notBuilt))
    if (!isNothing(json[name]) && !fine.includes(json[name]))
      throw wrongField(name, `${cut(JSON.stringify(json[name]))} is not built: leave it out`);
  const maxTokens = numberIn(json, "max_completion_tokens") ?? numberIn(json, "max_tokens") ?? most;
  if (!Number.isInteger(maxTokens) || maxTokens < 1)
    throw wrongField("max_tokens", `must be an integer of 1 or more, got ${maxTokens}`);
  const temperature = numberIn(json, "temperature") ?? 1;
  if (!(temperature >= 0 && temperature <= 100))
    throw wrongField("temperature", `must be from 0 to 100, got ${temperature}`);
  const topP = numberIn(json, "top_p") ?? 1;
  if (!(topP > 0 && topP <= 1))
    throw wrongField("top_p", `must be above 0, at most 1, got ${topP}`);
  const seed = numberIn(json, "seed") ?? Math.floor(Math.random() * 2 ** 32);
  if (!Number.isInteger(seed)) throw wrongField("seed", `must be an integer, got ${seed}`);
  const { stream_options: how } = json;
  return {
    stream: json.stream === true,
    withUsage: isRecord(how) && how.include_usage === true,
    options: { maxTokens, temperature, topP, seed, stop: stopsOf(json.stop), ...ofOthers(json) },
  };
}

/** Fields that servers besides OpenAI's have. */
function ofOthers(json: Json): Omit<GenerateOptions, "signal"> {
  const topK = numberIn(json, "top_k");
  const minP = numberIn(json, "min_p");
  const repetitionPenalty = numberIn(json, "repetition_penalty");
  return {
    ...(topK && topK > 0 ? { topK } : {}),
    ...(minP === undefined ? {} : { minP }),
    ...(repetitionPenalty === undefined ? {} : { repetitionPenalty }),
  };
}

function numberIn(json: Json, name: string): number | undefined {
  const value = json[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number") return value;
  throw wrongField(name, `must be a number, got ${cut(JSON.stringify(value))}`);
}

function stopsOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const stops = [value].flat();
  if (stops.length <= 16 && stops.every((s) => typeof s === "string" && s.length <= 1000))
    return stops as string[];
  throw wrongField("stop", "must be a text or at most 16 of them, of 1000 characters each");
}

/** Texts or tokens to go on from: each is an answer of its own. */
export function promptsOf({ prompt }: Json): (string | readonly number[])[] {
  const isTokens = (x: unknown): x is number[] =>
    Array.isArray(x) && x.length > 0 && x.every((t) => Number.isInteger(t));
  if (typeof prompt === "string" || isTokens(prompt)) return [prompt];
  const isList = Array.isArray(prompt) && prompt.length > 0 && prompt.length <= 16;
  if (isList && prompt.every((p) => typeof p === "string" || isTokens(p))) return prompt;
  throw wrongField("prompt", "must be a text, tokens, or a list of 1 to 16 of them");
}

export function messagesOf({ messages }: Json): ChatMessage[] {
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > 10_000)
    throw wrongField("messages", "must be a list of 1 to 10000 messages");
  return messages.map((m, i) => {
    const where = `messages[${i}]`;
    if (!isRecord(m) || typeof m.role !== "string")
      throw wrongField(where, "must be an object with role and content");
    return { role: m.role, content: contentOf(m.content, where) };
  });
}

/** A text, or parts of which each is one. */
function contentOf(content: unknown, where: string): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content) && content.every((p) => isRecord(p) && typeof p.text === "string"))
    return content.map((p) => p.text).join("");
  throw wrongField(`${where}.content`, "must be a text, or parts of type text");
}
