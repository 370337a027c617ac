/**
 * Runs kernel IR of one thread as it stands, in order, without hoisting anything: what the text of
 * a kernel must amount to, and what it touches.
 */

import * as ir from "@kiln-ml/ir";
import {
  type Condition,
  type Dim,
  type Dtype,
  evaluateDim,
  evaluateElement,
  opRecord,
  roundTo,
} from "@kiln-ml/ir";
import { halfOps } from "../../compiler/src/kernel/halves.ts";
import type { Expr, Kernel, Of, Stmt } from "../../compiler/src/kernel/kernel.ts";

// An op registers its record when its module is evaluated, and a bundler leaves out ops that nobody
// names.
if (Object.keys(ir).length === 0) throw new Error("no ops");

export interface State {
  readonly arrays: Map<string, number[]>;
  readonly values: Map<string, number>;
  readonly index: Readonly<Record<string, number>>;
  readonly touched: Touched;
  readonly iterates: Iterates;
}

/** Told of each element that is loaded or stored. */
export type Touched = (array: string, at: number, how: "reads" | "writes") => void;

/** Told of each iteration of a loop before it runs, and with no number when all have. */
export type Iterates = (loop: Of<"loop">, i: number | undefined) => void;

export function interpret(
  kernel: Kernel,
  arrays: readonly number[][],
  index: Readonly<Record<string, number>>,
  touched: Touched = () => {},
  iterates: Iterates = () => {},
): void {
  runAll(kernel.body, { ...stateOf(kernel, arrays, index), touched, iterates });
}

/** Before the first statement. */
export const stateOf = (
  kernel: Kernel,
  arrays: readonly number[][],
  index: Readonly<Record<string, number>>,
): State => ({
  arrays: new Map(kernel.params.map((p, i) => [p.name, arrays[i]!])),
  values: new Map(),
  index,
  touched: () => {},
  iterates: () => {},
});

export const holds = (conditions: readonly Condition[], s: State): boolean =>
  conditions.every((c) => {
    const v = at(c.value, s);
    return c.test === "zero" ? v === 0 : v >= 0;
  });
const at = (d: Dim, s: State): number => evaluateDim(d, s.index);

/** `known` has what the statement's shared expressions came to. */
function compute(e: Expr, s: State, known: Map<Expr, number> = new Map()): number {
  const before = known.get(e);
  if (before !== undefined) return before;
  const value = evaluated(e, s, known);
  known.set(e, value);
  return value;
}

function evaluated(e: Expr, s: State, known: Map<Expr, number>): number {
  switch (e.kind) {
    case "const":
      return e.value;
    case "index":
      return at(e.value, s);
    case "test":
      return Number(holds(e.conditions, s));
    case "ref":
      return s.values.get(e.name)!;
    case "load": {
      if (!holds(e.guard, s)) return 0;
      const place = at(e.index, s);
      s.touched(e.from, place, "reads");
      return s.arrays.get(e.from)![place]!;
    }
    case "call": {
      const args = e.args.map((a) => compute(a, s, known));
      if (e.op === "bitcast") return bitsAs(e.dtype, e.args[0]!.dtype, args[0]!);
      const ofHalves = halfOps[e.op];
      if (ofHalves) return ofHalves(...args);
      return evaluateElement(opRecord(e.op), e.args[0]!.dtype, e.dtype, args);
    }
    default:
      return e satisfies never;
  }
}

const words = new DataView(new ArrayBuffer(4));
const wordOf = { f32: "Float32", i32: "Int32", u32: "Uint32" } as const;

/** Four bytes of a number of one dtype as a number of another. */
function bitsAs(to: Dtype, from: Dtype, x: number): number {
  const [source, target] = [from, to].map((d) => wordOf[d as keyof typeof wordOf]);
  if (!source || !target) throw new Error(`bitcast of ${from} to ${to} is not interpreted`);
  words[`set${source}`](0, x);
  return words[`get${target}`](0);
}

/** Lets and index names are seen by the rest of their block; accumulators live on in `values`. */
export function runAll(body: readonly Stmt[], outer: State): void {
  let s = outer;
  for (const stmt of body) s = runOne(stmt, s);
}

export const bound = (s: State, name: string, value: number): State => ({
  ...s,
  index: { ...s.index, [name]: value },
});

export function runOne(stmt: Stmt, s: State): State {
  switch (stmt.kind) {
    case "let":
    case "set":
      s.values.set(stmt.name, compute(stmt.value, s));
      return s;
    case "acc":
      s.values.delete(`${stmt.name}/best`);
      s.values.set(stmt.name, compute(stmt.init, s));
      return s;
    case "letIndex":
      return bound(s, stmt.name, at(stmt.value, s));
    case "letDynamic":
      return bound(s, stmt.name, compute(stmt.value, s));
    case "accumulate":
      s.values.set(stmt.name, taken(stmt, s));
      return s;
    case "fma": {
      const product = compute(stmt.a, s) * compute(stmt.b, s);
      s.values.set(stmt.name, s.values.get(stmt.name)! + product);
      return s;
    }
    case "array":
      s.arrays.set(stmt.name, new Array<number>(at(stmt.size, s)).fill(0));
      return s;
    case "store": {
      const [place, value] = [at(stmt.index, s), compute(stmt.value, s)];
      s.touched(stmt.to, place, "writes");
      s.arrays.get(stmt.to)![place] = roundTo(stmt.value.dtype, value);
      return s;
    }
    case "sort":
      sortPlaces(stmt, s);
      return s;
    case "comment":
    case "barrier":
    case "prefetch":
    case "scheduleBarrier":
      return s;
    case "if":
      if (holds(stmt.when, s)) runAll(stmt.then, s);
      return s;
    case "loop":
      for (let i = at(stmt.start ?? 0, s); i < at(stmt.extent, s); i += stmt.step ?? 1) {
        s.iterates(stmt, i);
        runAll(stmt.body, bound(s, stmt.name, i));
      }
      s.iterates(stmt, undefined);
      return s;
    default:
      throw new Error(`${stmt.kind} is not interpreted`);
  }
}

/**
 * The places of the first keys in sorted order; NaN is the greatest, and equal keys stay as they
 * stand.
 */
function sortPlaces({ keys, order, size, count, descending }: Of<"sort">, s: State): void {
  const all = s.arrays.get(keys)!.slice(0, at(size, s));
  const rank = (x: number): number => (Number.isNaN(x) ? Infinity : x);
  const compare = (a: number, b: number): number =>
    rank(a) === rank(b)
      ? Number(Number.isNaN(a)) - Number(Number.isNaN(b))
      : rank(a) < rank(b)
        ? -1
        : 1;
  const places = [...all.keys()].sort(
    (i, j) => (descending ? -1 : 1) * compare(all[i]!, all[j]!) || i - j,
  );
  for (let i = 0; i < at(count, s); i++) s.arrays.get(order)![i] = places[i]!;
}

/** What an accumulator comes to; the extreme of argMax and argMin stands beside it in `values`. */
function taken(stmt: Of<"accumulate">, s: State): number {
  const { reducer, name } = stmt;
  const [before, value] = [s.values.get(name)!, compute(stmt.value, s)];
  switch (reducer) {
    case "sum":
      return roundTo(stmt.value.dtype, before + value);
    case "prod":
      return roundTo(stmt.value.dtype, before * value);
    case "max":
    case "min":
      return Math[reducer](before, value);
    case "any":
      return Number(before !== 0 || value !== 0);
    case "all":
      return Number(before !== 0 && value !== 0);
    case "argMax":
    case "argMin": {
      const sign = reducer === "argMax" ? 1 : -1;
      const best = s.values.get(`${name}/best`) ?? -sign * Infinity;
      if (!(sign * value > sign * best) && !(Number.isNaN(value) && !Number.isNaN(best)))
        return before;
      s.values.set(`${name}/best`, value);
      return at(stmt.position!, s);
    }
    default:
      return reducer satisfies never;
  }
}
