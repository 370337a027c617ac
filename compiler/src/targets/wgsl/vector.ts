/**
 * Which vector loops become vector operations. The others are repeated lane by lane, which is
 * always right. A loop is one if its lanes take the same way: a condition or an extent that
 * differs between lanes would be a branch, which vectors have not.
 */
import { type Dim, symbolsIn } from "@kiln-ml/ir";
import type { Expr, Of, Stmt } from "../../kernel/kernel.ts";
import { isArg } from "../../kernel/uses.ts";

/**
 * True if every statement of the loop has a form in which its lanes run together. `resolved` puts
 * in what names stand for: an index may cease to differ when a loop around it has been unrolled.
 */
export function isVectorisable(s: Of<"loop">, resolved: (d: Dim) => Dim): boolean {
  if (s.extent !== 2 && s.extent !== 3 && s.extent !== 4) return false;
  if (s.start !== undefined || s.step !== undefined) return false;
  const none = (): Set<string> => new Set();
  return lanesAgree(s.body, { varying: new Set([s.name]), inner: none(), wide: none(), resolved });
}

interface Seen {
  /** Index symbols that differ from lane to lane. */
  readonly varying: Set<string>;
  /** Accumulators declared in the loop, which have lanes. */
  readonly inner: Set<string>;
  /** Lets whose values may differ from lane to lane. */
  readonly wide: Set<string>;
  readonly resolved: (d: Dim) => Dim;
}

const varies = (d: Dim | undefined, seen: Seen): boolean =>
  d !== undefined && [...symbolsIn(seen.resolved(d)).keys()].some((name) => seen.varying.has(name));

/** Whether a value may differ from lane to lane; `walked` are parts that do not. */
function differs(e: Expr, seen: Seen, walked: Set<Expr> = new Set()): boolean {
  if (walked.has(e)) return false;
  walked.add(e);
  switch (e.kind) {
    case "const":
      return false;
    case "index":
      return varies(e.value, seen);
    case "test":
      return e.conditions.some((c) => varies(c.value, seen));
    case "ref":
      return seen.inner.has(e.name) || seen.wide.has(e.name);
    case "call":
      return e.args.some((a) => differs(a, seen, walked));
    case "load":
      return varies(e.index, seen) || e.guard.some((c) => varies(c.value, seen));
    default:
      return e satisfies never;
  }
}

const lanesAgree = (body: readonly Stmt[], seen: Seen): boolean =>
  body.every((s) => laneAgrees(s, seen));

function laneAgrees(s: Stmt, seen: Seen): boolean {
  switch (s.kind) {
    case "comment":
    case "barrier":
    case "array":
    case "letInvocation":
    case "letSubgroup":
    case "matrix":
    case "fma":
      return true;
    case "let":
      if (differs(s.value, seen)) seen.wide.add(s.name);
      return true;
    case "letDynamic":
      return !differs(s.value, seen);
    case "letIndex":
      if (varies(s.value, seen)) seen.varying.add(s.name);
      return true;
    case "acc":
      seen.inner.add(s.name);
      return true;
    case "set":
      return seen.inner.has(s.name) || !differs(s.value, seen);
    case "accumulate":
      return !isArg(s.reducer);
    case "store":
      return varies(s.index, seen) || !differs(s.value, seen);
    case "loop":
      return (
        (s.loop === "serial" || s.loop === "unrolled") &&
        !varies(s.extent, seen) &&
        !varies(s.start, seen) &&
        lanesAgree(s.body, seen)
      );
    case "if":
      return !s.when.some((c) => varies(c.value, seen)) && lanesAgree(s.then, seen);
    case "scheduleBarrier":
    case "prefetch":
    case "sort":
    case "combine":
    case "prefix":
      return false;
    default:
      return s satisfies never;
  }
}
