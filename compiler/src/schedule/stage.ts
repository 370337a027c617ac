/**
 * The move that stages an operand: before a loop, the window of a value that the loops in it ask
 * for is stored in an array, in the order in which they will read it. What a prologue computes, and
 * a guard checks, is then paid once an element and not once a use.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  floorDiv,
  isFloat,
  isStatic,
  maxOfDim,
  modDim,
  mulDim,
  sizeOf,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";
import { simplifyConditions } from "../access.ts";
import type { Loop as GroupLoop } from "../fuse/group.ts";
import { isBelow } from "../kernel/conditions.ts";
import { constant, load } from "../kernel/expr.ts";
import type { Expr, Of, Stmt } from "../kernel/kernel.ts";
import { mapBlock, mapStmts } from "../kernel/map.ts";
import { indexName, isIndex, plainName } from "../kernel/names.ts";
import { bindingOf, bodyOf } from "../kernel/parts.ts";
import { accessesIn, eachStmt, walkStmts } from "../kernel/walk.ts";
import { nest } from "../lower/loops.ts";
import { choose, mergeGuards } from "../lower/value.ts";
import { changes } from "./accumulator-moves.ts";
import { withoutUnused } from "./keep.ts";
import { counterOf, freshLoop, refuse, unfit } from "./loop-moves.ts";

type Loop = Of<"loop">;
type Let = Of<"let">;

/**
 * `stage b panel i j k s`: before the loop `i`, the array `panel` gets the values of `b` for all
 * iterations of `j`, `k` and `s` in it, those of `s` next to each other; with `double`, floats in
 * more precision where the target does so. The array has room for whole blocks: where `s` has fewer
 * iterations at an edge of the window, what lies beyond is zero.
 */
export function stage(body: readonly Stmt[], ...words: readonly string[]): readonly Stmt[] {
  const [value = "", array = "", before = "", ...layout] = words.filter((w) => w !== "double");
  if (layout.length === 0) refuse("a window has one loop or more");
  eachStmt(body, (s) => {
    if (bindingOf(s)?.name === array) refuse(`there is a ${array} already`);
  });
  let found = false;
  const inside = (stmts: readonly Stmt[], parallel: boolean): readonly Stmt[] =>
    stmts.flatMap((s): readonly Stmt[] => {
      if (s.kind !== "loop" || s.name !== indexName(before))
        return [
          mapBlock(s, (b) => inside(b, parallel || (s.kind === "loop" && s.loop === "parallel"))),
        ];
      if (found) refuse(`there are several loops ${before}`);
      // Each work item has private arrays of its own.
      if (s.loop === "parallel" && !parallel) refuse(`${before} is parallel`);
      found = true;
      return new Window(body, s, value, layout).staged(array, words.includes("double"));
    });
  const out = inside(body, false);
  return found ? out : refuse(`there is no loop ${before}`);
}

/** What stands around the value: a loop, and the statements before the next one in it. */
interface Level {
  readonly loop: Loop;
  readonly before: readonly Stmt[];
}

/** The loops around the `let` of a name and what they bind, the outermost first. */
function pathTo(l: Loop, name: string): { levels: Level[]; found: Let } | undefined {
  for (const [i, s] of l.body.entries()) {
    const level = { loop: l, before: l.body.slice(0, i) };
    if (s.kind === "let" && s.name === name) return { levels: [level], found: s };
    const deeper = s.kind === "loop" ? pathTo(s, name) : undefined;
    if (deeper) return { ...deeper, levels: [level, ...deeper.levels] };
  }
  return undefined;
}

/** A loop of the window. */
interface Axis {
  readonly name: string;
  readonly step: number;
  /** How often it runs, and at most. */
  readonly extent: Dim;
  readonly most: Dim;
  /** Its variable, and the loop of the copy, which counts by 1. */
  readonly at: Dim;
  readonly copy: GroupLoop;
  /** Where an iteration exists, if the copy has more of them. */
  readonly when: readonly Condition[];
}

class Window {
  readonly #scope: Loop;
  readonly #levels: readonly Level[];
  readonly #let: Let;
  readonly #axes: readonly Axis[];

  constructor(body: readonly Stmt[], scope: Loop, value: string, layout: readonly string[]) {
    const path = pathTo(scope, value);
    if (!path) refuse(`there is no ${value} in ${plainName(scope.name)}`);
    this.#scope = scope;
    this.#levels = path.levels;
    this.#let = path.found;
    this.#axes = layout.map((name) => this.#axisOf(body, name));
  }

  #axisOf(body: readonly Stmt[], wanted: string): Axis {
    const loop = this.#levels.find((l) => l.loop.name === indexName(wanted))?.loop;
    if (!loop) return refuse(`${wanted} is no loop around ${this.#let.name}`);
    if (loop.start !== undefined) refuse(`${wanted} does not count from 0`);
    const { name, step = 1 } = loop;
    const inner = new Set(this.#levels.flatMap((l) => [l.loop, ...l.before].map(nameOf)));
    const names = [...symbolsIn(loop.extent)];
    const shorter = names.some(([symbol]) => inner.has(symbol));
    const bound = names.some(([, symbol]) => symbol.extent !== undefined);
    const most = bound ? maxOfDim(loop.extent) : loop.extent;
    if (most === Infinity) refuse(`${wanted} has no most iterations`);
    const extent = ceilDiv(shorter ? most : loop.extent, step);
    const copy = freshLoop(body, unused(body, `${this.#let.name}${wanted}`), extent);
    const at = counterOf(loop);
    const limits = shorter ? limitsOf(loop.extent).map((e) => isBelow(at, e)) : [];
    const when = simplifyConditions(limits) ?? [];
    return { name, step, extent, most: ceilDiv(most, step), at, copy, when };
  }

  /** The array, the loops that fill it, and the loop with loads of it in the place of the value. */
  staged(name: string, double: boolean): Stmt[] {
    const { value } = this.#let;
    const size = sizeOf(this.#axes.map((x) => x.most));
    const array: Stmt = {
      kind: "array",
      name,
      dtype: value.dtype,
      size,
      space: "private",
      ...(double && isFloat(value.dtype) ? { widened: true as const } : {}),
    };
    const read: Let = { ...this.#let, value: load(name, value.dtype, this.#place()) };
    const scope = replaced(this.#scope, this.#let, read);
    return [array, ...this.#copy(name), mapBlock(scope, withoutUnused)];
  }

  /** The place of an element, by the loops' variables. */
  #place(): Dim {
    let [place, stride]: [Dim, Dim] = [0, 1];
    for (const { name, step, at, most } of [...this.#axes].reverse()) {
      // A loop that counts in steps has its panels that far apart.
      if (modDim(stride, step) !== 0) refuse(`panels of ${plainName(name)} are not of ${step}`);
      place = addDim(place, mulDim(at, floorDiv(stride, step)));
      stride = mulDim(stride, most);
    }
    return place;
  }

  /** Loops over the window that store its elements. */
  #copy(name: string): Stmt[] {
    const { value } = this.#let;
    const needed = namesOf([this.#let]);
    const written = accessesIn([this.#scope]);
    const by = new Map(this.#axes.map((x) => [x.name, mulDim(x.copy.at, x.step)] as const));
    const guard = this.#axes.flatMap((x) => x.when);
    const put: Stmt = { kind: "store", to: name, index: this.#place(), value: value };
    let copy: Stmt[] = [{ ...put, value: guarded(value, guard) }];
    for (const { loop, before } of [...this.#levels].reverse()) {
      for (const s of [...before].reverse()) {
        const bound = bindingOf(s)?.name;
        if (bound === undefined || !needed.has(bound)) continue;
        if (s.kind !== "let" && s.kind !== "letIndex" && s.kind !== "letDynamic")
          refuse(`${this.#let.name} depends on ${plainName(bound)}`);
        for (const n of namesOf([s])) needed.add(n);
        copy.unshift(...inGuard(guard, s));
      }
      const axis = this.#axes.find((x) => x.name === loop.name);
      if (axis) copy = nest([{ ...axis.copy, extent: axis.extent }], "serial", copy);
      else if (needed.has(loop.name))
        refuse(`${this.#let.name} depends on ${plainName(loop.name)}`);
    }
    for (const n of needed)
      if (changes(this.#scope, n)) refuse(`${this.#let.name} depends on ${plainName(n)}`);
    for (const memory of accessesIn(copy).keys())
      if (memory !== name && written.has(memory) && written.get(memory) !== "read")
        unfit(`${plainName(memory)} is written there`);
    return mapStmts(copy, { dim: (d) => substitute(d, by) });
  }
}

const nameOf = (s: Stmt): string => bindingOf(s)?.name ?? "";

/** The name wanted for a loop, longer where an index is called so. */
function unused(body: readonly Stmt[], wanted: string): string {
  let isUsed = false;
  eachStmt(body, (s) => {
    isUsed ||= bindingOf(s)?.name === indexName(wanted);
  });
  return isUsed ? unused(body, `${wanted}Copy`) : wanted;
}

/** The extents of which one is the least. */
function limitsOf(d: Dim): Dim[] {
  const [term, more] = isStatic(d) ? [] : d.terms;
  const [atom, other] = term?.atoms ?? [];
  if (more || other || term?.coeff !== 1 || atom?.kind !== "min") return [d];
  return [...limitsOf(atom.lhs), ...limitsOf(atom.rhs)];
}

/** Values and index variables that some statements mention; a program's dims are neither. */
function namesOf(stmts: readonly Stmt[]): Set<string> {
  const names = new Set<string>();
  walkStmts(stmts, {
    dim: (d) => {
      for (const name of symbolsIn(d).keys()) if (isIndex(name)) names.add(name);
    },
    expr: (e) => {
      if (e.kind === "ref") names.add(e.name);
    },
  });
  return names;
}

/** A statement whose loads happen only under some conditions. */
const inGuard = (guard: readonly Condition[], s: Stmt): Stmt[] =>
  mapStmts([s], {
    expr: (e) => (e.kind === "load" ? { ...e, guard: mergeGuards(guard, e.guard) } : e),
  });

/** A value, and zero where a condition fails. */
function guarded(value: Expr, guard: readonly Condition[]): Expr {
  const [{ value: inside }] = inGuard(guard, { kind: "let", name: "", value }) as [Let];
  const zero = constant(value.dtype, 0);
  const [test, yes, no] = inside.kind === "call" && inside.op === "select" ? inside.args : [];
  const isZero = no?.kind === "const" && Object.is(no.value, 0);
  return test?.kind === "test" && isZero
    ? choose([...guard, ...test.conditions], yes!, zero)
    : choose(guard, inside, zero);
}

/** A statement with one in it exchanged. */
const replaced = (s: Stmt, old: Stmt, by: Stmt): Stmt =>
  s === old
    ? by
    : bodyOf(s).length === 0
      ? s
      : mapBlock(s, (b) => b.map((t) => replaced(t, old, by)));
