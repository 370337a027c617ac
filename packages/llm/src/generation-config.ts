/**
 * What generation_config.json says: each field is used, is the caller's to say, or is refused by
 * its name unless it changes nothing.
 */
import type { Json } from "./config-reader.ts";
import { LanguageModelError, named, shown } from "./errors.ts";
import { jsonIn, type ModelFiles } from "./model-files.ts";
import type { SamplingOptions } from "./sampler.ts";

/** Tokens by what they may not be, and what is recommended. */
export interface Generation {
  /** Tokens that end a text. */
  readonly ends: readonly number[];
  /** Tokens that are never made. */
  readonly suppress?: readonly number[];
  /** Tokens that are not made first. */
  readonly beginSuppress?: readonly number[];
  /** How texts are drawn, for whoever asks: `generate` takes the likeliest tokens by default. */
  readonly sampling: SamplingOptions;
}

const file = "generation_config.json";

/**
 * About the run and not the text, or what a caller says of each text: lengths, languages, times,
 * and when Whisper takes a window for silence or hears it again. What only beams or assistants have
 * is there too: neither is built, and asking for beams is refused below.
 */
const callers = new Set(
  `transformers_version _from_model_config pad_token_id bos_token_id decoder_start_token_id use_cache
  cache_implementation cache_config return_legacy_cache disable_compile compile_config low_memory use_model_defaults
  prefill_chunk_size continuous_batching_config trust_remote_code
  return_dict_in_generate output_attentions output_hidden_states output_scores output_logits
  max_length max_new_tokens max_time early_stopping length_penalty num_assistant_tokens num_assistant_tokens_schedule
  assistant_confidence_threshold assistant_early_exit assistant_lookbehind target_lookbehind
  is_assistant prompt_lookup_num_tokens max_matching_ngram_size
  is_multilingual language task lang_to_id task_to_id forced_decoder_ids no_timestamps_token_id return_timestamps
  max_initial_timestamp_index prev_sot_token_id alignment_heads median_filter_width
  return_token_timestamps return_segments time_precision num_frames prompt_ids prompt_condition_type
  condition_on_prev_tokens no_speech_threshold logprob_threshold compression_ratio_threshold chat_format max_window_size`.split(
    /\s+/,
  ),
);

/** What is not built, with the values that ask for nothing. */
const neutral: Readonly<Record<string, readonly unknown[]>> = {
  num_beams: [1],
  num_beam_groups: [1],
  num_return_sequences: [1],
  penalty_alpha: [0],
  typical_p: [1],
  epsilon_cutoff: [0],
  eta_cutoff: [0],
  diversity_penalty: [0],
  encoder_repetition_penalty: [1],
  no_repeat_ngram_size: [0],
  encoder_no_repeat_ngram_size: [0],
  presence_penalty: [0],
  frequency_penalty: [0],
  top_h: [1],
  min_length: [0],
  min_new_tokens: [0],
  guidance_scale: [1],
  renormalize_logits: [false],
  remove_invalid_values: [false],
  token_healing: [false],
  bad_words_ids: [],
  force_words_ids: [],
  constraints: [],
  forced_bos_token_id: [],
  forced_eos_token_id: [],
  exponential_decay_length_penalty: [],
  sequence_bias: [],
  stop_strings: [],
  watermarking_config: [],
  dola_layers: [],
  generation_kwargs: [],
};

const sampling = {
  temperature: "temperature",
  top_k: "topK",
  top_p: "topP",
  min_p: "minP",
  repetition_penalty: "repetitionPenalty",
} as const;

const used = [
  "eos_token_id",
  "suppress_tokens",
  "begin_suppress_tokens",
  "do_sample",
  ...Object.keys(sampling),
];

/**
 * The generation of a folder's model; `told` is what its config.json says. Rejects with
 * LanguageModelError for fields that are unknown or ask for what is not built, all at once, and for
 * tokens that the model does not have.
 */
export async function generationIn(
  folder: ModelFiles,
  told: Omit<Generation, "sampling"> & { readonly vocabulary: number },
): Promise<Generation> {
  const all = (await jsonIn(folder, file)) ?? {};
  checkFields(all);
  const tokens = (name: string, before: readonly number[] | undefined) =>
    all[name] === undefined || all[name] === null
      ? before
      : tokensOf(all[name], `${file}: ${name}`, told.vocabulary);
  const suppress = tokens("suppress_tokens", told.suppress);
  const beginSuppress = tokens("begin_suppress_tokens", told.beginSuppress);
  const more = [all.eos_token_id].flat().filter((x) => Number.isInteger(x)) as number[];
  return {
    ends: [...new Set([...told.ends, ...more])],
    ...(suppress && { suppress }),
    ...(beginSuppress && { beginSuppress }),
    sampling: samplingOf(all),
  };
}

function checkFields(all: Json): void {
  const wrong = Object.entries(all).flatMap(([name, value]) => {
    // What begins with _ are notes of the tool that wrote the file.
    if (used.includes(name) || callers.has(name) || name.startsWith("_")) return [];
    if (!Object.hasOwn(neutral, name)) return `${named(name)} is unknown`;
    const asksNothing = value === null || isEmpty(value) || neutral[name]!.includes(value);
    return asksNothing ? [] : `${name} is ${shown(value)}, which is not built`;
  });
  if (wrong.length)
    throw new LanguageModelError(
      `loadModel: ${file}: ${wrong.join("; ")}\n  take the field out if texts may do without`,
    );
}

/** An empty list or object, which rows of `neutral` that take such are saved as. */
const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** A list of tokens that the model has. Throws LanguageModelError for another. */
export function tokensOf(value: unknown, where: string, vocabulary: number): readonly number[] {
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  const odd = list.find((t) => !(Number.isInteger(t) && Number(t) >= 0 && Number(t) < vocabulary));
  if (odd === undefined && Array.isArray(value)) return value as number[];
  throw new LanguageModelError(
    `loadModel: ${where} has ${shown(odd ?? value)}, the model knows tokens from 0 to ${vocabulary - 1}\n  take the file that came with the weights`,
  );
}

/** Draws only where the file asks for them: what it says of odds means nothing otherwise. */
function samplingOf(all: Json): SamplingOptions {
  const numbers = Object.entries(sampling).flatMap(([name, ours]) => {
    const value = all[name];
    const isDrawn = all.do_sample === true || name === "repetition_penalty";
    const isNone = name === "top_k" && value === 0;
    return isDrawn && typeof value === "number" && !isNone ? [[ours, value]] : [];
  });
  const drawn = all.do_sample === true ? { temperature: 1 } : {};
  return { ...drawn, ...Object.fromEntries(numbers) };
}
