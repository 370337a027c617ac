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
  readonly localScaling: RopeScaling | undefined;
}

/** `rope_parameters`, those of layers that see everything and of those with a window. */
export function ropeParameters(all: Json): { readonly wide?: Json; readonly local?: Json } {
  const given = (all.rope_parameters ?? undefined) as Json | undefined;
  if (!given) return {};
  const { full_attention: wide, sliding_attention: local } = given as Record<string, Json>;
  return wide || local ? { ...(wide && { wide }), ...(local && { local }) } : { wide: given };
}

/**
 * Wavelengths as older files tell them, by `rope_theta` and `rope_scaling`, and as newer ones do,
 * by `rope_parameters`.
 */
export function ropeOf(all: Json, defaults: Json): Rope {
  const { wide, local } = ropeParameters(all);
  const theta = positive(wide?.rope_theta ?? all.rope_theta, defaults.rope_theta ?? 1e4);
  const localTheta = positive(
    local?.rope_theta ?? all.rope_local_base_freq,
    defaults.rope_local_base_freq ?? theta,
  );
  const ropeScaling = scalingOf(wide ?? all.rope_scaling, all);
  // Layers with wavelengths of their own are stretched only where the file says so.
  const shared = localTheta === theta ? ropeScaling : undefined;
  return { theta, localTheta, ropeScaling, localScaling: local ? scalingOf(local, all) : shared };
}

function positive(value: unknown, otherwise: unknown): number {
  const n = value ?? otherwise;
  if (typeof n === "number" && n > 0) return n;
  throw new LanguageModelError(
    `config: rope_theta must be a number above 0, got ${shown(value)}\n  take the config.json that came with the weights`,
  );
}

/** What stretches nothing, of which no type need be told. */
const plainKeys = new Set(["rope_theta", "partial_rotary_factor", "type", "rope_type"]);

const known = ["linear", "llama3", "longrope"] as const;

function scalingOf(value: unknown, config: Json): RopeScaling | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== "object" || Array.isArray(value))
    throw new LanguageModelError(
      `config: rope_scaling must be an object, got ${shown(value)}\n  take the config.json that came with the weights`,
    );
  const all = value as Json;
  const told = all.rope_type ?? all.type;
  const isPlain = Object.keys(all).every((k) => plainKeys.has(k));
  if (told === "default" || (told === undefined && isPlain)) return undefined;
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
