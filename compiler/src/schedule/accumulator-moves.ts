/**
 * Moves of accumulators: kept in another dtype, or one an iteration of the loop around them, in an
 * array.
 */
import { type Dtype, maxOfDim, symbolsIn } from "@kiln-ml/ir";
import { constant, load, ref } from "../kernel/expr.ts";
import type { Expr, Of, Stmt } from "../kernel/kernel.ts";
import { mapStmts } from "../kernel/map.ts";
import { plainName } from "../kernel/names.ts";
import { bodyOf, changedNames } from "../kernel/parts.ts";
import { eachStmt, walkStmts } from "../kernel/walk.ts";
import { inDtype } from "../lower/value.ts";
import { count, refuse, replaceLoops, variableOf } from "./loop-moves.ts";

type Acc = Of<"acc">;
type Loop = Of<"loop">;

/** Keeps an accumulator, and what it takes in, in another dtype; its readers get its own. */
export function promote(body: readonly Stmt[], name: string, to: string): readonly Stmt[] {
  const dtype = to as Dtype;
  const reads = new Set<Expr>();
  const kept = (e: Expr): Expr => {
    if (e.kind === "ref" && e.name === name && e.dtype !== dtype) {
      const read = inDtype(ref(name, dtype), e.dtype);
      reads.add(read);
      return read;
    }
    // A conversion of what is one already.
    const [arg] = e.kind === "call" && e.op === "convert" ? e.args : [];
    return arg && reads.has(arg) && arg.dtype === e.dtype ? arg : e;
  };
  const init = (e: Expr): Expr =>
    e.kind === "const" ? constant(dtype, e.value) : inDtype(e, dtype);
  return mapStmts(body, {
    expr: kept,
    stmt: (s) => {
      if (!("name" in s) || s.name !== name) return s;
      if (s.kind === "acc") return { ...s, dtype, init: init(s.init), widened: true };
      if (s.kind === "fma") return refuse(`${name} takes in products`);
      // The dtype of an argMax is that of positions.
      if (s.kind === "accumulate" && s.position !== undefined)
        return refuse(`${name} is a position`);
      return s.kind === "accumulate" || s.kind === "set"
        ? { ...s, value: inDtype(s.value, dtype) }
        : s;
    },
  });
}

/** Where a statement, or one in it, has to do with an accumulator. */
function mentions(s: Stmt, name: string): boolean {
  let found = false;
  walkStmts([s], {
    stmt: (t) => {
      found ||= changedNames(t).includes(name);
    },
    expr: (e) => {
      found ||= e.kind === "ref" && e.name === name;
    },
  });
  return found;
}

const changes = (s: Stmt, name: string): boolean =>
  changedNames(s).includes(name) || bodyOf(s).some((t) => changes(t, name));

/** An accumulator of which each iteration of a loop has its own, in an array. */
interface Expanded {
  readonly acc: Acc;
  readonly array: string;
  /** A load of its own for each use: what memory holds changes between them. */
  element(): Expr;
  store(value: Expr): Stmt;
}

/**
 * Runs a loop inside the loops that stand in it: each of its iterations then has an element of an
 * array, of at least `size`, in the place of an accumulator. What comes before and after those
 * loops is run for all iterations before and after. For loops of which each iteration is
 * independent.
 */
export function expand(body: readonly Stmt[], name: string, size: string): readonly Stmt[] {
  const arrays: Stmt[] = [];
  const out = replaceLoops(body, name, (l) => {
    if (l.loop !== "parallel") refuse(`${name} is ${l.loop}, not parallel`);
    if (maxOfDim(l.extent) > count(size)) refuse(`${name} has more than ${size} iterations`);
    const first = l.body.findIndex((s) => s.kind !== "acc");
    const last = l.body.findLastIndex((s) => s.kind === "loop");
    const accs = (l.body.slice(0, first) as Acc[]).map((a) => expanded(a, l));
    const after = l.body.slice(last + 1);
    if (last < 0 || accs.some(({ acc }) => after.some((s) => changes(s, acc.name))))
      refuse(`${name} has no loop in it, or sums behind it`);
    for (const { array, acc } of accs) arrays.push(declared(array, acc.dtype, count(size)));
    const each = (part: readonly Stmt[]): Stmt[] =>
      part.length === 0 ? [] : [{ ...l, body: part }];
    return [
      ...each(accs.map((a) => a.store(a.acc.init))),
      ...l.body.slice(first, last + 1).map((s) => around(s, l, (step) => each(kept(step, accs)))),
      ...each(readBack(after, accs)),
    ];
  });
  return [...arrays, ...out];
}

const declared = (name: string, dtype: Dtype, size: number): Stmt => ({
  kind: "array",
  name,
  dtype,
  size,
  space: "private",
});

function expanded(acc: Acc, l: Loop): Expanded {
  const [array, index] = [`${acc.name}s`, variableOf(l)];
  eachStmt(l.body, (s) => {
    if (s.kind === "accumulate" && s.name === acc.name && s.position !== undefined)
      refuse(`${acc.name} is a position, whose extreme has no array`);
  });
  const store = (value: Expr): Stmt => ({ kind: "store", to: array, index, value });
  return { acc, array, element: () => load(array, acc.dtype, index), store };
}

/** The loops of a nest with what `inner` makes of their statements. */
function around(s: Stmt, outer: Loop, inner: (step: readonly Stmt[]) => Stmt[]): Stmt {
  if (s.kind !== "loop") return refuse(`a ${s.kind} stands between the loops`);
  if (symbolsIn(s.extent).has(outer.name)) refuse(`${plainName(s.name)} differs in length`);
  const [only, more] = s.body;
  const nested = only?.kind === "loop" && !more;
  return { ...s, body: nested ? [around(only, outer, inner)] : inner(s.body) };
}

/** Statements in which the accumulators are as before, and brought back to their arrays. */
function kept(step: readonly Stmt[], accs: readonly Expanded[]): Stmt[] {
  const own = accs.map((a) => ({
    ...a,
    from: step.findIndex((s) => mentions(s, a.acc.name)),
    to: step.findLastIndex((s) => mentions(s, a.acc.name)),
    changed: step.some((s) => changes(s, a.acc.name)),
  }));
  return step.flatMap((s, i) => [
    ...own.filter((a) => a.from === i).map((a): Stmt => ({ ...a.acc, init: a.element() })),
    s,
    ...own.filter((a) => a.changed && a.to === i).map((a) => a.store(ref(a.acc.name, a.acc.dtype))),
  ]);
}

/** Statements that read elements of the arrays instead of accumulators. */
const readBack = (body: readonly Stmt[], accs: readonly Expanded[]): Stmt[] =>
  mapStmts(body, {
    expr: (e) => (e.kind === "ref" && accs.find((a) => a.acc.name === e.name)?.element()) || e,
  });
