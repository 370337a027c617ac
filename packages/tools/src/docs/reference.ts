/**
 * `docs/reference/`: a page a namespace, an entry a public name, of the comments above what the names are in the sources: what it computes,
 * shapes, errors, its names elsewhere and examples, which a test runs. Reads sources as text; knows no types.
 */
import { readFileSync } from "node:fs";
import * as data from "@kiln-ml/data";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import * as train from "@kiln-ml/train";
import * as kiln from "kiln-ml";
import { coverageSections } from "./coverage.ts";
import { banner, commentText, sourcesIn, table } from "./source.ts";

export interface Entry {
  /** As a program writes it: `nn.Linear`, `softmax`. */
  readonly name: string;
  readonly signature: string;
  readonly text: string;
  /** Lines of code of each example. */
  readonly examples: readonly string[];
  /** What others call it. */
  readonly elsewhere: readonly string[];
}

export interface Part {
  readonly page: string;
  readonly title: string;
  readonly about: string;
  readonly prefix: string;
  readonly names: readonly string[];
  /** Where its names are defined. */
  readonly folders: readonly string[];
}

const functionsOf = (of: object): string[] =>
  Object.entries(of).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));

const isLoss = (name: string): boolean =>
  /^[a-z]/.test(name) && sourceOf(lossFiles, name) !== undefined;
const lossFiles = () =>
  sourcesIn("packages/nn/src").filter(({ path }) => /loss|entropy|ctc|rnnt/.test(path));

const inNamespace = (
  page: string,
  title: string,
  of: object,
  folder: string,
  about: string,
): Part => ({
  page,
  title,
  about,
  prefix: `${page}.`,
  names: functionsOf(of).sort(byName),
  folders: [folder],
});

const byName = (a: string, b: string): number => (a.toLowerCase() < b.toLowerCase() ? -1 : 1);

export function referenceParts(): Part[] {
  const all = functionsOf(nn).sort(byName);
  const layers = inNamespace("nn", "Layers", nn, "packages/nn/src", "Layers, and functions of networks.");
  return [
    {
      page: "tensors",
      title: "Tensors",
      about: "Functions of tensors, transforms of functions, and what runs them. Many are methods too: `x.exp()` is `exp(x)`.",
      prefix: "",
      names: functionsOf(kiln).sort(byName),
      folders: ["packages/ir/src", "packages/kiln/src"],
    },
    inNamespace("linalg", "Linear algebra", kiln.linalg, "packages/ir/src/linalg", "Of matrices in the last two axes; leading axes are a batch."),
    inNamespace("fft", "Fourier transforms", kiln.fft, "packages/ir/src/fft", "A complex tensor has a last axis of 2, the real part and the imaginary one."),
    inNamespace("random", "Random numbers", kiln.random, "packages/ir/src/ops", "From explicit keys: the same key gives the same numbers on every target."),
    { ...layers, folders: ["packages/nn/src", "packages/ir/src"], names: all.filter((name) => !isLoss(name)) },
    { ...layers, page: "losses", title: "Losses", about: "Functions of results and targets, in `nn`.", names: all.filter(isLoss) },
    inNamespace("optim", "Optimizers", optim, "packages/optim/src", "Optimizers, clipping and what keeps averages."),
    { ...inNamespace("schedules", "Schedules", optim.schedule, "packages/optim/src", "Rates by step: `lr: optim.schedule.cosine(…)`."), prefix: "optim.schedule." },
    inNamespace("data", "Data", data, "packages/data/src", "Data sets, loaders, samplers and readers."),
    inNamespace("train", "Training", train, "packages/train/src", "Training loops, callbacks and metrics, of `kiln-ml/train`."),
  ];
} // biome-ignore format: a part a line

type Sources = () => readonly { readonly path: string; readonly text: string }[];

const kept = new Map<string, ReturnType<Sources>>();
const sourcesOf = (folder: string) => {
  const found = kept.get(folder) ?? sourcesIn(folder);
  kept.set(folder, found);
  return found;
};

interface Found {
  readonly comment: string;
  readonly after: string;
}

/** The comment above the definition of an exported name, and the text from there on. */
function sourceOf(sources: Sources, name: string): Found | undefined {
  const start = new RegExp(
    `^export (?:abstract |async )?(?:const|function\\*?|class) ${name}\\b`,
    "m",
  );
  for (const { text } of sources()) {
    const at = start.exec(text)?.index;
    if (at === undefined) continue;
    const before = text
      .slice(0, at)
      .trimEnd()
      .replace(/\n\/\/[^\n]*$/, "");
    const from = before.endsWith("*/") ? before.lastIndexOf("/**") : -1;
    return { comment: from < 0 ? "" : commentText(before.slice(from)), after: text.slice(at) };
  }
  return undefined;
}

/** From a bracket to the one that closes it. */
function bracketed(text: string, from: number): string {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    if ("([{".includes(text[i]!)) depth++;
    if (")]}".includes(text[i]!) && --depth === 0) return text.slice(from, i + 1);
  }
  return "";
}

const oneLine = (text: string): string =>
  text
    .replace(/\/\*\*(?:(?!\*\/)[\s\S])*\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/\(\s/g, "(")
    .replace(/,?\s\)/g, ")")
    .trim();

/** How it is called: parameters of a function or of a class's constructor. */
function signatureOf(name: string, { after }: Found): string {
  const isClass = /^export (?:abstract )?class /.test(after);
  const end = after.indexOf("\n}\n");
  const own = end < 0 ? after : after.slice(0, end);
  const at = isClass ? own.search(/\n {2}constructor\(/) + 14 : own.search(/[(]/);
  if (isClass && at < 14) return `new ${name}()`;
  if (at < 0) return name;
  const line = oneLine(bracketed(own, at));
  return isClass ? `new ${name}${line}` : `${name}${line}`;
}

/** Prose and code of a comment: code is what is indented by two or more. */
function split(comment: string): { text: string; examples: string[] } {
  const prose: string[] = [];
  const examples: string[] = [];
  let code: string[] = [];
  for (const line of [...comment.split("\n"), ""]) {
    if (/^ {2}/.test(line)) code.push(line.slice(2));
    else {
      if (code.length) examples.push(code.join("\n"));
      code = [];
      prose.push(line);
    }
  }
  const text = prose
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return { text, examples };
}

/** A class that is a function as a layer. */
const plainLayer = /^export class \w+ extends \/\* @__PURE__ \*\/ plain\((\w+)\)/;

function entryOf(part: Part, name: string, others: ReadonlyMap<string, readonly string[]>): Entry {
  const found = part.folders
    .map((folder) => sourceOf(() => sourcesOf(folder), name))
    .find((f) => f !== undefined);
  const full = `${part.prefix}${name}`;
  const of = found && plainLayer.exec(found.after)?.[1];
  const { text, examples } = split(found?.comment ?? "");
  return {
    name: full,
    signature: found ? signatureOf(full, found) : full,
    text: text || (of ? `\`${of}\` as a layer. x: f32[...] → the same.` : ""),
    examples,
    elsewhere: others.get(full) ?? [],
  };
}

/** What others call each name, from the table of what people look for. */
function namesElsewhere(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { rows } of coverageSections())
    for (const { name, kiln: own } of rows)
      if (own) found.set(own, [...(found.get(own) ?? []), name]);
  return found;
}

export const entriesOf = (part: Part): Entry[] => {
  const others = namesElsewhere();
  return part.names.map((name) => entryOf(part, name, others));
};

function entryText({ name, signature, text, examples, elsewhere }: Entry): string {
  const also = elsewhere.filter((n) => !text.includes(n) && n !== name);
  return [
    `## ${name}`,
    `\`${signature}\``,
    text,
    ...(also.length ? [`Elsewhere: ${also.map((n) => `\`${n}\``).join(", ")}.`] : []),
    ...examples.map((code) => `\`\`\`typescript\n${code}\n\`\`\``),
  ]
    .filter(Boolean)
    .join("\n\n");
}

const pageOf = (part: Part): string => `${banner}

# ${part.title}

${part.about} Examples are run by the tests.

${entriesOf(part).map(entryText).join("\n\n")}
`;

export interface ForeignNames {
  readonly title: string;
  readonly rows: readonly (readonly [there: string, here: string])[];
}

export const foreignNames = (): readonly ForeignNames[] =>
  JSON.parse(readFileSync("docs/reference/names.json", "utf8")) as ForeignNames[];

const namesPage = (): string => `${banner}

# Names elsewhere

What the same is called in PyTorch, Keras and NumPy; [coverage.md](../coverage.md) has more. A test finds every name in the last column.

${foreignNames()
  .map(
    ({ title, rows }) =>
      `## ${title}\n\n${table([["there", "here"], ...rows.map(([a, b]) => [`\`${a}\``, `\`${b}\``])])}\n`,
  )
  .join("\n")}`;

export const referencePages = (): (readonly [path: string, text: string])[] => [
  ...referenceParts().map((part) => [`docs/reference/${part.page}.md`, pageOf(part)] as const),
  ["docs/reference/names.md", namesPage()],
];
