/**
 * Finds what an exported name is: follows `export … from` and imports from file to file to where it
 * is defined, and gives the comment above it. Reads sources as text, which is all that can be done
 * here: the package of TypeScript 7 is the compiler alone, without an API for programs. Knows no
 * types.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commentText } from "./source.ts";

export interface Definition {
  readonly path: string;
  readonly name: string;
  readonly comment: string;
  /** The text of the file from the definition on. */
  readonly after: string;
}

const texts = new Map<string, string>();

export function textOf(path: string): string {
  const kept = texts.get(path) ?? readFileSync(path, "utf8");
  texts.set(path, kept);
  return kept;
}

/** The file that `from "…"` in a file names, from the root; undefined where it is none of ours. */
function fileOf(path: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return join(dirname(path), specifier).replaceAll("\\", "/");
  const [, name, sub] = /^@kiln-ml\/([\w-]+)(?:\/([\w-]+))?$/.exec(specifier) ?? [];
  const found = `packages/${name}/src/${sub ?? "index"}.ts`;
  return name && existsSync(found) ? found : undefined;
}

/**
 * How a definition of a name begins: values before types, as a class and an interface may share a
 * name.
 */
const beginnings = (name: string): string[] => [
  `(?:abstract |async )?(?:const|function\\*?|class) ${name}\\b`,
  `(?:interface|type) ${name}\\b`,
];

/** Above what is at a place of a text. */
function commentBefore(text: string, at: number): string {
  const before = text
    .slice(0, at)
    .trimEnd()
    .replace(/(?:\n\/\/[^\n]*)+$/, "");
  const from = before.endsWith("*/") ? before.lastIndexOf("/**") : -1;
  return from < 0 ? "" : commentText(before.slice(from));
}

function definedIn(path: string, name: string, exported: boolean): Definition | undefined {
  const text = textOf(path);
  const places = beginnings(name).map(
    (b) => new RegExp(`^${exported ? "export " : "(?:export )?"}${b}`, "m").exec(text)?.index,
  );
  const at = places.find((place) => place !== undefined);
  if (at === undefined) return undefined;
  return { path, name, comment: commentBefore(text, at), after: text.slice(at) };
}

/** Where a file has a name from: its file, and what it is called there. */
function sourceOf(path: string, name: string): { readonly file: string; readonly as: string }[] {
  const text = textOf(path);
  const found: { file: string; as: string }[] = [];
  const lists = /^(?:import|export) (?:type )?\{([^}]*)\} from "([^"]+)"/gm;
  for (const [, list, specifier] of text.matchAll(lists))
    for (const part of list!.split(",")) {
      const [own, other] = part
        .trim()
        .replace(/^type /, "")
        .split(" as ");
      const file = (other ?? own) === name ? fileOf(path, specifier!) : undefined;
      if (file) found.push({ file, as: own! });
    }
  for (const [, specifier] of text.matchAll(/^export \* from "([^"]+)"/gm)) {
    const file = fileOf(path, specifier!);
    if (file) found.push({ file, as: name });
  }
  return found;
}

/**
 * The definition of what a file has by a name: its own, or what it imports or exports from
 * elsewhere.
 */
export function definitionOf(
  path: string,
  name: string,
  seen = new Set<string>(),
): Definition | undefined {
  if (seen.has(path)) return undefined;
  const own = definedIn(path, name, seen.size > 0);
  seen.add(path);
  if (own) return own;
  for (const { file, as } of sourceOf(path, name)) {
    const found = definitionOf(file, as, seen);
    if (found) return found;
  }
  return undefined;
}

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly comment: string;
  /** The interface that has it. */
  readonly of: string;
}

/** From a bracket to the one that closes it. */
export function bracketed(text: string, from: number): string {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    if (text.startsWith("/*", i)) i = text.indexOf("*/", i) + 1;
    if ("([{".includes(text[i]!)) depth++;
    if (")]}".includes(text[i]!) && --depth === 0) return text.slice(from, i + 1);
  }
  return "";
}

const ownFields = (of: string, body: string): Field[] =>
  [
    ...body.matchAll(
      /(?:^|\n)\s*(?:(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\s*)?(?:readonly )?(\w+)\??(?:: |(?=\())((?:[^;{]|\{[^}]*\})*);/g,
    ),
  ].map(([, comment = "", name, type]) => ({
    name: name!,
    type: type!.replace(/\s+/g, " "),
    comment: comment && commentText(comment).replace(/\s*\n\s*/g, " "),
    of,
  }));

/** Fields of an interface, its own first; undefined where the name is no interface. */
export function fieldsOf(path: string, name: string): Field[] | undefined {
  const found = definitionOf(path, name);
  const part = found && /^(?:export )?type \w+ = (Omit<[^>]*>);/.exec(found.after)?.[1];
  if (!found || !(part || /^(?:export )?interface /.test(found.after))) return undefined;
  const open = found.after.indexOf("{");
  const head = found.after.slice(0, open);
  const bases = part ?? /extends ([\s\S]*)$/.exec(head)?.[1] ?? "";
  const above = [...bases.matchAll(/(?:Omit<\s*)?(\w+)(?:,\s*((?:\|?\s*"\w+"\s*)+)>)?/g)].flatMap(
    ([, base, left = ""]) =>
      (fieldsOf(found.path, base!) ?? []).filter((f) => !left.includes(`"${f.name}"`)),
  );
  const own = part ? [] : ownFields(name, bracketed(found.after, open).slice(1));
  return [...own, ...above.filter((f) => !own.some((o) => o.name === f.name))];
}
