/**
 * Language models: decoders by their config.json, with weights by their public names, and texts out
 * of them.
 */
export { type ActivationName, type Architecture, architectures } from "./architecture.ts";
export { bpeVocabulary } from "./bpe-vocabulary.ts";
export type { CacheDtype, CacheOptions, CacheRows, LayerCache, Ring } from "./cache.ts";
export { type ChatMessage, type ChatTemplate, chatTemplate } from "./chat-template.ts";
export { type CompiledModel, hasTexts, openCompiledModel, textFilesOf } from "./compiled-model.ts";
export { type DecoderConfig, decoderConfig } from "./config.ts";
export { Decoder } from "./decoder.ts";
export { Embedder, type EmbedderOptions, type Pooling, type TextEncoder } from "./embedder.ts";
export { Encoder } from "./encoder.ts";
export {
  type EncoderArchitecture,
  type EncoderConfig,
  encoderConfig,
  encoders,
} from "./encoder-config.ts";
export { EntriesSession, factsIn, type TextFacts } from "./entries-session.ts";
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
export type { DecoderOptions } from "./layers.ts";
export { logMelFeatures } from "./log-mel.ts";
export type { ModelFiles, ReadingOptions, ReadWatch } from "./model-files.ts";
export { type LanguageModel, openModelFiles } from "./open-model.ts";
export {
  type QuantizationReport,
  type QuantizationReportOptions,
  quantizationReport,
} from "./quantization-report.ts";
export type { LoadModelOptions } from "./quantize-model.ts";
export type { RopeScaling } from "./rope-config.ts";
export { choose, type SamplingOptions } from "./sampler.ts";
export { type SessionPrograms, TextSession, type TextSessionOptions } from "./session.ts";
export { SpeechSession, type TranscribeOptions, transcribe } from "./speech.ts";
export { type SpmVocabulary, spmTokenizer, spmVocabulary } from "./spm-tokenizer.ts";
export type { StepInputs, TextNet } from "./text-net.ts";
export type { TextRunner } from "./text-runner.ts";
export { TextStream } from "./text-stream.ts";
export { Whisper } from "./whisper.ts";
export { type WhisperConfig, whisperConfig } from "./whisper-config.ts";
