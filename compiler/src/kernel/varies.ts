/**
 * Which values differ between the iterations of a loop, as far as names tell: an index expression
 * that speaks of a varying symbol, an expression that reads one or a varying name. Printers ask
 * which loops may run in lanes, `verify` which branches are the same for a workgroup.
 */
import { type Dim, symbolsIn } from "@kiln-ml/ir";
import type { Expr } from "./kernel.ts";

export interface Varying {
  /** Index symbols that differ. */
  readonly symbols: ReadonlySet<string>;
  /** Whether a let, an accumulator, or what memory holds differs. */
  readonly name: (name: string) => boolean;
  /** Puts in what names stand for. */
  readonly resolved?: (d: Dim) => Dim;
}

export function dimVaries(d: Dim | undefined, { symbols, resolved }: Varying): boolean {
  if (d === undefined) return false;
  for (const name of symbolsIn(resolved?.(d) ?? d).keys()) if (symbols.has(name)) return true;
  return false;
}

/** `walked` are parts that do not differ. */
export function exprVaries(e: Expr, by: Varying, walked: Set<Expr> = new Set()): boolean {
  if (walked.has(e)) return false;
  walked.add(e);
  switch (e.kind) {
    case "const":
      return false;
    case "index":
      return dimVaries(e.value, by);
    case "test":
      return e.conditions.some((c) => dimVaries(c.value, by));
    case "ref":
      return by.name(e.name);
    case "load":
      return (
        by.name(e.from) || dimVaries(e.index, by) || e.guard.some((c) => dimVaries(c.value, by))
      );
    case "call":
      return e.args.some((a) => exprVaries(a, by, walked));
    default:
      return e satisfies never;
  }
}
