/**
 * Which vector loops become vector operations. The others are repeated lane by lane, which is always right.
 */
import { type Dim, symbolsIn } from "@kiln-ml/ir";
import type { Of, Stmt } from "../../kernel/kernel.ts";
import { isArg } from "../../kernel/uses.ts";

/**
 * True if every statement of the loop has a form in which its lanes run together. `resolved` puts in what names stand for:
 * an index may cease to differ when a loop around it has been unrolled.
 */
export function isVectorisable(s: Of<"loop">, resolved: (d: Dim) => Dim): boolean {
  if (s.extent !== 2 && s.extent !== 3 && s.extent !== 4) return false;
  if (s.start !== undefined || s.step !== undefined) return false;
  return lanesAgree(s.body, { varying: new Set([s.name]), inner: new Set(), resolved });
}

interface Seen {
  /** Index symbols that differ from lane to lane. */
  readonly varying: Set<string>;
  /** Accumulators declared in the loop, which have lanes. */
  readonly inner: Set<string>;
  readonly resolved: (d: Dim) => Dim;
}

const varies = (d: Dim | undefined, seen: Seen): boolean =>
  d !== undefined && [...symbolsIn(seen.resolved(d)).keys()].some((name) => seen.varying.has(name));

const lanesAgree = (body: readonly Stmt[], seen: Seen): boolean =>
  body.every((s) => laneAgrees(s, seen));

function laneAgrees(s: Stmt, seen: Seen): boolean {
  switch (s.kind) {
    case "comment":
    case "let":
    case "fma":
      return true;
    case "letIndex":
      if (varies(s.value, seen)) seen.varying.add(s.name);
      return true;
    case "acc":
      seen.inner.add(s.name);
      return true;
    case "set":
      return seen.inner.has(s.name);
    case "accumulate":
      return !isArg(s.reducer);
    case "store":
      return varies(s.index, seen);
    case "loop":
      return (
        (s.loop === "serial" || s.loop === "unrolled") &&
        !varies(s.extent, seen) &&
        !varies(s.start, seen) &&
        lanesAgree(s.body, seen)
      );
    case "if":
      return !s.when.some((c) => varies(c.value, seen)) && lanesAgree(s.then, seen);
    case "letDynamic":
    case "letInvocation":
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
