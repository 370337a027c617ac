/**
 * Runs kernel IR of a GPU: the invocations of a workgroup each run a statement before any runs the
 * next, which is one of the orders that a device may take.
 */
import { evaluateDim } from "@kiln-ml/ir";
import type { Kernel, Of, Stmt } from "../../compiler/src/kernel/kernel.ts";
import { bound, runAll, runOne, type State, stateOf } from "./interpret.ts";

export function interpretWorkgroups(
  kernel: Kernel,
  arrays: readonly number[][],
  index: Readonly<Record<string, number>>,
): void {
  const outside = stateOf(kernel, arrays, index);
  const grid = (body: readonly Stmt[], s: State): void => {
    for (const stmt of body)
      if (stmt.kind !== "loop" || stmt.loop !== "workgroup")
        throw new Error(`${stmt.kind} in a grid`);
      else
        for (let i = 0; i < evaluateDim(stmt.extent, s.index); i++) {
          const here = bound(s, stmt.name, i);
          if (stmt.body.some((t) => t.kind === "loop" && t.loop === "workgroup"))
            grid(stmt.body, here);
          else together(stmt.body, invocationsOf(here, kernel.workgroupSize));
        }
  };
  grid(kernel.body, outside);
}

/** Each with accumulators and arrays of its own, and memory that all see. */
const invocationsOf = (s: State, size: number): State[] =>
  Array.from({ length: size }, () => ({ ...s, values: new Map(), arrays: new Map(s.arrays) }));

function together(body: readonly Stmt[], invocations: readonly State[]): void {
  let now = [...invocations];
  for (const stmt of body)
    if (stmt.kind === "combine") combine(stmt, now);
    else if (stmt.kind === "letInvocation") now = now.map((s, lid) => bound(s, stmt.name, lid));
    else if (stmt.kind === "loop" && stmt.loop === "local")
      for (const [lid, s] of now.entries())
        for (let i = lid; i < evaluateDim(stmt.extent, s.index); i += now.length)
          runAll(stmt.body, bound(s, stmt.name, i));
    else now = now.map((s) => runOne(stmt, s));
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
