/** Random kernels: loops, conditions, accumulators and shared expressions over two arrays of sixteen elements. */
import {
  addDim,
  type Condition,
  type Dim,
  dim,
  floorDiv,
  loopVar,
  maxDim,
  minDim,
  modDim,
  mulDim,
  subDim,
} from "@kiln-ml/ir";
import fc from "fast-check";
import type { Expr, Kernel, Stmt } from "../../compiler/src/kernel/kernel.ts";
import { indexName } from "../../compiler/src/kernel/names.ts";
import { acc, call, f32, kernel, load, loop, param, ref, store } from "./kernels.ts";

/** Elements of each array. */
export const size = 16;
const N = dim("N");

/** What may be named at a point of the kernel being built, and a source of choices. */
interface Place {
  readonly pick: (below: number) => number;
  readonly symbols: readonly Dim[];
  readonly values: readonly Expr[];
  readonly accs: readonly string[];
  /** Expression objects made so far, to be used again where all their names are bound. */
  readonly pool: readonly Expr[];
  readonly depth: number;
  /** Whether loops may be vectors, whose iterations may run together. */
  readonly vectors: boolean;
}

let made = 0;
const name = (base: string): string => `${base}${made++}`;

function anyDim(p: Place, depth = 2): Dim {
  const leaf = (): Dim => {
    const k = p.pick(p.symbols.length + 1);
    return k < p.symbols.length ? p.symbols[k]! : p.pick(5) - 1;
  };
  if (depth === 0) return leaf();
  const [a, b] = [anyDim(p, depth - 1), anyDim(p, depth - 1)];
  switch (p.pick(7)) {
    case 0:
      return mulDim(a, p.pick(3) - 1);
    case 1:
      return floorDiv(a, 2 + p.pick(3));
    case 2:
      return modDim(a, 2 + p.pick(3));
    case 3:
      return minDim(a, b);
    case 4:
      return maxDim(a, b);
    case 5:
      return subDim(a, b);
    default:
      return addDim(a, b);
  }
}

const inRange = (p: Place): Dim => modDim(anyDim(p), size);
const anyTest = (p: Place): Condition => ({
  value: anyDim(p),
  test: p.pick(2) ? "nonnegative" : "zero",
});

function anyExpr(p: Place, depth = 3): Expr {
  if (p.pool.length && p.pick(3) === 0) return p.pool[p.pick(p.pool.length)]!;
  if (depth === 0 || p.pick(4) === 0) {
    const leaves: (() => Expr)[] = [
      () => f32(p.pick(9) - 4),
      () =>
        ({
          ...load(p.pick(2) ? "x" : "out", inRange(p)),
          guard: p.pick(2) ? [anyTest(p)] : [],
        }) as Expr,
      () => (p.values.length ? p.values[p.pick(p.values.length)]! : f32(2)),
      () => (p.accs.length ? ref(p.accs[p.pick(p.accs.length)]!) : f32(3)),
      () => call("convert", "f32", { kind: "index", value: anyDim(p), dtype: "i32" }),
    ];
    return leaves[p.pick(leaves.length)]!();
  }
  const [a, b] = [anyExpr(p, depth - 1), anyExpr(p, depth - 1)];
  const op = ["add", "sub", "mul", "maximum", "neg", "select"][p.pick(6)]!;
  if (op === "neg") return call("neg", "f32", a);
  if (op === "select")
    return call("select", "f32", { kind: "test", conditions: [anyTest(p)], dtype: "bool" }, a, b);
  return call(op, "f32", a, b);
}

const weight = (e: Expr): number =>
  e.kind === "call" ? e.args.reduce((n, a) => n + weight(a), 1) : 1;

function anyBody(p: Place): Stmt[] {
  const body: Stmt[] = [];
  let here = p;
  for (let n = 1 + p.pick(4); n > 0; n--) {
    const [stmt, next] = anyStmt(here);
    body.push(stmt);
    here = next;
  }
  return body;
}

function anyStmt(p: Place): [Stmt, Place] {
  const value = anyExpr(p);
  // The interpreter walks an expression as a tree, so only small ones are used again.
  const kept: Place = weight(value) < 30 ? { ...p, pool: [...p.pool, value] } : p;
  const choice = p.pick(p.depth > 0 ? 9 : 6);
  if (choice === 0) {
    const n = name("t");
    return [
      { kind: "let", name: n, value },
      { ...kept, values: [...p.values, ref(n)] },
    ];
  }
  if (choice === 1) {
    const n = indexName(name("n"));
    return [
      { kind: "letIndex", name: n, value: inRange(p) },
      { ...p, symbols: [...p.symbols, loopVar(n, size)] },
    ];
  }
  if (choice === 2) {
    const n = name("s");
    return [acc(n, p.pick(3), false), { ...p, accs: [...p.accs, n] }];
  }
  if (choice <= 4 && p.accs.length) {
    const n = p.accs[p.pick(p.accs.length)]!;
    const stmt: Stmt =
      choice === 3
        ? { kind: "set", name: n, value }
        : { kind: "accumulate", name: n, reducer: "sum", value };
    return [stmt, kept];
  }
  if (choice <= 5) return [store("out", inRange(p), value), kept];
  const inner = { ...p, depth: p.depth - 1 };
  if (choice === 6) return [{ kind: "if", when: [anyTest(p)], then: anyBody(inner) }, p];
  const extent = p.pick(4) === 0 ? N : 1 + p.pick(4);
  const v = loopVar(indexName(name("i")), extent);
  const kind =
    typeof extent === "number"
      ? (["serial", "unrolled", "vector"] as const)[p.pick(p.vectors ? 3 : 2)]!
      : "serial";
  return [loop(v, extent, anyBody({ ...inner, symbols: [...p.symbols, v] }), kind), p];
}

/** The kernel that a list of numbers stands for, each list for one. */
export function anyKernel(choices: readonly number[], vectors = true): Kernel {
  made = 0;
  let at = 0;
  const pick = (below: number): number => (choices[at++ % choices.length]! + at) % below;
  const place: Place = { pick, symbols: [N], values: [], accs: [], pool: [], depth: 3, vectors };
  const body = [...anyBody(place), ...anyBody(place)];
  return kernel("random", [param("x", size), param("out", size, "readwrite")], body, {
    dims: ["N"],
  });
}

/** Lists for `anyKernel`. */
export const choices = fc.array(fc.nat(1000), { minLength: 20, maxLength: 120 });
