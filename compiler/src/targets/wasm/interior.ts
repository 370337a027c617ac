/**
 * The iterations of a loop whose guards all hold. A window or a pad that reaches over the border
 * guards every load; but for a few iterations at either end of a row the guards say nothing, and
 * loads of neighbours are one instruction there instead of four guarded ones. The ends run one
 * iteration at a time, with guards: they are as many as the window reaches over.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  floorDiv,
  isStatic,
  keyOfDim,
  maxDim,
  maxOfDim,
  minDim,
  mulDim,
  negDim,
  subDim,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";
import type { Of } from "../../kernel/kernel.ts";
import { strideOf } from "../../kernel/stride.ts";
import { eachStmt, walkStmts } from "../../kernel/walk.ts";
import type { WasmEmitter } from "./printer.ts";

/** The most iterations at an end that are left out of the interior. */
const mostAtEnd = 16;
/** Loops of fewer iterations are not worth being written three times. */
const leastSplit = 16;

interface Interior {
  readonly from: Dim;
  readonly to: Dim;
  /** What holds there. */
  readonly holds: readonly Condition[];
}

/** The interior of a loop from `start` to `extent`, or undefined if no guard would be saved. */
export function interiorOf(
  e: WasmEmitter,
  s: Of<"loop">,
  start: Dim,
  extent: Dim,
): Interior | undefined {
  const count = subDim(extent, start);
  if (maxOfDim(count) < leastSplit) return undefined;
  const names = namesOf(s);
  let [from, to] = [start, extent];
  const holds: Condition[] = [];
  // A load and a test that share a guard bound the interior once.
  const known = new Set<string>();
  for (const c of conditionsOf(s)) {
    const bound = boundOf(e, s.name, names, c);
    if (!bound) continue;
    const [most, skipped] = bound.least
      ? [maxDim(from, bound.at), subDim(bound.at, start)]
      : [minDim(to, bound.at), subDim(extent, bound.at)];
    if (maxOfDim(skipped) > mostAtEnd) continue;
    holds.push(c);
    const key = `${bound.least} ${keyOfDim(bound.at)}`;
    if (known.has(key)) continue;
    known.add(key);
    if (bound.least) from = most;
    else to = most;
  }
  if (holds.length === 0) return undefined;
  from = minDim(from, extent);
  return { from, to: maxDim(from, to), holds };
}

interface Names {
  /** Index expressions bound in the body. */
  readonly lets: ReadonlyMap<string, Dim>;
  /** Loops in the body, by their variable. */
  readonly loops: ReadonlyMap<string, Of<"loop">>;
  /** Symbols that only the run tells. */
  readonly dynamic: ReadonlySet<string>;
}

function namesOf(s: Of<"loop">): Names {
  const lets = new Map<string, Dim>();
  const loops = new Map<string, Of<"loop">>();
  const dynamic = new Set<string>();
  eachStmt(s.body, (t) => {
    if (t.kind === "letIndex") lets.set(t.name, t.value);
    else if (t.kind === "loop") loops.set(t.name, t);
    else if (t.kind === "letDynamic") dynamic.add(t.name);
  });
  return { lets, loops, dynamic };
}

function conditionsOf(s: Of<"loop">): Set<Condition> {
  const found = new Set<Condition>();
  walkStmts(s.body, {
    expr: (x) => {
      if (x.kind === "load") for (const c of x.guard) found.add(c);
      if (x.kind === "test") for (const c of x.conditions) found.add(c);
    },
  });
  return found;
}

/** From where on, or up to where, a condition holds whatever the loops inside are at. */
function boundOf(
  e: WasmEmitter,
  name: string,
  { lets, loops, dynamic }: Names,
  c: Condition,
): { least: boolean; at: Dim } | undefined {
  if (c.test !== "nonnegative") return undefined;
  let value = c.value;
  for (let depth = 0; depth < 4 && [...symbolsIn(value).keys()].some((n) => lets.has(n)); depth++)
    value = substitute(value, lets);
  value = e.resolved(value);
  const stride = strideOf(value, name);
  if (stride === undefined || stride === 0) return undefined;
  let rest = substitute(value, new Map([[name, 0]]));
  for (const inner of symbolsIn(rest).keys()) {
    if (dynamic.has(inner) || lets.has(inner)) return undefined;
    const loop = loops.get(inner);
    if (!loop) continue;
    const along = strideOf(rest, inner);
    const [first, end] = [loop.start ?? 0, loop.extent];
    if (along === undefined || !isStatic(first) || !isStatic(end)) return undefined;
    rest = substitute(rest, new Map([[inner, along > 0 ? first : end - 1]]));
  }
  return stride > 0
    ? { least: true, at: ceilDiv(negDim(rest), stride) }
    : { least: false, at: addDim(floorDiv(rest, mulDim(stride, -1)), 1) };
}
