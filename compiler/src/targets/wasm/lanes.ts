/**
 * Which loops run in lanes. The others run one iteration after the other, which is always right.
 *
 * A loop does not run in lanes if an f64 occurs in it (f64 has no lanes here), if an extent or a
 * condition differs between iterations, if a store does not move with it, or if a value read at
 * run time is an index that differs: lanes share one control flow and one set of addresses.
 */
import { type Dim, symbolsIn } from "@kiln-ml/ir";
import type { Expr, Of, Stmt } from "../../kernel/kernel.ts";
import { exprsOf } from "../../kernel/uses.ts";

interface Seen {
  /** Index symbols that differ from lane to lane. */
  readonly varying: Set<string>;
  /** Accumulators declared in the loop. */
  readonly inner: Set<string>;
  /** Lets and accumulators bound in the loop, which may differ by lane. */
  readonly bound: Set<string>;
  /** Expressions in which no f64 was found: they share parts, and are walked once. */
  readonly single: Set<Expr>;
}

/**
 * True if four iterations of the loop can run together; accumulators of outer blocks may take part
 * if `outer`.
 */
export function runsInLanes(s: Of<"loop">, outer: boolean): boolean {
  const seen: Seen = {
    varying: new Set([s.name]),
    inner: new Set(),
    bound: new Set(),
    single: new Set(),
  };
  return s.body.every((t) => laneAgrees(t, seen, outer));
}

const varies = (d: Dim | undefined, seen: Seen): boolean =>
  d !== undefined && [...symbolsIn(d).keys()].some((name) => seen.varying.has(name));

/** Whether a value may differ from lane to lane; `walked` are parts that do not. */
function differs(e: Expr, seen: Seen, walked: Set<Expr>): boolean {
  if (walked.has(e)) return false;
  walked.add(e);
  switch (e.kind) {
    case "const":
      return false;
    case "ref":
      return seen.bound.has(e.name);
    case "index":
      return varies(e.value, seen);
    case "test":
      return e.conditions.some((c) => varies(c.value, seen));
    case "load":
      return varies(e.index, seen) || e.guard.some((c) => varies(c.value, seen));
    case "call":
      return e.args.some((a) => differs(a, seen, walked));
    default:
      return e satisfies never;
  }
}

/** f64 anywhere in the value, also where its result is another dtype. */
function hasDouble(e: Expr, single: Set<Expr>): boolean {
  if (single.has(e)) return false;
  single.add(e);
  return e.dtype === "f64" || (e.kind === "call" && e.args.some((a) => hasDouble(a, single)));
}

/** Statements that declare are noted: what follows them may differ by lane. */
function laneAgrees(s: Stmt, seen: Seen, outer: boolean): boolean {
  if (exprsOf(s).some((e) => hasDouble(e, seen.single))) return false;
  switch (s.kind) {
    case "comment":
    case "scheduleBarrier":
    case "prefetch":
      return true;
    case "let":
      seen.bound.add(s.name);
      return true;
    case "acc":
      seen.bound.add(s.name);
      seen.inner.add(s.name);
      return s.dtype !== "f64";
    case "letIndex":
      if (varies(s.value, seen)) seen.varying.add(s.name);
      return true;
    case "letDynamic":
      return !differs(s.value, seen, new Set());
    case "set":
      return seen.inner.has(s.name);
    case "accumulate":
    case "fma":
      return outer || seen.inner.has(s.name);
    case "store":
      return varies(s.index, seen);
    case "loop":
      return (
        !varies(s.extent, seen) &&
        !varies(s.start, seen) &&
        s.body.every((t) => laneAgrees(t, seen, outer))
      );
    case "if":
      return (
        !s.when.some((c) => varies(c.value, seen)) &&
        s.then.every((t) => laneAgrees(t, seen, outer))
      );
    case "letInvocation":
    case "letSubgroup":
    case "matrix":
    case "array":
    case "sort":
    case "barrier":
    case "combine":
    case "prefix":
      return false;
    default:
      return s satisfies never;
  }
}
