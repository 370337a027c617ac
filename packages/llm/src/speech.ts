/**
 * What was said in a sound: heard in windows of the length that the model was made for, and written
 * piece by piece.
 */
import { type CompiledFunction, compile } from "kiln-ml";
import { checkOptions, type OptionNames, type Tensor } from "kiln-ml/ir";
import { LanguageModelError, shown } from "./errors.ts";
import { type GenerateOptions, generate, generateOptions, type Tokenizer } from "./generate.ts";
import { logMelFeatures, sound } from "./log-mel.ts";
import { TextSession, type TextSessionOptions } from "./session.ts";
import type { Whisper } from "./whisper.ts";

/**
 * A session of a model that hears. What was heard stays until something else is.
 *
 *     const session = new SpeechSession(net, { target: "wasm" });
 *     await session.hear(samples);
 */
export class SpeechSession extends TextSession {
  override readonly net: Whisper;
  readonly #hear: CompiledFunction<[Tensor], Tensor>;

  constructor(net: Whisper, options: Omit<TextSessionOptions, "batch"> = {}) {
    super(net, options);
    this.net = net;
    const { bands } = net.config;
    this.#hear = compile(
      (samples: Tensor) => net.hear(logMelFeatures(samples, bands), this.cache).mean(),
      {
        name: "hear",
        ...(options.target && { target: options.target }),
        inputs: [[1, this.window]],
      },
    );
  }

  /** Samples that are heard at once: 30 seconds for public models. */
  get window(): number {
    return 2 * this.net.config.heard * sound.hop;
  }

  /**
   * Hears up to a window of samples at 16 kHz; silence follows a shorter sound. A text that is
   * being written of what was heard before ends with an error.
   */
  async hear(samples: Float32Array): Promise<void> {
    if (samples.length > this.window)
      throw new LanguageModelError(
        `hear: the sound has ${samples.length} samples, a window ${this.window}\n  hear it window by window, as transcribe does`,
      );
    const data = new Float32Array(this.window);
    data.set(samples);
    this.forget();
    const turn = this.begin();
    await (await this.#hear({ data, shape: [1, this.window] })).data();
    this.checkTurn(turn);
  }

  override async dispose(): Promise<void> {
    await Promise.all([super.dispose(), this.#hear.dispose()]);
  }
}

export interface TranscribeOptions extends GenerateOptions {
  /** Of what is said, such as "en"; for models of many languages, which need it. */
  readonly language?: string;
  /** "translate" writes it in English; default "transcribe". */
  readonly task?: "transcribe" | "translate";
}

const transcribeOptions: OptionNames<TranscribeOptions> = {
  ...generateOptions,
  language: 1,
  task: 1,
};

/**
 * What is said in samples at 16 kHz, in pieces of text, without times.
 *
 *     for await (const piece of transcribe({ session, tokenizer }, samples, { language: "en" }))
 *       process.stdout.write(piece);
 *
 * Throws LanguageModelError for a language or a task that the tokenizer has no token for, and for a
 * task without a language.
 */
export async function* transcribe(
  model: { readonly session: SpeechSession; readonly tokenizer: Tokenizer },
  samples: Float32Array,
  options: TranscribeOptions = {},
): AsyncGenerator<string> {
  checkOptions("transcribe", options, transcribeOptions);
  const { language, task = "transcribe", ...rest } = options;
  const { session, tokenizer } = model;
  if (language === undefined && options.task !== undefined)
    throw new LanguageModelError(
      `transcribe: task ${shown(task)} goes with a language\n  pass { language: "en" }, or leave task out for a model of English alone`,
    );
  const told = language === undefined ? [] : [language, task];
  const prompt = ["startoftranscript", ...told, "notimestamps"].map((name) => {
    const found = tokenizer.encode(`<|${name}|>`, { formatted: true });
    if (found.length === 1) return found[0]!;
    throw new LanguageModelError(
      `transcribe: the tokenizer has no token for ${shown(name)}\n  leave language out for a model of English alone, or take the tokenizer that came with the weights`,
    );
  });
  for (let at = 0; at < Math.max(1, samples.length); at += session.window) {
    options.signal?.throwIfAborted();
    await session.hear(samples.subarray(at, at + session.window));
    yield* generate(model, prompt, rest);
  }
}
