/** Shapes of language models that are measured, as config.json says them. Weights are random. */

const llama = { model_type: "llama", rms_norm_eps: 1e-5, tie_word_embeddings: true };

export const shapes: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  stories260K: {
    ...llama,
    vocab_size: 512,
    hidden_size: 64,
    intermediate_size: 172,
    num_hidden_layers: 5,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    max_position_embeddings: 512,
  },
  "25M": {
    ...llama,
    vocab_size: 32_000,
    hidden_size: 384,
    intermediate_size: 1024,
    num_hidden_layers: 8,
    num_attention_heads: 6,
    max_position_embeddings: 512,
  },
  "110M": {
    ...llama,
    vocab_size: 32_000,
    hidden_size: 768,
    intermediate_size: 2048,
    num_hidden_layers: 12,
    num_attention_heads: 12,
    max_position_embeddings: 1024,
  },
  "1B": {
    ...llama,
    vocab_size: 128_256,
    hidden_size: 2048,
    intermediate_size: 8192,
    num_hidden_layers: 16,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    max_position_embeddings: 1024,
  },
};

/** What one process measured. */
export interface Measured {
  /** Bytes of a file to a session that is ready, in ms: nothing is compiled yet. */
  readonly loadMs: number;
  /** From there to the first token of a prompt of 64, which compiles. */
  readonly firstTokenMs: number;
  /** The same once more, with another prompt. */
  readonly nextFirstTokenMs: number;
  readonly prefillTokensPerSecond: number;
  readonly decodeTokensPerSecond: number;
  /** Of a token's mean times in three texts: half the distance of the quartiles over the median. */
  readonly spread: number;
  /** Of the process; the file's bytes are a part of it while they are loaded. */
  readonly peakMiB: number;
  /** Of one token: kernels of the decode program, and bytes that they read and write. */
  readonly kernels?: number;
  readonly bytes?: number;
}

/** Tokens of the prompt whose first token is waited for, of the one that is timed, and made. */
export const lengths = { first: 64, prompt: 128, made: 48 } as const;
