/**
 * Runs kernel IR as it stands, in order, without hoisting anything: what the text of a kernel must amount to.
 */

import * as ir from "@kiln-ml/ir";
import {
  type Condition,
  type Dim,
  evaluateDim,
  evaluateElement,
  opRecord,
  roundTo,
} from "@kiln-ml/ir";
import type { Expr, Kernel, Stmt } from "../../compiler/src/kernel/kernel.ts";

// An op registers its record when its module is evaluated, and a bundler leaves out ops that nobody names.
if (Object.keys(ir).length === 0) throw new Error("no ops");

interface State {
  readonly arrays: Map<string, number[]>;
  readonly values: Map<string, number>;
  readonly index: Readonly<Record<string, number>>;
}

export function interpret(
  kernel: Kernel,
  arrays: readonly number[][],
  index: Readonly<Record<string, number>>,
): void {
  const named = new Map(kernel.params.map((p, i) => [p.name, arrays[i]!]));
  runAll(kernel.body, { arrays: named, values: new Map(), index });
}

const holds = (conditions: readonly Condition[], s: State): boolean =>
  conditions.every((c) => {
    const v = at(c.value, s);
    return c.test === "zero" ? v === 0 : v >= 0;
  });
const at = (d: Dim, s: State): number => evaluateDim(d, s.index);

function compute(e: Expr, s: State): number {
  switch (e.kind) {
    case "const":
      return e.value;
    case "index":
      return at(e.value, s);
    case "test":
      return Number(holds(e.conditions, s));
    case "ref":
      return s.values.get(e.name)!;
    case "load":
      return holds(e.guard, s) ? s.arrays.get(e.from)![at(e.index, s)]! : 0;
    case "call": {
      const args = e.args.map((a) => compute(a, s));
      return evaluateElement(opRecord(e.op), e.args[0]!.dtype, e.dtype, args);
    }
    default:
      return e satisfies never;
  }
}

/** Lets and index names are seen by the rest of their block; accumulators live on in `values`. */
function runAll(body: readonly Stmt[], outer: State): void {
  let s = outer;
  for (const stmt of body) s = runOne(stmt, s);
}

const bound = (s: State, name: string, value: number): State => ({
  ...s,
  index: { ...s.index, [name]: value },
});

function runOne(stmt: Stmt, s: State): State {
  switch (stmt.kind) {
    case "let":
    case "set":
      s.values.set(stmt.name, compute(stmt.value, s));
      return s;
    case "acc":
      s.values.set(stmt.name, compute(stmt.init, s));
      return s;
    case "letIndex":
      return bound(s, stmt.name, at(stmt.value, s));
    case "letDynamic":
      return bound(s, stmt.name, compute(stmt.value, s));
    case "accumulate":
      s.values.set(stmt.name, Math.fround(s.values.get(stmt.name)! + compute(stmt.value, s)));
      return s;
    case "store":
      s.arrays.get(stmt.to)![at(stmt.index, s)] = roundTo("f32", compute(stmt.value, s));
      return s;
    case "if":
      if (holds(stmt.when, s)) runAll(stmt.then, s);
      return s;
    case "loop":
      for (let i = at(stmt.start ?? 0, s); i < at(stmt.extent, s); i += stmt.step ?? 1)
        runAll(stmt.body, bound(s, stmt.name, i));
      return s;
    default:
      throw new Error(`${stmt.kind} is not interpreted`);
  }
}
