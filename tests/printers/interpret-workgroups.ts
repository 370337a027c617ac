/**
 * Runs kernel IR of a GPU: the invocations of a workgroup each run a statement before any runs the next, which is one of
 * the orders that a device may take. Told so, it notes who touches what: a race is an order that comes to other values.
 */
import { evaluateDim } from "@kiln-ml/ir";
import type { Kernel, Of, Stmt } from "../../compiler/src/kernel/kernel.ts";
import { bodyOf, partsOf } from "../../compiler/src/kernel/parts.ts";
import { bound, holds, runAll, runOne, type State, stateOf } from "./interpret.ts";
import type { Races } from "./workgroup-races.ts";

type Values = Readonly<Record<string, number>>;

export function interpretWorkgroups(
  kernel: Kernel,
  arrays: readonly number[][],
  index: Values,
  races?: Races,
): void {
  const outside = stateOf(kernel, arrays, index);
  const grid = (body: readonly Stmt[], s: State): void => {
    const inner = body.some((t) => t.kind === "loop" && t.loop === "workgroup");
    if (!inner) workgroup(body, s, kernel.workgroupSize, races);
    else
      for (const stmt of body)
        if (stmt.kind === "loop" && stmt.loop === "workgroup")
          for (let i = 0; i < evaluateDim(stmt.extent, s.index); i++)
            grid(stmt.body, bound(s, stmt.name, i));
        else throw new Error(`${stmt.kind} in a grid`);
  };
  grid(kernel.body, outside);
}

/** Each invocation has accumulators and arrays of its own, and memory that all see. */
function workgroup(body: readonly Stmt[], s: State, size: number, races?: Races): void {
  races?.begin();
  const invocations = Array.from({ length: size }, (_, lid): State => {
    const arrays = new Map(s.arrays);
    const touched: State["touched"] = races
      ? (name, at, how) => races.touch(lid, name, arrays.get(name)!, at, how)
      : s.touched;
    return { ...s, values: new Map(), arrays, touched };
  });
  together(body, invocations, races);
}

function together(body: readonly Stmt[], invocations: readonly State[], races?: Races): void {
  let now = [...invocations];
  for (const stmt of body) {
    if (partsOf(stmt).meets) races?.meet();
    if (stmt.kind === "combine") combine(stmt, now);
    else if (stmt.kind === "prefix") prefix(stmt, now);
    else if (stmt.kind === "letInvocation") now = now.map((s, lid) => bound(s, stmt.name, lid));
    else if (stmt.kind === "array" && stmt.space === "shared") share(stmt, now);
    else if (stmt.kind === "loop" && stmt.loop === "local")
      for (const [lid, s] of now.entries())
        for (let i = lid; i < evaluateDim(stmt.extent, s.index); i += now.length)
          runAll(stmt.body, bound(s, stmt.name, i));
    else if (stmt.kind === "loop" && isJoint(stmt)) jointly(stmt, now, races);
    else if (stmt.kind === "if" && isJoint(stmt)) {
      // They all go in, or none does: `verify` sees to it.
      if (holds(stmt.when, now[0]!)) together(stmt.then, now, races);
    } else now = now.map((s) => runOne(stmt, s));
  }
}

/** Whether invocations meet inside of a statement, or share what is in it. */
const isJoint = (s: Stmt): boolean =>
  bodyOf(s).some(
    (t) =>
      partsOf(t).meets ||
      (t.kind === "loop" && t.loop === "local") ||
      t.kind === "letInvocation" ||
      (t.kind === "array" && t.space === "shared") ||
      isJoint(t),
  );

function jointly(l: Of<"loop">, all: readonly State[], races?: Races): void {
  const { index } = all[0]!;
  for (let i = evaluateDim(l.start ?? 0, index); i < evaluateDim(l.extent, index); i += l.step ?? 1)
    together(
      l.body,
      all.map((s) => bound(s, l.name, i)),
      races,
    );
}

function share({ name, size }: Of<"array">, all: readonly State[]): void {
  const array = new Array<number>(evaluateDim(size, all[0]!.index)).fill(0);
  for (const s of all) s.arrays.set(name, array);
}

/** Accumulators come to hold what all before them and their carry came to, carries the whole. */
function prefix({ names, carries, reducers }: Of<"prefix">, all: readonly State[]): void {
  for (const [i, name] of names.entries()) {
    let sofar = all[0]!.values.get(carries[i]!)!;
    for (const s of all) {
      const own = s.values.get(name)!;
      s.values.set(name, sofar);
      sofar = joined(reducers[i]!, sofar, own);
    }
    for (const s of all) s.values.set(carries[i]!, sofar);
  }
}

/**
 * All members of a team come to hold what their accumulators come to, those of the lowest
 * invocation first.
 */
function combine({ names, reducers, team, apart }: Of<"combine">, all: readonly State[]): void {
  const size = team ?? all.length;
  const number = (lid: number): number =>
    apart ? lid % (all.length / size) : Math.floor(lid / size);
  for (let t = 0; t < all.length / size; t++) {
    const members = all.filter((_, lid) => number(lid) === t);
    for (const [i, name] of names.entries()) {
      const reducer = reducers[i]!;
      const best = reducer.startsWith("arg") ? extreme(members, name, reducer) : undefined;
      const values = members.map((s) => s.values.get(name)!);
      const whole = best?.at ?? values.reduce((a, b) => joined(reducer, a, b));
      for (const s of members) {
        s.values.set(name, whole);
        if (best) s.values.set(`${name}/best`, best.value);
      }
    }
  }
}

function joined(reducer: string, a: number, b: number): number {
  if (reducer === "sum") return a + b;
  if (reducer === "prod") return a * b;
  if (reducer === "max" || reducer === "min") return Math[reducer](a, b);
  return Number(reducer === "any" ? a !== 0 || b !== 0 : a !== 0 && b !== 0);
}

/** NaN before numbers, and of equals the first. */
function extreme(members: readonly State[], name: string, reducer: string) {
  const sign = reducer === "argMax" ? 1 : -1;
  const rank = (x: number): number => (Number.isNaN(x) ? Infinity : sign * x);
  return members
    .flatMap((s) => {
      const value = s.values.get(`${name}/best`);
      return value === undefined ? [] : [{ value, at: s.values.get(name)! }];
    })
    .sort(
      (a, b) =>
        Number(Number.isNaN(b.value)) - Number(Number.isNaN(a.value)) ||
        Math.sign(rank(b.value) - rank(a.value)) ||
        a.at - b.at,
    )[0];
}
