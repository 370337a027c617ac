/**
 * A value of a JSON file that knows where it stands. What is read of it has the form that is asked
 * for, or the error says which place of which file has another.
 */
import { ArtifactError } from "@kiln-ml/ir/errors";

const kindOf = (x: unknown): string =>
  x === null
    ? "null"
    : Array.isArray(x)
      ? "a list"
      : typeof x === "object"
        ? "an object"
        : typeof x;

export class Field {
  readonly #value: unknown;
  readonly #file: string;
  readonly #path: string;
  readonly #read = new Set<string>();

  constructor(value: unknown, file: string, path = "") {
    this.#value = value;
    this.#file = file;
    this.#path = path;
  }

  /** Throws ArtifactError for text that is no JSON. */
  static parse(text: string, file: string): Field {
    try {
      return new Field(JSON.parse(text), file);
    } catch (error) {
      // The engine's message may quote the text, line breaks and all.
      const why = (error as Error).message.replace(/\s+/g, " ");
      throw new ArtifactError(
        `${file}: is no JSON: ${why}\n  give the model.json that the converter wrote`,
      );
    }
  }

  /** Throws ArtifactError that names the file and the place. */
  fail(what: string): never {
    throw new ArtifactError(`${this.#file}: ${this.#path ? `${this.#path} ` : ""}${what}`);
  }

  #expected(what: string): never {
    return this.fail(`is ${kindOf(this.#value)}, not ${what}`);
  }

  get value(): unknown {
    return this.#value;
  }

  get file(): string {
    return this.#file;
  }

  get isList(): boolean {
    return Array.isArray(this.#value);
  }

  get isText(): boolean {
    return typeof this.#value === "string";
  }

  get isRecord(): boolean {
    return typeof this.#value === "object" && this.#value !== null && !this.isList;
  }

  #record(): Readonly<Record<string, unknown>> {
    if (!this.isRecord) this.#expected("an object");
    return this.#value as Readonly<Record<string, unknown>>;
  }

  #at(key: string, value: unknown): Field {
    return new Field(value, this.#file, this.#path ? `${this.#path}.${key}` : key);
  }

  /** The field of that name, unless it is missing or null. */
  maybe(key: string): Field | undefined {
    const record = this.#record();
    this.#read.add(key);
    const value = Object.hasOwn(record, key) ? record[key] : undefined;
    return value === undefined || value === null ? undefined : this.#at(key, value);
  }

  /** Whether there is a field of that name that says null. */
  isNull(key: string): boolean {
    const record = this.#record();
    this.#read.add(key);
    return Object.hasOwn(record, key) && record[key] === null;
  }

  /** The fields that nobody has asked this one for. */
  unread(): readonly (readonly [string, Field])[] {
    return this.entries().filter(([key]) => !this.#read.has(key));
  }

  get(key: string): Field {
    return this.maybe(key) ?? this.fail(`has no ${key}`);
  }

  entries(): readonly (readonly [string, Field])[] {
    return Object.entries(this.#record()).map(([key, value]) => [key, this.#at(key, value)]);
  }

  list(): readonly Field[] {
    if (!this.isList) return this.#expected("a list");
    return (this.#value as readonly unknown[]).map(
      (value, i) => new Field(value, this.#file, `${this.#path}[${i}]`),
    );
  }

  text(): string {
    return typeof this.#value === "string" ? this.#value : this.#expected("a text");
  }

  flag(): boolean {
    return typeof this.#value === "boolean" ? this.#value : this.#expected("true or false");
  }

  /** A number, or the text that JSON of Protocol Buffers has for one. */
  number(): number {
    const x = this.#value;
    const known = typeof x === "string" && x.trim() !== "" ? Number(x) : x;
    if (typeof known === "number" && (x === "NaN" || !Number.isNaN(known))) return known;
    return this.#expected("a number");
  }

  /**
   * A whole number; one beyond ±(2^53 − 1) is that bound, since exporters write the ends of int64.
   */
  whole(): number {
    const x = this.number();
    if (!Number.isInteger(x)) return this.fail(`is ${x}, not a whole number`);
    return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, x));
  }

  /** An extent or a count: 0 or more. */
  count(): number {
    const x = this.whole();
    return x >= 0 && x < Number.MAX_SAFE_INTEGER ? x : this.fail(`is ${x}, not a count`);
  }
}
