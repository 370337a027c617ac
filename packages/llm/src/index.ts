/**
 * Language models: decoders by their config.json, with weights by their public names, and texts out
 * of them.
 */
export {
  type Architecture,
  architectures,
  type DecoderConfig,
  decoderConfig,
  type RopeScaling,
} from "./architecture.ts";
export { bpeVocabulary } from "./bpe-vocabulary.ts";
export { type ChatMessage, type ChatTemplate, chatTemplate } from "./chat-template.ts";
export { Decoder, type DecoderOptions, type LayerCache, type StepInputs } from "./decoder.ts";
export { LanguageModelError } from "./errors.ts";
export {
  type EncodeOptions,
  type Ending,
  type GenerateOptions,
  generate,
  generateTokens,
  type Tokenizer,
  type TokenOptions,
} from "./generate.ts";
export { type GgufFile, type GgufValue, readGguf } from "./gguf.ts";
export { type GgufModel, ggufModel } from "./gguf-model.ts";
export { jsonTokenizer } from "./json-tokenizer.ts";
export { choose, type SamplingOptions } from "./sampler.ts";
export { TextSession, type TextSessionOptions } from "./session.ts";
export { type SpmVocabulary, spmTokenizer, spmVocabulary } from "./spm-tokenizer.ts";
export { TextStream } from "./text-stream.ts";
