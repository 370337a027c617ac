/**
 * `docs/errors.md`: what each class of errors means and where to read on, and the messages by the
 * op they begin with. A heading is what `errorPage` makes of an error, so that its anchor is there.
 */
import { errorHeading, isOf } from "@kiln-ml/ir/error-heading";
import { type ErrorText, messagesInSources, messagesInTests } from "./error-texts.ts";
import { banner } from "./source.ts";

/** What is said of a class before its messages. */
// biome-ignore format: one class an entry
const classes: Readonly<Record<string, string>> = {
  ArtifactError: "A file is damaged, cut off, hostile, of another version, or not what was asked for. Nothing of it was loaded. Write it again or download it again; [formats](formats.md) and [the format of artifacts](artifact.md) say what is read, [opening a model](loading.md) how.",
  CheckError: "A run that was asked to check itself, by `compile(fn, { check })`, met a number that is not finite or an index outside of its axis. The message names the op, the element and the line. [Finding what went wrong](guide.md#finding-what-went-wrong).",
  DeviceError: "The machine cannot do it: no adapter, a lost device, over a limit. `kiln doctor` says what this machine has. [Targets](guide.md#targets), [a lost device](recipes.md#a-lost-device), [memory](recipes.md#memory), [a content security policy](recipes.md#a-content-security-policy).",
  DtypeError: "Element types do not fit. Kiln promotes numbers of JavaScript to the dtype of the tensor beside them, and converts nothing else silently: `x.convert(\"f32\")`. [Broadcasting and dtypes](guide.md#broadcasting-and-dtypes), [numbers](numbers.md).",
  GraphError: "The program is not one that can be compiled or differentiated, or an option is not one that there is. [Compile](guide.md#compile), [loops and branches](guide.md#loops-and-branches), [everything there is](coverage.md).",
  KilnError: "The class of all others. Thrown itself, it is a mistake of ours: the message begins with `bug in`, names the pass, and has the program. Please report it.",
  LanguageModelError: "A model, a prompt or a tokenizer does not fit: [language models](guide.md#language-models).",
  RequestError: "A server of `kiln serve` refuses a request; its `status` and `code` are in the answer. [Serving a model](recipes.md#serving-a-model).",
  ShapeError: "Shapes, ranks, axes or symbolic dims do not fit. The message has both; `x.shape` and `print(x)` show what a tensor is. [Broadcasting and dtypes](guide.md#broadcasting-and-dtypes), [a symbolic batch](guide.md#a-symbolic-batch).",
};

/** The classes that the page has a section for. */
export const errorClasses: readonly string[] = Object.keys(classes);

/** A text with what marks it as code, whatever is in it. */
function asCode(text: string): string {
  const fence = text.includes("`") ? "``" : "`";
  return `${fence}${text.trim()}${fence}`;
}

/** The message, and below it its way out. */
function item(text: string): string {
  const [first, ...rest] = text.split("\n").map((line) => line.trim());
  const repair = rest.filter((line) => /[a-z]{2}/.test(line)).join(" ");
  return repair ? `- ${asCode(first!)}\\\n  ${asCode(repair)}` : `- ${asCode(first!)}`;
}

/** The class that makes the message; that which its test names if none or several do. */
function kindOf({ kind, text }: ErrorText, sources: readonly ErrorText[]): string {
  const makers = new Set(sources.filter((m) => isOf(text, m.text)).map((m) => m.kind));
  return makers.size === 1 ? [...makers][0]! : kind;
}

/** What tests compare, and of the sources what no such message is an example of. */
function textsOf(): readonly ErrorText[] {
  const sources = messagesInSources(errorClasses);
  const whole = messagesInTests(errorClasses).map((m) => ({ ...m, kind: kindOf(m, sources) }));
  const templates = sources.filter(
    ({ kind, text }) => !whole.some((m) => m.kind === kind && isOf(m.text, text)),
  );
  // The one with a way out stands last in the order, and stays.
  const all = [...whole, ...templates].sort((a, b) => (a.text < b.text ? -1 : 1));
  return [...new Map(all.map((m) => [`${m.kind} ${m.text.split("\n")[0]!.trim()}`, m])).values()];
}

/** The texts by the heading that each goes under. */
function byHeading(texts: readonly ErrorText[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { kind, text } of texts) {
    const heading = errorHeading(kind, text);
    groups.set(heading, [...(groups.get(heading) ?? []), text]);
  }
  return groups;
}

function section(kind: string, texts: readonly ErrorText[]): string {
  const groups = byHeading(texts.filter((m) => m.kind === kind));
  const ofAny = groups.get(kind);
  const parts = [...groups]
    .filter(([heading]) => heading !== kind)
    .map(([heading, own]) => `### ${heading}\n\n${own.map(item).join("\n")}`);
  return [
    `## ${kind}`,
    classes[kind]!,
    ...(ofAny ? [ofAny.map(item).join("\n")] : []),
    ...parts,
  ].join("\n\n");
}

/** The text of `docs/errors.md`. */
export function errorsPage(): string {
  const texts = textsOf();
  const sections = errorClasses.map((kind) => section(kind, texts));
  return `${banner}

# Errors

Every error that Kiln throws on purpose is of one of these classes, named after what must change. A
message says what is broken with both values, and mostly how to mend it; … stands for values.
\`errorPage(error)\` gives the anchor of an error here, and \`kiln explain\` prints its part in a
terminal: \`kiln explain ShapeError matmul\`, or the message itself.

${sections.join("\n\n")}
`;
}
