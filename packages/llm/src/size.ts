/**
 * How many parameters a decoder has, before any of it is made: a config that describes far more
 * than a file holds would take all memory until the weights are found not to fit.
 */
import type { Constant } from "kiln-ml/artifact";
import type { DecoderConfig } from "./config.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import { LanguageModelError } from "./errors.ts";
import type { Side, WhisperConfig } from "./whisper-config.ts";

/** Parameters of a decoder: matrices alone, which is all but a thousandth. */
export function parameterCount(config: DecoderConfig): number {
  const { width, hidden, layers, heads, kvHeads, headWidth, vocabulary, tied } = config;
  const mlp = (config.gated ? 3 : 2) * width * hidden;
  const places = config.learnedPlaces ? config.context * width : 0;
  const attention = 2 * width * headWidth * (heads + kvHeads);
  return layers * (attention + mlp) + vocabulary * width * (tied ? 1 : 2) + places;
}

/** Parameters of an encoder, likewise. */
export function encoderParameters(config: EncoderConfig): number {
  const { width, hidden, layers, vocabulary, places } = config;
  return layers * (4 * width * width + 2 * width * hidden) + (vocabulary + places) * width;
}

/** Parameters of a Whisper model, likewise. */
export function whisperParameters(config: WhisperConfig): number {
  const { width, encoder, decoder, vocabulary, context, heard, bands } = config;
  const of = ({ layers, hidden }: Side, attentions: number) =>
    layers * (4 * attentions * width * width + 2 * width * hidden);
  const tables = (vocabulary + context + heard) * width;
  return of(encoder, 1) + of(decoder, 2) + tables + 3 * width * (bands + width);
}

/**
 * Throws LanguageModelError if the config describes several times what the weights are. What fits
 * nearly is `loadWeights`'s to tell, tensor by tensor.
 */
export const checkSize = (
  config: DecoderConfig,
  tensors: Readonly<Record<string, Pick<Constant, "shape">>>,
  file: string,
): void => checkHeld(parameterCount(config), tensors, file);

/** The same for any model of so many parameters. */
export function checkHeld(
  described: number,
  tensors: Readonly<Record<string, Pick<Constant, "shape">>>,
  file: string,
): void {
  const held = Object.values(tensors).reduce(
    (sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1),
    0,
  );
  if (described > 4 * held + 1e6)
    throw new LanguageModelError(
      `loadModel: ${file} describes ${described} parameters, the weights have ${held}\n  take the ${file} that came with the weights`,
    );
}
