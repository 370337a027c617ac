/**
 * Kernels that update memory in place without what they do not change: stores of what an element
 * holds already, and loops over elements that stay.
 *
 *   loop i < 4096 { store x[i] = select(test(i-3 >= 0 and -i+6 >= 0), y[i], x[i]) }
 *   → loop i < 4 { store x[i+3] = y[i+3] }
 */
import {
  addDim,
  type Condition,
  type Dim,
  isNonNegative,
  loopVar,
  maxDim,
  minDim,
  negDim,
  ofAtom,
  sameDim,
  subDim,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";
import { constant } from "../kernel/expr.ts";
import type { Expr, LoopKind, Of, Stmt } from "../kernel/kernel.ts";
import { mapStmts } from "../kernel/map.ts";
import { walkExpr } from "../kernel/walk.ts";

/** A kernel's statements without what leaves memory as it is; all where nothing else is done. */
export function onlyChanges(body: readonly Stmt[], dims: readonly string[]): readonly Stmt[] {
  const left = changesOf(body, { values: new Map(), dims, inLoop: false });
  // A step of the plan has a kernel, and a kernel does something: one that is all copies stays.
  return left.every(onlyBinds) ? body : left;
}

interface Names {
  /** What names stand for. */
  readonly values: ReadonlyMap<string, Expr>;
  /** The kernel's symbols. */
  readonly dims: readonly string[];
  /** Whether a loop stands around. */
  readonly inLoop: boolean;
}

/** The same array where nothing is left out. */
function changesOf(body: readonly Stmt[], outer: Names): readonly Stmt[] {
  const values = new Map(outer.values);
  const names: Names = { ...outer, values };
  const inner: Names = { ...names, inLoop: true };
  const together = tiedStores(body);
  const kept = body.flatMap((s): readonly Stmt[] => {
    if (s.kind === "let") values.set(s.name, s.value);
    if (s.kind === "store") return together.has(s) ? [s] : storeOf(s, values);
    if (s.kind !== "loop" && s.kind !== "if") return [s];
    const block = s.kind === "loop" ? s.body : s.then;
    const left = changesOf(block, s.kind === "loop" ? inner : names);
    if (left === block) return [s];
    if (left.every(onlyBinds)) return [];
    return s.kind === "loop" ? loopOf(s, left, names) : [{ ...s, then: left }];
  });
  return kept.length === body.length && kept.every((s, i) => s === body[i]) ? body : kept;
}

/**
 * Stores of runs in which one overwrites what the value of a later one reads. Values are taken
 * before all stores of a run, so that a condition around one must not part it.
 */
function tiedStores(body: readonly Stmt[]): Set<Stmt> {
  const tied = new Set<Stmt>();
  let run: Of<"store">[] = [];
  const end = (): void => {
    const written = new Set<string>();
    let isTied = false;
    for (const { to, value } of run) {
      const expr = (e: Expr): void => {
        if (e.kind === "load" && written.has(e.from)) isTied = true;
      };
      walkExpr(value, { expr });
      written.add(to);
    }
    if (isTied) for (const s of run) tied.add(s);
    run = [];
  };
  for (const s of body)
    if (s.kind === "store") run.push(s);
    else end();
  end();
  return tied;
}

const onlyBinds = ({ kind }: Stmt): boolean =>
  kind === "let" || kind === "letIndex" || kind === "comment";

/** A store where it changes something: never, under conditions on indices alone, or as it is. */
function storeOf(s: Of<"store">, values: Names["values"]): readonly Stmt[] {
  const isSelf = (e: Expr): boolean =>
    e.kind === "load" && e.from === s.to && e.guard.length === 0 && sameDim(e.index, s.index);
  if (isSelf(s.value)) return [];
  if (s.value.kind !== "call" || s.value.op !== "select") return [s];
  const [test, value, other] = s.value.args as [Expr, Expr, Expr];
  const when = isSelf(other) ? conditionsOf(test, values) : undefined;
  return when ? [{ kind: "if", when, then: [{ ...s, value }] }] : [s];
}

/** The conditions on indices that a truth value stands for. */
function conditionsOf(e: Expr, values: Names["values"]): readonly Condition[] | undefined {
  if (e.kind === "test") return e.conditions;
  if (e.kind === "ref") {
    const value = values.get(e.name);
    return value && conditionsOf(value, values);
  }
  if (e.kind !== "call" || e.op !== "select") return undefined;
  const [test, yes, no] = e.args as [Expr, Expr, Expr];
  const isPlain = yes.kind === "const" && yes.value === 1 && no.kind === "const" && no.value === 0;
  return isPlain ? conditionsOf(test, values) : undefined;
}

/** Loops whose iterations are numbered from 0 by a target's own ways, and may be fewer. */
const narrowed: readonly LoopKind[] = ["serial", "parallel", "simd"];
/** Loops whose iterations are lanes: a condition inside is the same for all of them. */
const lanes: readonly LoopKind[] = ["simd", "vector"];

/**
 * A loop of which only what changes is left. Conditions on its own variable shorten it, those that
 * say nothing of it are asked before it, and the rest within.
 */
function loopOf(s: Of<"loop">, body: readonly Stmt[], { dims, inLoop }: Names): readonly Stmt[] {
  const whole = [{ ...s, body }];
  const last = body.at(-1)!;
  if (last.kind !== "if" || !body.slice(0, -1).every(onlyBinds))
    return body.some(hasIf) && lanes.includes(s.loop) ? [s] : whole;
  const bound = new Set([s.name]);
  for (const b of body) if (b.kind === "letIndex") bound.add(b.name);
  const isOuter = (c: Condition): boolean =>
    [...symbolsIn(c.value).keys()].every((n) => !bound.has(n));
  // Threads and workgroups share the outermost loop of a kernel, which stays that.
  const mayMove = s.loop !== "workgroup" && s.loop !== "local" && (s.loop !== "parallel" || inLoop);
  const before = mayMove ? last.when.filter(isOuter) : [];
  let [start, end, rest]: [Dim, Dim, Condition[]] = [0, s.extent, []];
  for (const c of last.when) {
    if (before.includes(c)) continue;
    const limit = limitOf(c, s, dims);
    if (limit?.start !== undefined) start = maxDim(start, limit.start);
    else if (limit?.end !== undefined) end = minDim(end, limit.end);
    else rest = [...rest, c];
  }
  if (rest.length > 0 && lanes.includes(s.loop)) return [s];
  const then: readonly Stmt[] = rest.length > 0 ? [{ ...last, when: rest }] : last.then;
  const inner = [...body.slice(0, -1), ...then];
  const loop = shortened(s, inner, start, end);
  return before.length > 0 ? [{ kind: "if", when: before, then: [loop] }] : [loop];
}

const hasIf = (s: Stmt): boolean => s.kind === "if";

/** Where a loop starts or ends by a condition on its variable and on the kernel's symbols. */
function limitOf(
  { value, test }: Condition,
  s: Of<"loop">,
  dims: readonly string[],
): { start?: Dim; end?: Dim } | undefined {
  const variable = symbolIn(value, s.name);
  if (!variable || test === "zero" || !narrowed.includes(s.loop)) return undefined;
  if (s.start !== undefined || s.step !== undefined) return undefined;
  const rest = substitute(value, new Map([[s.name, 0]]));
  if (![...symbolsIn(rest).keys()].every((n) => dims.includes(n))) return undefined;
  const own = subDim(value, rest);
  // i + rest ≥ 0, and −i + rest ≥ 0.
  if (sameDim(own, variable)) return { start: negDim(rest) };
  return sameDim(own, negDim(variable)) ? { end: addDim(rest, 1) } : undefined;
}

function symbolIn(d: Dim, name: string): Dim | undefined {
  const found = symbolsIn(d).get(name);
  return found && ofAtom(found);
}

/** The loop from `start` to before `end`, counted from 0. */
function shortened(s: Of<"loop">, body: readonly Stmt[], start: Dim, end: Dim): Stmt {
  if (sameDim(start, 0) && sameDim(end, s.extent)) return { ...s, body };
  const extent = maxDim(0, subDim(end, start));
  const from = addDim(loopVar(s.name, extent), start);
  const by = new Map([[s.name, from]]);
  return { ...s, extent, body: mapStmts(body, { dim: (d) => substitute(d, by), expr: settled }) };
}

const isLeft = (c: Condition): boolean =>
  !(c.test === "zero" ? sameDim(c.value, 0) : isNonNegative(c.value));

/** An expression without conditions that always hold. */
function settled(e: Expr): Expr {
  if (e.kind === "load" && e.guard.length > 0) return { ...e, guard: e.guard.filter(isLeft) };
  if (e.kind === "test") {
    const conditions = e.conditions.filter(isLeft);
    return conditions.length > 0 ? { ...e, conditions } : constant("bool", 1);
  }
  if (e.kind !== "call" || e.op !== "select") return e;
  const [test, yes] = e.args as [Expr, Expr];
  return test.kind === "const" && test.value === 1 ? yes : e;
}
