/**
 * `docs/reference/`: a page a namespace, an entry a public name, of the comments above what the
 * names are in the sources: how it is called, what it computes, shapes, errors, names elsewhere,
 * parameters, options and examples, which a test runs.
 */
import { readFileSync } from "node:fs";
import * as data from "@kiln-ml/data";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import * as train from "@kiln-ml/train";
import * as kiln from "kiln-ml";
import { definitionOf, type Field, fieldsOf } from "./definition.ts";
import { type Parameter, signaturesOf } from "./signature.ts";
import { banner, table } from "./source.ts";

export interface Entry extends Said {
  /** As a program writes it: `nn.Linear`, `softmax`. */
  readonly name: string;
  /** How it is called, or made. */
  readonly forms: readonly string[];
  readonly parameters: readonly Parameter[];
  /** Fields of options: `options.eps`. */
  readonly options: readonly Field[];
  /** Where it is defined. */
  readonly path: string;
}

export interface Part {
  readonly page: string;
  readonly title: string;
  readonly about: string;
  readonly prefix: string;
  readonly names: readonly string[];
  /** The file that exports its names. */
  readonly source: string;
}

const functionsOf = (of: object): string[] =>
  Object.entries(of).flatMap(([name, value]) => (typeof value === "function" ? [name] : []));

const isLoss = (name: string): boolean =>
  /^[a-z]/.test(name) &&
  /loss|entropy|ctc|rnnt/.test(definitionOf("packages/nn/src/index.ts", name)?.path ?? "");

const inNamespace = (
  page: string,
  title: string,
  of: object,
  source: string,
  about: string,
): Part => ({
  page,
  title,
  about,
  prefix: `${page}.`,
  names: functionsOf(of).sort(byName),
  source,
});

const byName = (a: string, b: string): number => (a.toLowerCase() < b.toLowerCase() ? -1 : 1);

export function referenceParts(): Part[] {
  const all = functionsOf(nn).sort(byName);
  const layers = inNamespace("nn", "Layers", nn, "packages/nn/src/index.ts", "Layers, and functions of networks.");
  return [
    {
      page: "tensors",
      title: "Tensors",
      about: "Functions of tensors, transforms of functions, and what runs them. Many are methods too: `x.exp()` is `exp(x)`.",
      prefix: "",
      names: functionsOf(kiln).sort(byName),
      source: "packages/kiln/src/index.ts",
    },
    inNamespace("linalg", "Linear algebra", kiln.linalg, "packages/ir/src/linalg/index.ts", "Of matrices in the last two axes; leading axes are a batch."),
    inNamespace("fft", "Fourier transforms", kiln.fft, "packages/ir/src/fft/index.ts", "A complex tensor has a last axis of 2, the real part and the imaginary one."),
    inNamespace("random", "Random numbers", kiln.random, "packages/ir/src/ops/random-names.ts", "From explicit keys: the same key gives the same numbers on every target. In the examples `key` is `random.key(0)`."),
    { ...layers, names: all.filter((name) => !isLoss(name)) },
    { ...layers, page: "losses", title: "Losses", about: "Functions of results and targets, in `nn`.", names: all.filter(isLoss) },
    inNamespace("optim", "Optimizers", optim, "packages/optim/src/index.ts", "Optimizers, clipping and what keeps averages."),
    { ...inNamespace("schedules", "Schedules", optim.schedule, "packages/optim/src/schedules.ts", "Rates by step: `lr: optim.schedule.cosine(…)`. In the examples `schedule` is `optim.schedule`."), prefix: "optim.schedule." },
    inNamespace("data", "Data", data, "packages/data/src/index.ts", "Data sets, loaders, samplers and readers. The examples name what is in `data` without it."),
    inNamespace("train", "Training", train, "packages/train/src/index.ts", "Training loops, callbacks and metrics, of `kiln-ml/train`. In the examples `net` maps a feature to two classes, `loader` and `validation` have two batches of two, and `optimizer` makes an SGD."),
  ];
} // biome-ignore format: a part a line

/** What a comment says: prose, what it says of parameters, and code of examples. */
export interface Said {
  readonly text: string;
  /** `axis The axis.`, of `@param`. */
  readonly params: readonly string[];
  readonly examples: readonly string[];
}

/** Code is what is indented by two or more; it may follow `@example`. */
export function saidIn(comment: string): Said {
  const prose: string[] = [];
  const params: string[] = [];
  const examples: string[] = [];
  let code: string[] = [];
  let last: "prose" | "param" | "example" = "prose";
  for (const line of [...comment.split("\n"), ""]) {
    const [, tag, rest = ""] = /^@(\w+) ?(.*)$/.exec(line) ?? [];
    if (!tag && last === "param" && /^ {2}\S/.test(line))
      params.push(`${params.pop()} ${line.trim()}`);
    else if (!tag && /^ {2}/.test(line)) code.push(line.slice(2));
    else {
      if (code.length) examples.push(code.join("\n"));
      code = [];
      last = tag === "param" || tag === "example" ? tag : "prose";
      if (tag === "param") params.push(rest);
      else if (last === "prose") prose.push(line);
    }
  }
  const text = prose
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  return { text, params, examples };
}

/** Options of a parameter: the fields of the interface that is its type. */
function optionsOf(path: string, { name, type }: Parameter): Field[] {
  const interfaceName = /^(\w*(?:Options|Inputs|Bounds))\b/.exec(type)?.[1];
  const fields = interfaceName ? (fieldsOf(path, interfaceName) ?? []) : [];
  return fields.map((f) => ({ ...f, name: `${name}.${f.name}` }));
}

/** As elements of a list by a name, of which the first counts. */
function byNames<T extends { readonly name: string }>(list: readonly T[]): T[] {
  return list.filter((x, i) => list.findIndex((y) => y.name === x.name) === i);
}

function entryOf(part: Part, name: string): Entry {
  const full = `${part.prefix}${name}`;
  const found = definitionOf(part.source, name);
  if (!found) throw new Error(`${full} is exported by ${part.source}, which no text there says`);
  const forms = signaturesOf(found);
  const made = /^export (?:abstract )?class /.test(found.after) ? "new " : "";
  const parameters = byNames(forms.flatMap((f) => f.parameters));
  return {
    name: full,
    forms: forms.map((f) => `${made}${full}${f.text}`),
    parameters,
    options: byNames(parameters.flatMap((p) => optionsOf(found.path, p))),
    path: found.path,
    ...saidIn(found.comment),
  };
}

export const entriesOf = (part: Part): Entry[] => part.names.map((name) => entryOf(part, name));

const optionLine = ({ name, type, comment }: Field): string =>
  `- \`${name}\`: \`${type}\`${comment ? `. ${comment}` : ""}`;

/**
 * The least number of fields that an entry shares with another before it says where they are told.
 */
const mostRepeated = 5;

/** Options of an entry; many that are those of another entry of the page are told there. */
function optionLines({ name, options }: Entry, page: readonly Entry[]): string[] {
  const of = (at: string) => options.filter((o) => o.of === at);
  const elsewhere = (at: string): string | undefined => {
    const own = page.find((e) => e.options.length && e.options.every((o) => o.of === at));
    return own && own.name !== name && of(at).length >= mostRepeated ? own.name : undefined;
  };
  const told = [...new Set(options.map((o) => o.of))];
  const lines = told.map((at) => {
    const other = elsewhere(at);
    if (!other) return of(at).map(optionLine);
    const names = of(at).map((o) => `\`${o.name.split(".").at(-1)}\``);
    return [`- ${names.join(", ")}: as of [${other}](#${anchor(other)}).`];
  });
  return lines.flat();
}

/** An entry as a section of a page: its forms, words, parameters, options and examples. */
function entryText(entry: Entry, page: readonly Entry[]): string {
  const { name, forms, text, params, examples } = entry;
  const said = params.map((p) => p.replace(/^(\S+) (.*)$/, "- `$1`: $2"));
  return [
    `## ${name}`,
    `\`\`\`typescript\n${forms.join("\n")}\n\`\`\``,
    text,
    [...said, ...optionLines(entry, page)].join("\n"),
    ...examples.map((code) => `\`\`\`typescript\n${code}\n\`\`\``),
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** Where a heading is on its page, as GitHub has it. */
const anchor = (heading: string): string => heading.toLowerCase().replace(/[^\w-]/g, "");

/** Names of a page, by what they are about where it has many. */
function contentsOf({ page, prefix }: Part, entries: readonly Entry[]): string {
  const links = (list: readonly Entry[]): string =>
    list.map(({ name }) => `[${name.slice(prefix.length)}](#${anchor(name)})`).join(" · ");
  if (page !== "tensors") return links(entries);
  return topics
    .map(([topic]) => [topic, entries.filter((e) => topicOf(e.path) === topic)] as const)
    .filter(([, list]) => list.length)
    .map(([topic, list]) => `**${topic}.** ${links(list)}`)
    .join("\n\n");
}

/**
 * What functions of tensors are about, by the files that define them; the first that fits counts.
 */
// biome-ignore format: a topic a line
const topics: readonly (readonly [topic: string, files: RegExp])[] = [
  ["Making tensors", /\/(?:create|source|node|triangle|host)\.ts$/],
  ["Elementwise", /\/elementwise\/|\/(?:activation|arithmetic|numeric|special-functions|erfc|quantize)\.ts$/],
  ["Sums, order and statistics", /\/(?:reduce|sort|cumulative|order-statistics|statistics|analysis|search)\.ts$/],
  ["Shapes", /\/(?:reshape|movement|join|rearrange|slice|broadcast)\.ts$/],
  ["Indexing", /\/(?:indexing|gather|select-places|segments)\.ts$/],
  ["Products, windows and images", /\/(?:contraction|product|vectors|einsum|convolution|conv-transpose|deform|pool|pool-places|windows|grid|interpolate)\.ts$|\/linalg\//],
  ["Transforms and control flow", /\/(?:grad|cond|while|scan|trace|precision|custom-kernel|shard)\.ts$|\/transforms\//],
  ["Extents", /\/(?:dim|dim-expr|shape)\.ts$/],
  ["Running, state and devices", /^packages\/kiln\/|\/(?:tap|print)\.ts$/],
  ["Errors", /\/errors\.ts$/],
  ["More", /./],
];

const topicOf = (path: string): string | undefined =>
  topics.find(([, files]) => files.test(path))?.[0];

const pageOf = (part: Part): string => {
  const entries = entriesOf(part);
  return `${banner}

# ${part.title}

${part.about} ${examplesNote}

${contentsOf(part, entries)}

${entries.map((e) => entryText(e, entries)).join("\n\n")}
`;
};

const examplesNote =
  "The tests run every example: `// [1, 2]` is what a line gives, `// throws ShapeError` what it throws; behind a semicolon is a remark.";

export interface ForeignNames {
  readonly title: string;
  /** The third is a line of code, which is run; one that begins with "$ " is of a terminal. */
  readonly rows: readonly (readonly [there: string, here: string, code?: string])[];
}

export const foreignNames = (): readonly ForeignNames[] =>
  JSON.parse(readFileSync("docs/reference/names.json", "utf8")) as ForeignNames[];

function namesTable({ title, rows }: ForeignNames): string {
  const inLines = rows.some(([, , code]) => code);
  const head = inLines ? ["there", "here", "in a line"] : ["there", "here"];
  const quoted = ([there, here, code]: ForeignNames["rows"][number]): string[] =>
    [there, here, ...(inLines ? [code ?? ""] : [])].map((t) =>
      t.includes("`") ? `\`\` ${t} \`\`` : t && `\`${t}\``,
    );
  return `## ${title}\n\n${table([head, ...rows.map(quoted)])}\n`;
}

const namesPage = (): string => `${banner}

# Names elsewhere

What the same is called in PyTorch, Keras and NumPy; [coverage.md](../coverage.md) has more. A test finds every name of the column "here", and
runs the lines: \`x\` is f32[3, 4], \`i\` has two rows, \`v\` is f32[2], \`w\` a parameter like it, \`net\` two layers on three features.

${foreignNames().map(namesTable).join("\n")}`;

export const referencePages = (): (readonly [path: string, text: string])[] => [
  ...referenceParts().map((part) => [`docs/reference/${part.page}.md`, pageOf(part)] as const),
  ["docs/reference/names.md", namesPage()],
];
