/**
 * Wavelengths of rotary positions as a config.json tells them.
 */
import type { Json } from "./config-reader.ts";
import { LanguageModelError, named, shown } from "./errors.ts";

/** How wavelengths are stretched: all by a factor, as Llama 3.1 does, or each by its own. */
export interface RopeScaling {
  readonly type: "linear" | "llama3" | "longrope";
  readonly factor: number;
  readonly low: number;
  readonly high: number;
  /** Tokens that the model was made for before it was stretched. */
  readonly original: number;
  /** Of `longrope`: for texts of up to `original` tokens, and for longer ones. */
  readonly factors?: { readonly short: readonly number[]; readonly long: readonly number[] };
  /** What sines and cosines are multiplied by. */
  readonly gain: number;
}

export interface Rope {
  /** Base of rotary wavelengths; of layers with a window where they have another. */
  readonly theta: number;
  readonly localTheta: number;
  readonly ropeScaling: RopeScaling | undefined;
}

/**
 * Wavelengths as older files tell them, by `rope_theta` and `rope_scaling`, and as newer ones do,
 * by `rope_parameters`.
 */
export function ropeOf(all: Json): Rope {
  const given = all.rope_parameters as Json | null | undefined;
  const wide = (given?.full_attention ?? given) as Json | null | undefined;
  const local = given?.sliding_attention as Json | undefined;
  const isThree = all.model_type === "gemma3_text";
  const theta = positive(wide?.rope_theta ?? all.rope_theta, isThree ? 1e6 : 1e4);
  return {
    theta,
    localTheta: positive(local?.rope_theta ?? all.rope_local_base_freq, isThree ? 1e4 : theta),
    ropeScaling: scalingOf(wide ?? all.rope_scaling, all),
  };
}

function positive(value: unknown, otherwise: number): number {
  const n = value ?? otherwise;
  if (typeof n === "number" && n > 0) return n;
  throw new LanguageModelError(
    `config: rope_theta must be a number above 0, got ${shown(value)}\n  take the config.json that came with the weights`,
  );
}

const known = ["linear", "llama3", "longrope"] as const;

function scalingOf(value: unknown, config: Json): RopeScaling | undefined {
  if (value === null || value === undefined) return undefined;
  const all = value as Json;
  const told = all.rope_type ?? all.type;
  if (told === "default" || told === undefined) return undefined;
  const type = known.find((t) => t === told);
  if (!type)
    throw new LanguageModelError(
      `config: unknown rope_scaling ${named(told)}\n  known are default, ${known.join(", ")}`,
    );
  const number = (name: string, otherwise?: unknown): number =>
    aboveZero(name, all[name] ?? otherwise);
  if (type === "longrope") return longRope(all, config);
  return {
    type,
    factor: number("factor"),
    low: number("low_freq_factor", 1),
    high: number("high_freq_factor", 4),
    original: number("original_max_position_embeddings", 8192),
    gain: 1,
  };
}

function aboveZero(name: string, found: unknown): number {
  if (typeof found === "number" && found > 0 && found < Infinity) return found;
  throw new LanguageModelError(
    `config: ${name} of rope_scaling must be a number above 0, got ${shown(found)}\n  take the config.json that came with the weights`,
  );
}

/** Ding et al. 2024; scores grow by √(1 + ln factor / ln original), half on each side. */
function longRope(all: Json, config: Json): RopeScaling {
  const [short, long] = [all.short_factor, all.long_factor].map((list, i) => {
    const name = i ? "long_factor" : "short_factor";
    if (!Array.isArray(list)) return [aboveZero(name, list)];
    return list.map((f) => aboveZero(name, f));
  }) as [number[], number[]];
  if (short.length !== long.length)
    throw new LanguageModelError(
      `config: short_factor and long_factor of rope_scaling differ in length: ${short.length} and ${long.length}\n  take the config.json that came with the weights`,
    );
  const most = config.max_position_embeddings;
  const original = aboveZero(
    "original_max_position_embeddings",
    config.original_max_position_embeddings ?? all.original_max_position_embeddings ?? most,
  );
  const factor = aboveZero("factor", all.factor ?? Number(most) / original);
  const gain =
    all.attention_factor ??
    (factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original)));
  return {
    type: "longrope",
    factor,
    low: 1,
    high: 1,
    original,
    factors: { short, long },
    gain: aboveZero("attention_factor", gain),
  };
}
