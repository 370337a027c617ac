/**
 * The move that keeps what several phases of a row need: values that are costly to compute, and
 * elements that were loaded where memory is slower than an array. The first phase that computes one
 * stores it, later ones load it.
 */
import {
  addDim,
  type Dim,
  isFloat,
  keyOfDim,
  mulDim,
  ofAtom,
  offsetOf,
  opRecord,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";
import { load } from "../kernel/expr.ts";
import type { Expr, Of, Stmt } from "../kernel/kernel.ts";
import { mapBlock, mapStmts } from "../kernel/map.ts";
import { indexName } from "../kernel/names.ts";
import { exprsOf } from "../kernel/parts.ts";
import { accessesIn, walkExpr } from "../kernel/walk.ts";
import { totalOf } from "../lower/loops.ts";
import { changes, mentions } from "./accumulator-moves.ts";
import { loopLike, nestOf, refuse, variableOf } from "./loop-moves.ts";

type Loop = Of<"loop">;

/** A phase: its loops, and the statements that one iteration of them all runs. */
interface Phase {
  readonly first: Loop;
  readonly line: readonly Stmt[];
  /** The lanes of a vector; the loop variables whose elements differ. */
  readonly lane: Loop | undefined;
  readonly along: ReadonlySet<string>;
  /** Iterations, and the number of one. */
  readonly total: Dim;
  readonly at: Dim;
}

/**
 * `keep r`, of loops that stand directly in one another `keep r s`; with `loads`, elements that
 * were loaded too; with `double`, floats in more precision where the target does so.
 */
export function keep(body: readonly Stmt[], ...words: readonly string[]): readonly Stmt[] {
  const names = words.filter((w) => w !== "loads" && w !== "double");
  const [outermost = refuse("there are no loops")] = names;
  let found = false;
  const inside = (stmts: readonly Stmt[]): readonly Stmt[] => {
    const phases = stmts.filter(
      (s): s is Loop => s.kind === "loop" && s.name === indexName(outermost),
    );
    found ||= phases.length > 0;
    if (phases.length < 2) return stmts.map((s) => mapBlock(s, inside));
    const row: Row = { names, double: words.includes("double"), count: 0 };
    const costly = keptIn(stmts, row, (e) => e.kind === "call" && opRecord(e.op).costly === true);
    return words.includes("loads") ? keptIn(costly, row, isOwnLoad) : costly;
  };
  const out = inside(body);
  return found ? out : refuse(`there is no loop ${outermost}`);
}

function phaseOf(first: Loop, names: readonly string[]): Phase {
  if (first.loop !== "simd" && first.loop !== "parallel") refuse(`${names[0]} is ${first.loop}`);
  const loops = nestOf(first, names);
  for (const l of loops) variableOf(l);
  const outer = loops.map(loopLike);
  const along = new Set(loops.map((l) => l.name));
  let line = loops.at(-1)!.body;
  let lane: Loop | undefined;
  for (
    let last = line.at(-1);
    last?.kind === "loop" && last.loop === "vector";
    last = line.at(-1)
  ) {
    for (const s of line.slice(0, -1)) {
      if (s.kind !== "letIndex") return refuse(`a ${s.kind} stands beside the lanes`);
      along.add(s.name);
    }
    [lane, line] = [last, last.body];
    along.add(last.name);
  }
  if (lane === undefined) for (const s of line) if (s.kind === "letIndex") along.add(s.name);
  const at = offsetOf(
    outer.map((l) => l.extent),
    outer.map((l) => l.at),
  );
  return { first, line, lane, along, total: totalOf(outer), at };
}

/** Keys of expressions: alike where they are computed alike, whichever phase they stand in. */
class Keys {
  readonly #known = new Map<Expr, string>();
  readonly #numbers = new Map<string, string>();
  /** Names that a phase binds, by what they stand for. */
  readonly #names = new Map<string, string>();
  readonly #fixed = new Map<string, string>();

  bind(name: string, value: Expr): void {
    this.#names.set(name, this.of(value));
  }

  /** An index must stand for the same in each phase. */
  fix(name: string, value: Dim): void {
    const key = keyOfDim(value);
    if ((this.#fixed.get(name) ?? key) !== key) refuse(`${name} stands for several values`);
    this.#fixed.set(name, key);
  }

  isBound(name: string): boolean {
    return this.#names.has(name);
  }

  of(e: Expr): string {
    const known = this.#known.get(e);
    if (known !== undefined) return known;
    const text = this.#textOf(e);
    const key = this.#numbers.get(text) ?? `#${this.#numbers.size}`;
    this.#numbers.set(text, key);
    this.#known.set(e, key);
    return key;
  }

  #dim(d: Dim): string {
    const by = new Map<string, Dim>();
    for (const [name, symbol] of symbolsIn(d)) {
      const to = this.#names.get(name);
      if (to !== undefined) by.set(name, ofAtom({ ...symbol, name: to, key: to }));
    }
    return keyOfDim(by.size === 0 ? d : substitute(d, by));
  }

  #textOf(e: Expr): string {
    const when = (list: Of<"if">["when"]) => list.map((c) => c.test + this.#dim(c.value)).join("&");
    switch (e.kind) {
      case "const":
        return `${e.dtype} ${Object.is(e.value, -0) ? "-0" : e.value}`;
      case "ref":
        return `${e.dtype} ${this.#names.get(e.name) ?? e.name}`;
      case "index":
        return this.#dim(e.value);
      case "test":
        return when(e.conditions);
      case "load":
        return `${e.dtype} ${e.from}[${this.#dim(e.index)}]${when(e.guard)}`;
      case "call":
        return [e.op, e.dtype, e.nonPositive, e.stored, ...e.args.map((a) => this.of(a))].join();
    }
  }
}

/** Visits what a line computes in any case, parts first, each value once. */
function eachValue(line: readonly Stmt[], keys: Keys, visit: (e: Expr, key: string) => void): void {
  const seen = new Set<Expr>();
  const value = (e: Expr): void => {
    if (seen.has(e)) return;
    seen.add(e);
    if (e.kind === "call" && !(e.op === "select" && e.args[0]!.kind === "test"))
      for (const a of e.args) value(a);
    visit(e, keys.of(e));
  };
  for (const s of line) {
    if (s.kind === "letIndex") keys.fix(s.name, s.value);
    for (const e of exprsOf(s)) value(e);
    if (s.kind === "let" || s.kind === "letDynamic") keys.bind(s.name, s.value);
  }
}

/** A row whose phases have loops of these names, and how many arrays it has got. */
interface Row {
  readonly names: readonly string[];
  readonly double: boolean;
  count: number;
}

type Which = (e: Expr, p: Phase, keys: Keys) => boolean;

/** Whether it is a load that may not fail, of an element that differs between iterations. */
const isOwnLoad: Which = (e, { along }, keys) => {
  if (e.kind !== "load" || e.guard.length > 0 || e.from.startsWith(stem)) return false;
  const names = [...symbolsIn(e.index).keys()];
  return names.some((n) => along.has(n)) && !names.some((n) => keys.isBound(n));
};

/** Of the arrays' names. */
const stem = "kept";

/** A value that several phases compute: where the first does, and where later ones do. */
interface Repeated {
  readonly phase: Phase;
  readonly value: Expr;
  readonly later: Set<Expr>;
}

/** Keeps the values in question that several phases compute. */
function keptIn(stmts: readonly Stmt[], row: Row, which: Which): readonly Stmt[] {
  const phases = stmts.flatMap((s) => (isPhase(s, row) ? [phaseOf(s, row.names)] : []));
  for (const { total } of phases)
    if (keyOfDim(total) !== keyOfDim(phases[0]!.total)) refuse(`${row.names[0]} differs in length`);
  const keys = new Keys();
  const found = new Map<string, Repeated>();
  const between = (a: Phase, b: Phase): readonly Stmt[] =>
    a === b ? [] : stmts.slice(stmts.indexOf(a.first), stmts.indexOf(b.first) + 1);
  for (const phase of phases)
    eachValue(phase.line, keys, (value, key) => {
      if (!which(value, phase, keys)) return;
      const known = found.get(key);
      if (!known) found.set(key, { phase, value, later: new Set() });
      else if (known.value !== value && isSame(value, between(known.phase, phase)))
        known.later.add(value);
    });
  const by = new Map<Expr, Expr>();
  const stores = new Map<Stmt, Stmt[]>();
  const arrays = new Map<Stmt, Stmt[]>();
  for (const { phase, value, later } of found.values()) {
    if (later.size === 0) continue;
    const { array, index } = arrayFor(value, phase, row);
    const element = load(array.name, value.dtype, index);
    for (const e of later) by.set(e, element);
    const store: Stmt = { kind: "store", to: array.name, index, value };
    stores.set(phase.first, [...(stores.get(phase.first) ?? []), store]);
    arrays.set(phase.first, [...(arrays.get(phase.first) ?? []), array]);
  }
  if (by.size === 0) return stmts;
  const stored = stmts.flatMap((s) => [
    ...(arrays.get(s) ?? []),
    append(s, stores.get(s) ?? [], row),
  ]);
  const made = mapStmts(stored, { replace: (e) => by.get(e) });
  return made.map((s) => (isPhase(s, row) ? withoutUnused(s) : s));
}

const isPhase = (s: Stmt, { names }: Row): s is Loop =>
  s.kind === "loop" && s.name === indexName(names[0]!);

/** Whether a value is computed from what no statement in between changes. */
function isSame(value: Expr, between: readonly Stmt[]): boolean {
  let same = between.length > 0;
  walkExpr(value, {
    expr: (e) => {
      if (e.kind === "ref") same &&= !between.some((s) => changes(s, e.name));
    },
    memory: (name) => {
      same &&= (accessesIn(between).get(name) ?? "read") === "read";
    },
  });
  return same;
}

/** An array with an element for each iteration, or a vector for each four. */
function arrayFor(value: Expr, { lane, total, at }: Phase, row: Row) {
  const width = lane ? (lane.extent as 4) : 1;
  const array: Of<"array"> = {
    kind: "array",
    name: `${stem}${row.count++}`,
    dtype: value.dtype,
    size: mulDim(total, width),
    space: "private",
    ...(lane ? { width: 4 } : {}),
    ...(row.double && isFloat(value.dtype) ? { widened: true as const } : {}),
  };
  return { array, index: lane ? addDim(mulDim(at, width), loopLike(lane).at) : at };
}

/** A phase with more statements at the end of an iteration. */
function append(s: Stmt, more: readonly Stmt[], row: Row): Stmt {
  if (more.length === 0) return s;
  return mapBlock(s, (body) => {
    const last = body.at(-1);
    const deeper =
      last?.kind === "loop" &&
      (last.loop === "vector" || row.names.some((name) => last.name === indexName(name)));
    return deeper ? [...body.slice(0, -1), append(last, more, row)] : [...body, ...more];
  });
}

/** Drops what is bound and not used any more. */
export const withoutUnused = (s: Stmt): Stmt =>
  mapBlock(s, (body) =>
    body
      .filter((t, i) => {
        if (t.kind !== "let" && t.kind !== "letDynamic") return true;
        return body.slice(i + 1).some((later) => mentions(later, t.name));
      })
      .map(withoutUnused),
  );
