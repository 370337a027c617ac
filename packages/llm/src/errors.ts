/** The error of this package, and how it shows what a file says. */
import { KilnError } from "kiln-ml/ir";

/** A model, a prompt or a tokenizer that does not fit. */
export class LanguageModelError extends KilnError {
  override name = "LanguageModelError";
}

/** What a file says as a part of a line. */
export const inLine = (text: string): string =>
  text.replace(
    /[\p{Cc}\u2028\u2029]/gu,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** A value of a file as a part of a line: what is long is cut. */
export function shown(value: unknown): string {
  if (value === undefined) return "absent";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return inLine(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/** The same for what must be a name. */
export const named = (value: unknown): string =>
  typeof value === "string" ? listed([value]) : shown(value);

/** Names in a row; of many, the first ones. */
export function listed(names: readonly string[], most = 20): string {
  const first = names.slice(0, most).map((n) => inLine(n.length > 80 ? `${n.slice(0, 80)}…` : n));
  const rest = names.length > most ? ` and ${names.length - most} more` : "";
  return `${first.join(", ")}${rest}`;
}
