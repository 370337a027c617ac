/**
 * How many parameters a decoder has, before any of it is made: a config that describes far more
 * than a file holds would take all memory until the weights are found not to fit.
 */
import type { Constant } from "kiln-ml/artifact";
import type { DecoderConfig } from "./architecture.ts";
import { LanguageModelError } from "./errors.ts";

/** Parameters of a decoder: matrices alone, which is all but a thousandth. */
export function parameterCount(config: DecoderConfig): number {
  const { width, hidden, layers, heads, kvHeads, headWidth, vocabulary, tied } = config;
  const attention = 2 * width * headWidth * (heads + kvHeads);
  return layers * (attention + 3 * width * hidden) + vocabulary * width * (tied ? 1 : 2);
}

/**
 * Throws LanguageModelError if the config describes several times what the weights are. What fits
 * nearly is `loadWeights`'s to tell, tensor by tensor.
 */
export function checkSize(
  config: DecoderConfig,
  tensors: Readonly<Record<string, Constant>>,
  file: string,
): void {
  const held = Object.values(tensors).reduce(
    (sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1),
    0,
  );
  const described = parameterCount(config);
  if (described > 4 * held + 1e6)
    throw new LanguageModelError(
      `loadModel: ${file} describes ${described} parameters, the weights have ${held}\n  take the ${file} that came with the weights`,
    );
}
