/**
 * The escaped strings of protocol 0: Python's repr of bytes, and its raw-unicode-escape.
 */
import type { Fail } from "../reading.ts";

// biome-ignore format: one table
const escapes: Readonly<Record<string, string>> = { "\\": "\\", "'": "'", '"': '"', a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** `'it\'s'` → it's. Throws ArtifactError if the text is not quoted. */
export function unescapeString(text: string, fail: Fail, offset: number): string {
  const quote = text[0];
  if (text.length < 2 || (quote !== "'" && quote !== '"') || text.at(-1) !== quote)
    return fail("a string of the pickle is not quoted", offset);
  return text.slice(1, -1).replace(/\\(x[\da-fA-F]{2}|[\s\S])/g, (whole, code: string) => {
    if (code.length > 1) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return escapes[code] ?? whole;
  });
}

/** `\u00e9` → é. */
export const unescapeUnicode = (text: string): string =>
  text.replace(/\\u([\da-fA-F]{4})|\\U([\da-fA-F]{8})/g, (whole, short?: string, long?: string) => {
    const code = Number.parseInt(short ?? long ?? "", 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
