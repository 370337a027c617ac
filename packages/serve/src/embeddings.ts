/**
 * Vectors of texts behind OpenAI's interface. One request runs at a time, some texts after the
 * others, so that a client who goes away ends it.
 *
 * Interface: platform.openai.com/docs/api-reference, embeddings.
 */
import type { Embedder } from "@kiln-ml/llm";
import { RequestError, wrongField } from "./errors.ts";
import type { Gate } from "./gate.ts";
import { cut, isRecord } from "./tensor-json.ts";

export interface EmbeddingModel {
  readonly embedder: Embedder;
}

/** What answers are made with. */
export interface EmbeddingService {
  readonly name: string;
  readonly model: EmbeddingModel;
  readonly gate: Gate;
}

/** As many as OpenAI's takes. */
const mostTexts = 2048;
/** Texts between two looks at the client. */
const together = 32;

interface EmbeddingRequest {
  readonly texts: readonly string[];
  readonly isBase64: boolean;
}

/** Answers a request that is read already; the caller's signal ends it. */
export async function answerEmbeddings(
  { name, model: { embedder }, gate }: EmbeddingService,
  json: unknown,
  signal: AbortSignal,
): Promise<Response> {
  const { texts, isBase64 } = requestOf(json, name, embedder);
  const counts = texts.map((text) => embedder.tokenizer.encode(text).length);
  const leave = await gate.enter(signal);
  try {
    const data: object[] = [];
    for (let at = 0; at < texts.length; at += together) {
      signal.throwIfAborted();
      for (const vector of await embedder.embed(texts.slice(at, at + together)))
        data.push({
          object: "embedding",
          index: data.length,
          embedding: isBase64 ? base64Of(vector) : [...vector],
        });
    }
    const tokens = counts.reduce((a, b) => a + b, 0);
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return Response.json({ object: "list", model: name, data, usage });
  } finally {
    leave();
  }
}

/** The request, read strictly. Throws RequestError. */
function requestOf(json: unknown, name: string, embedder: Embedder): EmbeddingRequest {
  if (!isRecord(json)) throw wrongField("body", "must be an object");
  const { input, model, dimensions, encoding_format: form = "float" } = json;
  if (typeof model === "string" && model !== name)
    throw new RequestError(
      404,
      "model_not_found",
      `there is no model ${model.slice(0, 80)} here, but ${name}`,
      "model",
    );
  const { width } = embedder.net.config;
  if (dimensions !== undefined && dimensions !== null && dimensions !== width)
    throw wrongField("dimensions", `must be ${width}, got ${cut(JSON.stringify(dimensions))}`);
  if (form !== "float" && form !== "base64")
    throw wrongField(
      "encoding_format",
      `must be float or base64, got ${cut(JSON.stringify(form))}`,
    );
  return { texts: textsOf(input), isBase64: form === "base64" };
}

function textsOf(input: unknown): readonly string[] {
  const list = Array.isArray(input) ? (input as unknown[]) : [input];
  if (list.length === 0 || list.length > mostTexts)
    throw wrongField("input", `must be 1 to ${mostTexts} texts, got ${list.length}`);
  for (const [i, text] of list.entries())
    if (typeof text !== "string" || text === "")
      throw wrongField(
        "input",
        `must be texts that are not empty, ${i} is ${cut(JSON.stringify(text) ?? "absent")}`,
      );
  return list as string[];
}

/** The bytes of f32, little-endian, as clients of OpenAI ask for them by default. */
const base64Of = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64");
