/**
 * The messages of errors as they stand: in the sources where they are made, with … for what is put
 * in, and word for word in the tests that compare them.
 */
import { sourcesIn } from "./source.ts";

export interface ErrorText {
  /** The class. */
  readonly kind: string;
  readonly text: string;
}

/** Where errors are made. Packages that are private throw none at users. */
const folders = ["compiler/src", "runtime/src", "packages"];
const isThrown = (path: string): boolean => !/^packages\/(site|tools|create-kiln-app)\//.test(path);

/** What of `"a" + `b ${c}`` is known, from `at` on; undefined for what is no text. */
function literalAt(source: string, at: number): string | undefined {
  let [text, i] = ["", at];
  for (;;) {
    const part = partAt(source, i);
    if (!part) return text || undefined;
    text += part.text;
    const joined = /^\s*\+\s*/.exec(source.slice(part.end));
    if (!joined) return text;
    i = part.end + joined[0].length;
  }
}

interface Part {
  readonly text: string;
  /** The place behind it. */
  readonly end: number;
}

/** One string or template. */
function partAt(source: string, at: number): Part | undefined {
  const quote = source[at];
  if (quote !== '"' && quote !== "'" && quote !== "`") return undefined;
  let text = "";
  for (let i = at + 1; i < source.length; i++) {
    if (source[i] === quote) return { text, end: i + 1 };
    if (source[i] === "\\") text += source[++i] === "n" ? "\n" : source[i];
    else if (quote === "`" && source.startsWith("${", i)) {
      text += "…";
      i = closingBrace(source, i + 2);
    } else text += source[i];
  }
  return undefined;
}

/** Of an expression in a template; texts in it may have braces of their own. */
function closingBrace(source: string, from: number): number {
  for (let [i, depth] = [from, 1]; i < source.length; i++) {
    const inner = partAt(source, i);
    if (inner) i = inner.end - 1;
    else if (source[i] === "{") depth++;
    else if (source[i] === "}" && --depth === 0) return i;
  }
  return source.length;
}

/** What stands first in the constructor of one class: a status and a code. */
const before = String.raw`\(\s*(?:\d+,\s*"\w+",\s*)?`;

/** Functions that make an error of a message, and its class. */
const makers: Readonly<Record<string, string>> = { unequal: "ShapeError" };

/** Messages in the sources, by class. */
export function messagesInSources(kinds: readonly string[]): ErrorText[] {
  const names = [`new (?:${kinds.join("|")})`, ...Object.keys(makers)].join("|");
  const made = new RegExp(String.raw`\b(${names})${before}`, "g");
  const found = folders
    .flatMap(sourcesIn)
    .filter(({ path }) => isThrown(path))
    .flatMap(({ text: source }) =>
      [...source.matchAll(made)].map((match) => ({
        kind: makers[match[1]!] ?? match[1]!.slice("new ".length),
        text: literalAt(source, match.index + match[0].length) ?? "",
      })),
    );
  // Less is no message, but what a caller made.
  return found.filter(({ text }) => text.replace(/[…\W]/g, "").length > 7);
}

/**
 * With what is before the title of a test: `test(` or a function at the left margin that makes one.
 */
const literal = /(\b\w*[tT]est\(\s*|^\w+\(\s*)?(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)')/gm;
/** `op: requirement broken`. */
const form = /^[a-zA-Z][\w.]*(?: [\w.[\]]+){0,2}: \S/;

/** What a literal in double quotes says. */
const said = (raw: string): string => JSON.parse(`"${raw}"`);

/** Messages in tests of errors, by the class that is named shortly before. */
export function messagesInTests(kinds: readonly string[]): ErrorText[] {
  const named = new RegExp(String.raw`\b(${kinds.join("|")})\b`, "g");
  const tests = sourcesIn("tests").filter(({ path }) => /(errors|bad-input)\.test\.ts$/.test(path));
  return tests.flatMap(({ text }) =>
    [...text.matchAll(literal)].flatMap((match) => {
      const [, title, double, single] = match;
      const raw = double ?? single!.replaceAll('"', '\\"').replaceAll("\\'", "'");
      if (title || !form.test(raw)) return [];
      const [, whole, rest] = /^(\w+Error): (.*)$/s.exec(raw) ?? [];
      if (whole) return kinds.includes(whole) ? [{ kind: whole, text: said(rest!) }] : [];
      const near = text.slice(Math.max(0, match.index - 240), match.index).match(named);
      return near ? [{ kind: near.at(-1)!, text: said(raw) }] : [];
    }),
  );
}
