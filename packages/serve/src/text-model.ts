/**
 * A language model behind OpenAI's interface: completions and chat completions, whole or as
 * server-sent events. One text is made at a time; what begins as the text before is not run again.
 *
 * Interface: platform.openai.com/docs/api-reference, completions and chat.
 */
import {
  type ChatTemplate,
  type Ending,
  generate,
  type TextRunner,
  type Tokenizer,
} from "@kiln-ml/llm";
import { RequestError, wrongField } from "./errors.ts";
import type { Gate } from "./gate.ts";
import type { Metrics } from "./metrics.ts";
import { messagesOf, promptsOf, type TextRequest, textRequest } from "./text-request.ts";

export interface TextModel {
  readonly session: TextRunner;
  readonly tokenizer: Tokenizer;
  readonly chat?: ChatTemplate | undefined;
}

/** What answers are made with. */
export interface TextService {
  readonly name: string;
  readonly model: TextModel;
  readonly gate: Gate;
  readonly metrics: Metrics;
}

type Json = Readonly<Record<string, unknown>>;
type Kind = "completion" | "chat";

/** A piece of one of the answers. */
interface Piece {
  readonly index: number;
  readonly text: string;
}

/** Prompts as tokens. Throws RequestError for one that is too long. */
function tokensOf(
  kind: Kind,
  json: Json,
  { session, tokenizer, chat }: TextModel,
): (readonly number[])[] {
  const prompts = kind === "chat" ? [chatPrompt(json, tokenizer, chat)] : promptsOf(json);
  return prompts.map((prompt) => {
    const tokens = typeof prompt === "string" ? tokenizer.encode(prompt) : prompt;
    const [param, { capacity, net }] = [kind === "chat" ? "messages" : "prompt", session];
    if (tokens.length === 0) throw wrongField(param, "has no tokens");
    if (tokens.length > capacity)
      throw new RequestError(
        400,
        "context_length_exceeded",
        `${param} has ${tokens.length} tokens, the model has room for ${capacity}`,
        param,
      );
    const odd = tokens.find((t) => !(t >= 0 && t < net.config.vocabulary));
    if (odd !== undefined)
      throw wrongField(param, `has token ${odd}, the model knows ${net.config.vocabulary}`);
    return tokens;
  });
}

function chatPrompt(json: Json, tokenizer: Tokenizer, chat: ChatTemplate | undefined) {
  const messages = messagesOf(json);
  if (!chat)
    throw new RequestError(
      400,
      "no_chat_template",
      "this model has no chat template: ask /v1/completions",
      "messages",
    );
  return tokenizer.encode(chat(messages), { formatted: true });
}

/** Answers a request that is read already; the caller's signal ends it. */
export async function answerText(
  service: TextService,
  kind: Kind,
  json: unknown,
  signal: AbortSignal,
): Promise<Response> {
  const { name, model, gate, metrics } = service;
  // A question is answered within the context; what only goes on needs an end.
  const most = kind === "chat" ? model.session.capacity : 256;
  const request = textRequest(json, most);
  const asked = (json as Json).model;
  if (typeof asked === "string" && asked !== name)
    throw new RequestError(
      404,
      "model_not_found",
      `there is no model ${asked.slice(0, 80)} here, but ${name}`,
      "model",
    );
  const prompts = tokensOf(kind, json as Json, model);
  // Before a stream has begun, with a status.
  model.session.checkSampling?.(request.options);
  const gone = new AbortController();
  const either = AbortSignal.any([signal, gone.signal]);
  const leave = await gate.enter(either);
  const made = pieces(service, prompts, request, either);
  const answer = new Answer(kind, name);
  if (request.stream) return streamed(made, answer, request, { gone, leave, metrics });
  try {
    return Response.json(await whole(made, answer, prompts.length));
  } finally {
    leave();
  }
}

type Pieces = AsyncGenerator<Piece, Ending[]>;

async function* pieces(
  { model, metrics }: TextService,
  prompts: readonly (readonly number[])[],
  { options }: TextRequest,
  signal: AbortSignal,
): Pieces {
  const endings: Ending[] = [];
  for (const [index, prompt] of prompts.entries()) {
    const [began, ran] = [performance.now(), model.session.ran];
    const texts = generate(model, prompt, { ...options, signal });
    let isFirst = true;
    for (;;) {
      const next = await texts.next();
      if (next.done) {
        endings.push(next.value);
        const { promptTokens, madeTokens } = next.value;
        metrics.add("kiln_prompt_tokens_total", promptTokens);
        metrics.add("kiln_completion_tokens_total", madeTokens);
        const all = model.session.ran - ran;
        metrics.add("kiln_prompt_tokens_ran_total", Math.max(0, all - Math.max(0, madeTokens - 1)));
        break;
      }
      if (isFirst) metrics.observe("kiln_first_token_seconds", (performance.now() - began) / 1000);
      isFirst = false;
      yield { index, text: next.value };
      // Other requests, and clients that go away, are heard between turns of the event loop alone.
      await new Promise((turn) => setImmediate(turn));
    }
  }
  return endings;
}

const usageOf = (endings: readonly Ending[]) => {
  const sum = (f: (e: Ending) => number) => endings.reduce((n, e) => n + f(e), 0);
  const [prompt, made] = [sum((e) => e.promptTokens), sum((e) => e.madeTokens)];
  return { prompt_tokens: prompt, completion_tokens: made, total_tokens: prompt + made };
};

/** The objects of one answer. */
class Answer {
  readonly #kind: Kind;
  readonly #head: { id: string; created: number; model: string };

  constructor(kind: Kind, model: string) {
    const id = `${kind === "chat" ? "chatcmpl" : "cmpl"}-${crypto.randomUUID()}`;
    this.#kind = kind;
    this.#head = { id, created: Math.floor(Date.now() / 1000), model };
  }

  whole(texts: readonly string[], endings: readonly Ending[]): object {
    const isChat = this.#kind === "chat";
    const choices = texts.map((text, index) => ({
      index,
      ...(isChat ? { message: { role: "assistant", content: text } } : { text }),
      logprobs: null,
      finish_reason: endings[index]!.reason,
    }));
    const object = isChat ? "chat.completion" : "text_completion";
    return { ...this.#head, object, choices, usage: usageOf(endings) };
  }

  /** A part of a stream; `end` is why the text ended. */
  part(index: number, text: string | undefined, end: string | null, first = false): object {
    const isChat = this.#kind === "chat";
    const delta = {
      ...(first && { role: "assistant" }),
      ...(text !== undefined && { content: text }),
    };
    const choice = {
      index,
      ...(isChat ? { delta } : { text: text ?? "" }),
      logprobs: null,
      finish_reason: end,
    };
    return {
      ...this.#head,
      object: isChat ? "chat.completion.chunk" : "text_completion",
      choices: [choice],
    };
  }

  usage(endings: readonly Ending[]): object {
    const object = this.#kind === "chat" ? "chat.completion.chunk" : "text_completion";
    return { ...this.#head, object, choices: [], usage: usageOf(endings) };
  }
}

async function whole(made: Pieces, answer: Answer, count: number): Promise<object> {
  const texts = Array.from({ length: count }, () => "");
  for (;;) {
    const next = await made.next();
    if (next.done) return answer.whole(texts, next.value);
    texts[next.value.index] += next.value.text;
  }
}

interface Place {
  /** Ends the generation. */
  readonly gone: AbortController;
  readonly leave: () => void;
  readonly metrics: Metrics;
}

/**
 * Server-sent events. The text is made as fast as it can be, however slowly the client reads, so
 * that it holds up nobody else: what waits is one answer at most.
 */
function streamed(
  made: Pieces,
  answer: Answer,
  { withUsage }: TextRequest,
  { gone, leave, metrics }: Place,
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (data: object | string): void =>
        controller.enqueue(
          encoder.encode(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`),
        );
      void (async () => {
        const endings = await events(made, answer, send);
        if (withUsage) send(answer.usage(endings));
        send("[DONE]");
        controller.close();
      })()
        .catch((error) => {
          // The status is sent already: the stream breaks off.
          if (!gone.signal.aborted) controller.error(error);
        })
        .finally(leave);
    },
    cancel() {
      metrics.add("kiln_aborted_total");
      gone.abort(new RequestError(499, "client_gone", "the client went away"));
    },
  });
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
  return new Response(body, { headers });
}

async function events(
  made: Pieces,
  answer: Answer,
  send: (data: object) => void,
): Promise<Ending[]> {
  const begun = new Set<number>();
  for (;;) {
    const next = await made.next();
    if (next.done) {
      for (const [i, { reason }] of next.value.entries()) send(answer.part(i, undefined, reason));
      return next.value;
    }
    const { index, text } = next.value;
    send(answer.part(index, text, null, !begun.has(index)));
    begun.add(index);
  }
}
