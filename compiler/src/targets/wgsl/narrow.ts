/**
 * Values as f16, for what holds f16: an element that is f16 where it lies, or a choice among such,
 * is copied and not widened on the way; a conversion is done once.
 */
import { isFloat } from "@kiln-ml/ir";
import type { Expr } from "../../kernel/kernel.ts";
import { conditionsText } from "../index-text.ts";
import { atom, type Text } from "../scope.ts";
import type { Call } from "../target-language.ts";
import { loadText, type Printer, varies } from "./language.ts";
import { narrowed, splatNarrow } from "./native-half.ts";

export const narrowText = (p: Printer, e: Expr): Text => asItLies(p, e) ?? narrowed(p, p.e.text(e));

function asItLies(p: Printer, e: Expr): Text | undefined {
  if (e.kind === "const" && Object.is(e.value, 0)) return atom("f16()");
  if (e.kind === "ref" && p.narrow.has(e.name)) return p.e.find(e.name).text;
  if (e.kind === "load" && p.narrow.has(e.from)) return loadText(p, e, true);
  if (e.kind !== "call") return undefined;
  if (e.op === "convert" && isFloat(e.args[0]!.dtype)) return narrowText(p, e.args[0]!);
  return e.op === "select" ? chosen(p, e) : undefined;
}

/** One of two, by conditions that are the same for all lanes. */
function chosen(p: Printer, { args: [when, yes, no] }: Call): Text | undefined {
  if (when?.kind !== "test" || when.conditions.some((c) => varies(p, c.value))) return undefined;
  const [a, b] = [asItLies(p, yes!), asItLies(p, no!)];
  if (!a || !b) return undefined;
  const conditions = conditionsText(p.e, when.conditions).text;
  if (conditions === "true") return a;
  if (conditions === "false") return b;
  const lanes = Math.max(a.lanes, b.lanes);
  const texts = [b, a].map((t) => splatNarrow(t, lanes).text);
  return atom(`select(${texts.join(", ")}, ${conditions})`, lanes);
}
