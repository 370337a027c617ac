/**
 * How an exported function is called, or a class made: every form of it, with its parameters. Reads
 * the text of the definition; a form that a maker gives (`const max = reducing(…)`) is found where
 * the maker is.
 */
import { bracketed, type Definition, definitionOf } from "./definition.ts";

export interface Parameter {
  readonly name: string;
  readonly type: string;
}

export interface Signature {
  /** `(x: Tensor, axis = -1): Tensor`. */
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

const oneLine = (text: string): string =>
  text
    .replace(/\/\*\*?(?:(?!\*\/)[\s\S])*\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/\(\s/g, "(")
    .replace(/,?\s\)/g, ")")
    .trim();

/** Parts of a list between brackets, cut at commas outside of brackets. */
function parts(list: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < list.length; i++) {
    const c = list[i]!;
    if ("([{<".includes(c)) depth++;
    if (")]}".includes(c) || (c === ">" && list[i - 1] !== "=")) depth--;
    if (c === "," && depth === 0) {
      found.push(list.slice(from, i));
      from = i + 1;
    }
  }
  return [...found, list.slice(from)].map((p) => p.trim()).filter(Boolean);
}

function parametersOf(list: string): Parameter[] {
  return parts(oneLine(list).slice(1, -1)).map((part) => {
    const [, name = part, type = ""] =
      /^(?:\.\.\.)?(\w+|\{[^}]*\})\??(?::\s*)?(.*)$/.exec(part) ?? [];
    return { name, type };
  });
}

/**
 * What follows a list of parameters up to the body: `: Tensor`, or nothing. The result of an arrow
 * ends at its `=>`.
 */
function resultAfter(rest: string, isArrow: boolean): string {
  if (!rest.startsWith(":")) return "";
  let depth = 0;
  for (let i = 1; i < rest.length; i++) {
    const c = rest[i]!;
    const said = oneLine(rest.slice(0, i));
    const ends = c === ";" || (isArrow && rest.startsWith("=>", i));
    if (depth === 0 && (ends || (c === "{" && said !== ":" && !said.endsWith("|")))) return said;
    if ("([{<".includes(c)) depth++;
    if (")]}".includes(c) || (c === ">" && rest[i - 1] !== "=")) depth--;
  }
  return "";
}

function signatureAt(text: string, open: number, isArrow = false): Signature {
  const list = bracketed(text, open);
  const result = resultAfter(text.slice(open + list.length).trimStart(), isArrow);
  return { text: `${oneLine(list)}${result}`, parameters: parametersOf(list) };
}

/**
 * A form for each of the lists that a rest parameter's type has, `(...args: Sizes<Options>)` with
 * `type Sizes<O> = readonly [width: number, options?: O] | …`; the form itself where there are
 * none.
 */
function spread(path: string, form: Signature): Signature[] {
  const rest = /^(\((?:[^()]*, )?)\.\.\.\w+: (\w+)(?:<(.*)>)?(?=\))/.exec(form.text);
  const found = rest ? definitionOf(path, rest[2]!) : undefined;
  const type = /^(?:export )?type \w+(?:<([^>]*)>)? =([^;]*);/.exec(found?.after ?? "");
  if (!rest || !type) return [form];
  const given = parts(rest[3] ?? "");
  const names = parts(type[1] ?? "");
  const lists = [...type[2]!.matchAll(/\[/g)].map((m) => bracketed(type[2]!, m.index));
  if (!lists.length) return [form];
  return lists.map((list) => {
    const inner = names.reduce(
      (text, name, i) => text.replace(new RegExp(`\\b${name}\\b`, "g"), given[i] ?? name),
      oneLine(list).slice(1, -1),
    );
    const text = `${rest[1]}${inner}${form.text.slice(rest[0].length)}`;
    return { text, parameters: parametersOf(bracketed(text, 0)) };
  });
}

/** Of a class: its constructors, or those of what it extends. */
function constructorsOf({ after, path }: Definition): Signature[] {
  const body = after.slice(0, after.indexOf("\n}\n") + 1);
  const head = /^[^{]*/.exec(after)![0];
  const places = [...body.matchAll(/\n {2}constructor(?=\()/g)].map((m) => m.index + m[0].length);
  if (/\{\}\s*$/.test(after.slice(0, after.indexOf("\n"))) || !places.length) {
    const base = /extends (\w+)/.exec(head)?.[1];
    const above = base && base !== "Module" ? definitionOf(path, base) : undefined;
    const made = above && /\bclass \w+/.test(above.after.slice(0, 60)) ? constructorsOf(above) : [];
    return made.length ? made : [{ text: "()", parameters: [] }];
  }
  const all = places.map((at) => signatureAt(after, at));
  return (all.length > 1 ? all.slice(0, -1) : all).flatMap((form) => spread(path, form));
}

/** Of what a maker gives: the last list of parameters of `(…) => (…) => …`. */
function madeBy({ path, after }: Definition): Signature[] {
  const maker = /^[^=]*= (?:\/\* @__PURE__ \*\/ )?(\w+)\(/.exec(after)?.[1];
  const found = maker ? definitionOf(path, maker) : undefined;
  if (!found) return [];
  let at = found.after.search(/(?<==\s*)\(/);
  let last = at;
  while (at >= 0) {
    last = at;
    const rest = found.after.slice(at + bracketed(found.after, at).length);
    const next = /^(?::[^=;{]*)?\s*=>\s*(?=\()/.exec(rest);
    at = next ? found.after.length - rest.length + next[0].length : -1;
  }
  return last < 0 ? [] : [signatureAt(found.after, last, true)];
}

/** Of a constant with a type: the calls that the type has. */
function callsOf({ path, after }: Definition): Signature[] | undefined {
  const open = /^(?:export )?const \w+: (?=\()/.exec(after);
  if (open) {
    const list = bracketed(after, open[0].length);
    const result = /^ => (\w+)/.exec(after.slice(open[0].length + list.length))?.[1];
    return [{ text: `${oneLine(list)}: ${result}`, parameters: parametersOf(list) }];
  }
  const type = /^(?:export )?const \w+: (\w+) =/.exec(after)?.[1];
  const found = type ? definitionOf(path, type) : undefined;
  if (!found) return undefined;
  const body = bracketed(found.after, found.after.indexOf("{"));
  return [...body.matchAll(/\n {2}(?=\()/g)].map((m) => signatureAt(body, m.index + m[0].length));
}

function functionsOf({ path, name, after }: Definition): Signature[] {
  const all = [
    ...after.matchAll(new RegExp(`^(?:export )?(?:async )?function\\*? ${name}\\b`, "gm")),
  ];
  const forms = all.map((m) => {
    const rest = m.index + m[0].length;
    // Type parameters hold no parenthesis that opens before the list does, but for functions in
    // bounds.
    const generic = after[rest] === "<" ? angled(after, rest) : "";
    return signatureAt(after, after.indexOf("(", rest + generic.length));
  });
  return (forms.length > 1 ? forms.slice(0, -1) : forms).flatMap((form) => spread(path, form));
}

function angled(text: string, from: number): string {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    if (text[i] === "<") depth++;
    if (text[i] === ">" && text[i - 1] !== "=" && --depth === 0) return text.slice(from, i + 1);
  }
  return "";
}

/** Every form of a definition. */
export function signaturesOf(definition: Definition): Signature[] {
  const { after } = definition;
  if (/^(?:export )?(?:abstract )?class /.test(after)) return constructorsOf(definition);
  if (/^(?:export )?(?:async )?function/.test(after)) return functionsOf(definition);
  const calls = callsOf(definition);
  if (calls?.length) return calls;
  const arrow = /^(?:export )?const \w+ =\s*(?:async )?(?=[(<])/.exec(after);
  if (!arrow) return madeBy(definition);
  const generic = after[arrow[0].length] === "<" ? angled(after, arrow[0].length) : "";
  return [signatureAt(after, after.indexOf("(", arrow[0].length + generic.length), true)];
}
