/**
 * The walk that prints a kernel's statements. A target brings a row for each kind, so that the type
 * checker lists what a new kind or a new target lacks; targets that print text share a few rows and
 * the forms of blocks and loops. Knows no target.
 */
import { bug, type Dim, symbolsIn } from "@kiln-ml/ir";
import type { Of, Stmt } from "../kernel/kernel.ts";
import type { Emitter } from "./emitter.ts";
import { conditionsText, indexText } from "./index-text.ts";
import { atom, indented, type Scope, type Value } from "./scope.ts";

/** How a target prints each kind of statement. */
export type Statements<P> = { readonly [K in Stmt["kind"]]: (p: P, s: Of<K>) => void };

/** The printer of a target of values `V` and lines `L`. */
interface Printing<V extends Value, L> {
  readonly e: Emitter<V, L>;
}

/** Prints statements in their order; what one changes is forgotten before the next. */
export function printRows<V extends Value, L, P extends Printing<V, L>>(
  p: P & Printing<V, L>,
  rows: Statements<P>,
  body: readonly Stmt[],
): void {
  for (const s of body) {
    (rows[s.kind] as (p: P, s: Stmt) => void)(p, s);
    p.e.changed(s);
  }
}

/** The row of a kind that the target has no use for. */
export const nothing = (): void => {};

/** The row of a kind that no schedule of the target makes. */
export const absent =
  (target: string) =>
  ({ e }: { readonly e: { readonly kernel: { readonly name: string } } }, s: Stmt): never =>
    bug("emit", `${e.kernel.name} has a ${s.kind}, of which target ${target} has none`);

type TextPrinter = { readonly e: Emitter };
type Block<P> = (p: P, body: readonly Stmt[]) => void;

/** The rows that are alike in every language that is text; `all` prints a block. */
export const textRows = <P extends TextPrinter>(
  all: Block<P>,
): Pick<Statements<P>, "comment" | "let" | "letDynamic" | "if"> => ({
  comment: ({ e }, s) => e.line(`// ${s.text}`),
  let: ({ e }, s) => e.bindLet(s.name, s.value),
  letDynamic: ({ e }, s) => e.bindDynamic(s.name, s.value, (value) => value),
  if: (p, s) => {
    const { text } = conditionsText(p.e, s.when);
    if (text === "true") p.e.inside(s, () => all(p, s.then), { inline: true });
    else
      block(
        p.e,
        `if (${text})`,
        p.e.inside(s, () => all(p, s.then)),
      );
  },
});

export function block(e: Emitter, head: string, lines: readonly string[]): void {
  e.line(`${head} {`);
  for (const l of indented(lines)) e.line(l);
  e.line("}");
}

/** The body of a loop whose variable `bind` gives a meaning, without a block of its own. */
export function printInline<P extends TextPrinter>(
  p: P,
  s: Of<"loop">,
  all: Block<P>,
  bind: (scope: Scope) => void,
): void {
  p.e.inside(
    s,
    (scope) => {
      bind(scope);
      all(p, s.body);
    },
    { inline: true },
  );
}

/** A counted loop from `first`, a text, to `extent`; `word` declares a variable that changes. */
export function printFor<P extends TextPrinter>(
  p: P,
  s: Of<"loop">,
  all: Block<P>,
  { word, first, extent, step }: { word: string; first: string; extent: Dim; step: number },
): void {
  const { e } = p;
  const end = endText(e, s, extent);
  const name = e.loopName(s.name);
  const next = step === 1 ? `${name}++` : `${name} += ${step}`;
  const lines = e.inside(s, () => {
    e.bindName(s.name, atom(name));
    all(p, s.body);
  });
  block(e, `for (${word} ${name} = ${first}; ${name} < ${end}; ${next})`, lines);
}

/** The bound of a loop, named unless it is a number or a name, so that it is computed once. */
function endText(e: Emitter, s: Of<"loop">, extent: Dim): string {
  const text = indexText(e, extent);
  if (/^\w+$/.test(text.text) || symbolsIn(extent).size === 0) return text.text;
  const name = e.fresh(`${s.name}End`);
  e.line(e.language.declare(name, text, "index"));
  return name;
}
