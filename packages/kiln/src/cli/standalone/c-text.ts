/** Names, strings and extents of an artifact as C. Knows no program. */
import type { Extent } from "@kiln-ml/artifact";

/** Headers of C and of C++: where `-I` names the folder, a file of ours would stand for theirs. */
const headers = new Set(
  (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math omp pthread setjmp signal stdalign " +
    "stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings tgmath threads time uchar " +
    "unistd wchar wctype"
  ).split(" "),
);

/**
 * A name as the beginning of C identifiers and the name of a header; kernels have those of the form
 * `k0_…`.
 */
export function identifier(name: string): string {
  const word = name.replace(/\W/g, "_").replace(/^(?=\d|_*$)/, "net_");
  return /^k\d+$/.test(word) || headers.has(word.toLowerCase()) ? `${word}_net` : word;
}

/** Text of an interface, whose names begin with `NET_`, in the words of a program. */
export const inWordsOf = (text: string, prefix: string): string =>
  text.replaceAll("NET_", `${prefix}_`);

/** A string literal: UTF-8, and no trigraph. */
export function literal(text: string): string {
  const bytes = [...new TextEncoder().encode(text)];
  const plain = (b: number): boolean =>
    b >= 32 && b < 127 && !'"\\?'.includes(String.fromCharCode(b));
  const chars = bytes.map((b) =>
    plain(b) ? String.fromCharCode(b) : `\\${b.toString(8).padStart(3, "0")}`,
  );
  return `"${chars.join("")}"`;
}

/** What a comment may say. */
export const comment = (text: string): string =>
  `/* ${text
    .replace(/[^ -~]/g, "_")
    .replaceAll("*/", "* /")
    .replaceAll("/*", "/ *")
    .replaceAll("??", "? ?")} */`;

/** A whole number as a double of C. */
const number = (v: number): string =>
  Number.isInteger(v) && Math.abs(v) < 1e15 ? `${v}.0` : String(v);

/**
 * The value of an extent, in doubles as the runtime computes it: exact up to 2^53, and what exceeds
 * that is seen by whoever asks for memory. `nameOf` is what C calls a dim.
 */
export function extentText(e: Extent, nameOf: (dim: string) => string): string {
  if (typeof e === "number") return number(e);
  if (typeof e === "string") return nameOf(e);
  const [op, a, b] = e;
  const [x, y] = [extentText(a, nameOf), extentText(b, nameOf)];
  if (op === "+" || op === "*") return `(${x} ${op} ${y})`;
  const names = { "/": "floor_div", "%": "floor_mod", min: "least", max: "greatest" } as const;
  return `${names[op]}(${x}, ${y})`;
}

/** The sum or product of several, with the numbers among them as one. */
export const product = (of: readonly Extent[]): Extent =>
  of.reduce<Extent>((a, b) => {
    if (typeof a === "number" && typeof b === "number") return a * b;
    if (a === 1) return b;
    return b === 1 ? a : ["*", a, b];
  }, 1);

/** The largest of several, at least 0. */
export const largest = (of: readonly Extent[]): Extent =>
  of.reduce<Extent>(
    (a, b) => (typeof a === "number" && typeof b === "number" ? Math.max(a, b) : ["max", a, b]),
    0,
  );
