/**
 * `kiln explain`: the part of the page of errors that is about a class, an op or a whole message.
 * The page is a file of the package, so that it says what this version says, offline.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { anchorOf, errorHeading, isOf } from "@kiln-ml/ir/error-heading";
import { helpOf, shared, tableOf } from "./options.ts";
import { say } from "./terminal.ts";
import { meant, parseOptions, UsageError } from "./usage.ts";

export const options = [shared.json];

export const help = helpOf(
  "explain CLASS | OP | MESSAGE [options]",
  options,
  `What a class of errors means, and its messages: kiln explain ShapeError matmul, kiln explain
matmul, or a message as it was printed. In a program, errorPage(error) names the same part.
`,
);

/** What stands under a heading of the page. */
interface Part {
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions("explain", args, tableOf(options));
  const asked = positionals.join(" ").trim();
  const parts = partsOf(pageText());
  const classes = parts.filter(({ heading }) => !heading.includes(" "));
  if (asked === "")
    throw new UsageError(
      `kiln explain: needs a class, an op or a message\n  classes are ${classes.map((p) => p.heading).join(", ")}`,
    );
  const found = partsFor(asked, parts);
  if (values.json) say(`${JSON.stringify(found, null, 2)}\n`);
  else say(found.map(({ heading, text }) => `${heading}\n\n${text}\n`).join("\n"));
  return 0;
}

/** Beside the built command; in the repository the one that it is copied from. */
function pageText(): string {
  const places = ["../errors.md", "../../../../docs/errors.md"];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return readFileSync(files.find(existsSync) ?? files[0]!, "utf8");
}

const partsOf = (page: string): Part[] =>
  page
    .split(/^(?=##+ )/m)
    .filter((part) => part.startsWith("##"))
    .map((part) => {
      const [head, ...lines] = part.trim().split("\n");
      const heading = head!.replace(/^#+ /, "");
      return { heading, anchor: anchorOf(heading), text: plain(lines.join("\n").trim()) };
    });

/** Markdown as a terminal shows it: no marks, and where a link leads in parentheses. */
const plain = (text: string): string =>
  text
    .replace(/\[([^\]]+)\]\(([\w.#/-]+)\)/g, "$1 (docs/$2)")
    .replace(/^- (`+)(.*?)\1(\\?)$/gm, "$2")
    .replace(/^ {2}(`+)(.*)\1$/gm, "  $2");

/** A message as it is printed: where, the class, and what. */
const printed = /(?:^|: )(\w*Error): (.*)$/s;

/** The class and what is asked of it: `ShapeError matmul`, the anchor, an op, or a message. */
function partsFor(asked: string, parts: readonly Part[]): readonly Part[] {
  const [, kind, message] = printed.exec(asked) ?? [];
  const heading = kind ? errorHeading(kind, message!) : asked;
  const wanted = anchorOf(heading);
  const exact = parts.filter(({ anchor }) => anchor === wanted);
  const named = exact.length
    ? exact
    : parts.filter(({ anchor }) => anchor.slice(anchor.indexOf("-") + 1) === wantedSubject(asked));
  if (named.length) return withClasses(named, parts);
  // What a class says of any op: to one message, what it is of that.
  const ofClass = parts.find(({ anchor }) => anchor === wanted.split("-")[0]);
  if (ofClass) return [message ? onlyFor(message, ofClass) : ofClass];
  const subjects = parts.map(({ heading: h }) => h.split(" ").slice(1).join(" ") || h);
  throw new UsageError(
    `kiln explain: no error begins with ${asked.slice(0, 60)}\n  ${meant(asked, subjects) ?? "give a class, an op, or the message as it was printed"}`,
  );
}

/** Of a class what it means, and the messages that this one may be. */
function onlyFor(message: string, { text, ...part }: Part): Part {
  const [about, ...lists] = text.split("\n\n");
  const items = lists.join("\n").split(/\n(?! )/);
  const own = items.filter((item) => isOf(message, item));
  return { ...part, text: [about, ...(own.length ? [own.join("\n")] : [])].join("\n\n") };
}

/** `matmul`, or what a message without its class begins with. */
const wantedSubject = (asked: string): string => anchorOf(asked.split(": ")[0]!);

/** Each class before its parts. */
const withClasses = (named: readonly Part[], parts: readonly Part[]): Part[] =>
  named.flatMap((part) => {
    const kind = parts.find(({ heading }) => heading === part.heading.split(" ")[0]);
    if (!kind || kind === part) return [part];
    return [{ ...kind, text: kind.text.split("\n\n")[0]! }, part];
  });
