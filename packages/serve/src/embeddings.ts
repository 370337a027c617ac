/**
 * Vectors of texts behind OpenAI's interface. One request runs at a time, batch by batch, so that a
 * client who goes away ends it.
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
  // Nothing of a text is looked at before its turn: those that wait cost no more than their bytes.
  const leave = await gate.enter(signal);
  try {
    const vectors = await embedder.embed(texts, { signal });
    const data = vectors.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: isBase64 ? base64Of(vector) : [...vector],
    }));
    const tokens = texts.reduce((n, text) => n + embedder.tokenizer.encode(text).length, 0);
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return Response.json({ object: "list", model: name, data, usage });
  } finally {
    leave();
  }
}

/** The request, read strictly. Throws RequestError. */
function requestOf(json: unknown, name: string, embedder: Embedder): EmbeddingRequest {
  if (!isRecord(json)) throw wrongField("body", "must be an object");
  const { input, model, dimensions } = json;
  const form = json.encoding_format ?? "float";
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
