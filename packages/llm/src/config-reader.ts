/**
 * Reads numbers, lists and names of a config.json, and gathers what is wrong so that all of it is
 * told at once.
 */
import type { ActivationName } from "./architecture.ts";
import { LanguageModelError, shown } from "./errors.ts";

export type Json = Readonly<Record<string, unknown>>;

const activations: Readonly<Record<string, ActivationName>> = {
  silu: "silu",
  swish: "silu",
  gelu: "gelu",
  gelu_new: "geluTanh",
  gelu_fast: "geluTanh",
  gelu_pytorch_tanh: "geluTanh",
  relu: "relu",
  quick_gelu: "quickGelu",
};

/** Indices of tensors are i32. */
const mostCount = 2 ** 31 - 1;
/** The deepest public networks have some hundreds. */
const mostLayers = 10_000;

export class Reader {
  readonly type: string;
  readonly all: Json;
  readonly #keys: Readonly<Record<string, string>>;
  readonly #defaults: Json;
  readonly #wrong: string[] = [];

  /**
   * `keys` has the names that this config gives to what is asked for by another, `defaults` what it
   * means where it does not say.
   */
  constructor(
    type: string,
    all: Json,
    keys: Readonly<Record<string, string>> = {},
    defaults: Json = {},
  ) {
    this.type = type;
    this.all = all;
    this.#keys = keys;
    this.#defaults = defaults;
  }

  /** Throws LanguageModelError for what is no object. */
  static objectOf(json: unknown): Json {
    if (typeof json !== "object" || json === null || Array.isArray(json))
      throw new LanguageModelError(
        "config: takes the object of a config.json\n  parse the file: JSON.parse(text)",
      );
    return json as Json;
  }

  wrong(what: string): void {
    this.#wrong.push(what);
  }

  refuse(what: string, value: unknown): void {
    this.#wrong.push(`${what} ${shown(value)}`);
  }

  /** What the file says or means; undefined for null, which says that there is none. */
  get(name: string): unknown {
    const told = this.all[this.nameOf(name)];
    return told === undefined ? this.#defaults[name] : (told ?? undefined);
  }

  /** Refuses flags of what is not built. */
  refuseFlags(value: boolean, names: readonly string[]): void {
    for (const name of names)
      if (this.all[name] === value) this.wrong(`${name} is ${value}, which is not built`);
  }

  /** What this config calls it. */
  nameOf(name: string): string {
    return this.#keys[name] ?? name;
  }

  #refuse(name: string, value: unknown): void {
    this.refuse(`${this.nameOf(name)} is`, value);
  }

  /** A whole number of 1 to `most`; what is not becomes 1, so that reading goes on. */
  count(name: string, otherwise?: number, most = mostCount): number {
    const value = this.get(name) ?? otherwise;
    const whole = Number.isInteger(value) && (value as number) > 0 && (value as number) <= most;
    if (whole || (value === Infinity && otherwise === Infinity)) return value as number;
    this.#refuse(name, value);
    return 1;
  }

  /** How many layers a network has: lists are made of so many. */
  layers(name: string): number {
    return this.count(name, undefined, mostLayers);
  }

  /** A number above 0. */
  real(name: string, otherwise?: number): number | undefined {
    const value = this.get(name) ?? otherwise;
    if (value === undefined || (typeof value === "number" && value > 0)) return value;
    this.#refuse(name, value);
    return otherwise;
  }

  /** A list with an element for each layer, or undefined. */
  list(name: string, length: number): readonly unknown[] | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.length === length) return value;
    this.#refuse(name, value);
    return undefined;
  }

  /** Throws LanguageModelError with everything that was wrong. */
  finish(): void {
    if (this.#wrong.length)
      throw new LanguageModelError(
        `config: ${this.type} needs other values: ${this.#wrong.join("; ")}\n  take the config.json that came with the weights`,
      );
  }
}

/** `hidden_act`, or `hidden_activation` where newer files say it. */
export function activationOf(read: Reader, otherwise: ActivationName): ActivationName {
  const told = read.get("hidden_activation") ?? read.get("hidden_act");
  if (told === undefined) return otherwise;
  if (typeof told === "string" && Object.hasOwn(activations, told)) return activations[told]!;
  read.refuse(`${read.nameOf("hidden_act")} is`, told);
  return otherwise;
}
