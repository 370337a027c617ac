/**
 * Models over HTTP: `serve` listens on a port for one model, an artifact or ONNX file by named
 * tensors, or a language model by OpenAI's interface.
 */
export type { EmbeddingModel } from "./embeddings.ts";
export { RequestError } from "./errors.ts";
export { type ServeOptions, type Server, serve, serveDefaults } from "./server.ts";
export type { TextModel } from "./text-model.ts";
