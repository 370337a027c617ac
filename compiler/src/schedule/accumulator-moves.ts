/**
 * Moves of accumulators: kept in another dtype, or one an iteration of the loop around them, in an
 * array.
 */
import { type Dtype, isFloat, maxOfDim, symbolsIn } from "@kiln-ml/ir";
import { call, constant, load, ref } from "../kernel/expr.ts";
import type { Expr, Of, Stmt } from "../kernel/kernel.ts";
import { mapBlock, mapStmts } from "../kernel/map.ts";
import { indexName, plainName } from "../kernel/names.ts";
import { bindingOf, bodyOf, changedNames } from "../kernel/parts.ts";
import { eachStmt, walkStmts } from "../kernel/walk.ts";
import { inDtype } from "../lower/value.ts";
import { addToTotal, declareRest } from "./compensate.ts";
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

/** Whether a statement, or one in it, has to do with a name. */
export function mentions(s: Stmt, name: string): boolean {
  let found = false;
  walkStmts([s], {
    stmt: (t) => {
      found ||= changedNames(t).includes(name);
    },
    expr: (e) => {
      found ||= e.kind === "ref" && e.name === name;
    },
    dim: (d) => {
      found ||= symbolsIn(d).has(name);
    },
    memory: (array) => {
      found ||= array === name;
    },
  });
  return found;
}

export const changes = (s: Stmt, name: string): boolean =>
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
 * array, of at least `size`, in the place of an accumulator. What stands between those loops is run
 * for all iterations. For loops of which each iteration is independent.
 */
export function expand(body: readonly Stmt[], name: string, size: string): readonly Stmt[] {
  const arrays: Stmt[] = [];
  const out = replaceLoops(body, name, (l) => {
    if (l.loop !== "parallel") refuse(`${name} is ${l.loop}, not parallel`);
    if (maxOfDim(l.extent) > count(size)) refuse(`${name} has more than ${size} iterations`);
    if (!l.body.some(isRun)) refuse(`${name} has no loop in it`);
    return distributed(l, l.body, [], (name, dtype) => {
      if (arrays.some((a) => "name" in a && a.name === name)) refuse(`there is a ${name} already`);
      arrays.push({ kind: "array", name, dtype, size: count(size), space: "private" });
    });
  });
  return [...arrays, ...out];
}

/** Loops that others are put inside of; unrolled ones and those in lanes stay whole. */
const isRun = (s: Stmt): s is Loop =>
  s.kind === "loop" && s.loop !== "unrolled" && s.loop !== "vector";

/** Statements inside of `l`, with `l` around each of those that have no loop in them. */
function distributed(
  l: Loop,
  body: readonly Stmt[],
  outer: readonly Expanded[],
  declare: (array: string, dtype: Dtype) => void,
): Stmt[] {
  if (!body.some(isRun)) return [{ ...l, body: kept(body, outer) }];
  const accs = [...outer];
  const out: Stmt[] = [];
  let run: Stmt[] = [];
  const close = (rest: readonly Stmt[]): void => {
    for (const s of run) {
      const bound = bindingOf(s)?.name;
      if (s.kind !== "acc" && bound !== undefined && rest.some((t) => mentions(t, bound)))
        refuse(`${plainName(bound)} is used in several loops`);
    }
    if (run.length > 0) out.push({ ...l, body: kept(run, accs) });
    run = [];
  };
  for (const [i, s] of body.entries()) {
    if (s.kind === "acc") {
      const acc = expanded(s, l, body);
      declare(acc.array, s.dtype);
      accs.push(acc);
      run.push(acc.store(s.init));
    } else if (isRun(s)) {
      if (symbolsIn(s.extent).has(l.name)) refuse(`${plainName(s.name)} differs in length`);
      close(body.slice(i));
      out.push({ ...s, body: distributed(l, s.body, accs, declare) });
    } else run.push(s);
  }
  close([]);
  return out;
}

function expanded(acc: Acc, l: Loop, scope: readonly Stmt[]): Expanded {
  const [array, index] = [`${acc.name}s`, variableOf(l)];
  eachStmt(scope, (s) => {
    if (s.kind === "accumulate" && s.name === acc.name && s.position !== undefined)
      refuse(`${acc.name} is a position, whose extreme has no array`);
    if (s.kind === "fma" && s.name === acc.name && isFloat(acc.dtype))
      refuse(`${acc.name} takes in products, which an array rounds`);
  });
  const store = (value: Expr): Stmt => ({ kind: "store", to: array, index, value });
  return { acc, array, element: () => load(array, acc.dtype, index), store };
}

/**
 * Statements without loops around them: accumulators that they change are as before in between,
 * those that they only read are elements.
 */
function kept(step: readonly Stmt[], accs: readonly Expanded[]): Stmt[] {
  const changed = accs.filter((a) => step.some((s) => changes(s, a.acc.name)));
  const read = accs.filter((a) => !changed.includes(a));
  const now = mapStmts(step, {
    expr: (e) => (e.kind === "ref" && read.find((a) => a.acc.name === e.name)?.element()) || e,
  });
  const at = changed.map(({ acc: { name } }) => ({
    first: now.findIndex((s) => mentions(s, name)),
    last: now.findLastIndex((s) => mentions(s, name)),
  }));
  return now.flatMap((s, i) => [
    ...changed
      .filter((_, k) => at[k]!.first === i)
      .map((a): Stmt => ({ ...a.acc, init: a.element() })),
    s,
    ...changed
      .filter((_, k) => at[k]!.last === i)
      .map((a) => a.store(ref(a.acc.name, a.acc.dtype))),
  ]);
}

/**
 * Sums start anew in each iteration of a loop, and are then added to a total with compensation;
 * what reads one on the way gets the total so far and that.
 */
export function splitSum(
  body: readonly Stmt[],
  loop: string,
  ...names: readonly string[]
): readonly Stmt[] {
  let found = false;
  const inside = (stmts: readonly Stmt[]): readonly Stmt[] => {
    const at = stmts.findIndex((s) => s.kind === "loop" && s.name === indexName(loop));
    if (at < 0) return stmts.map((s) => mapBlock(s, inside));
    found = true;
    return sumsInParts(stmts.slice(0, at), stmts[at] as Loop, stmts.slice(at + 1), names);
  };
  const out = inside(body);
  return found ? out : refuse(`there is no loop ${loop}`);
}

const totalOf = (name: string): string => `${name}Before`;

function sumsInParts(
  before: readonly Stmt[],
  l: Loop,
  after: readonly Stmt[],
  names: readonly string[],
): Stmt[] {
  if (l.loop !== "serial") refuse(`${plainName(l.name)} is ${l.loop}, not serial`);
  const accs = before.filter((s): s is Acc => s.kind === "acc" && names.includes(s.name));
  if (accs.length < names.length) refuse(`${names.join(" ")} do not stand beside the loop`);
  for (const { name, dtype } of accs) {
    if (dtype !== "f32") refuse(`${name} is ${dtype}, not f32`);
    const others = [...before, ...after].some((s) => changes(s, name));
    if (others || !isSumIn(l, name)) refuse(`${name} is no sum of the loop alone`);
  }
  const total = (e: Expr): Expr | undefined =>
    e.kind === "ref" && names.includes(e.name) ? ref(totalOf(e.name), e.dtype) : undefined;
  const sofar = (e: Expr): Expr => {
    const sum = total(e);
    return sum ? call("add", e.dtype, sum, e) : e;
  };
  const parts = accs.flatMap((a) => addToTotal(totalOf(a.name), ref(a.name, a.dtype)));
  const read = (stmts: readonly Stmt[]): Stmt[] => mapStmts(stmts, { expr: (e) => total(e) ?? e });
  const anew = accs.map((a): Stmt => ({ ...a, init: constant(a.dtype, 0) }));
  return [
    ...read(before).flatMap((s): Stmt[] => {
      if (s.kind !== "acc" || !names.includes(s.name)) return [s];
      return [{ ...s, name: totalOf(s.name) }, declareRest(totalOf(s.name))];
    }),
    { ...l, body: [...anew, ...mapStmts(l.body, { expr: sofar }), ...parts] },
    ...read(after),
  ];
}

/** Whether a loop does nothing to an accumulator but to add to it. */
function isSumIn(l: Loop, name: string): boolean {
  let sum = true;
  eachStmt(l.body, (s) => {
    if (changedNames(s).includes(name)) sum &&= s.kind === "accumulate" && s.reducer === "sum";
    if (s.kind === "acc" && s.name === name) sum = false;
  });
  return sum;
}
