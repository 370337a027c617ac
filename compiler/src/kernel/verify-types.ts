/**
 * The dtypes of kernel IR: what stands in a statement has the dtype that its place asks for. Arrays
 * and parameters are loaded as what they are declared, ops have operands of one dtype, accumulators
 * take in what they are.
 */
import { type Dtype, isHalf } from "@kiln-ml/ir";
import type { Expr, Stmt } from "./kernel.ts";
import { exprsOf } from "./parts.ts";
import { dtypeOfCall } from "./types.ts";

/** Dtypes of lets and accumulators by name, of memory by `name[]`. */
export type Declared = Map<string, Dtype>;

/** What is wrong in a statement; what it binds is declared from here on. */
export function typeFaults(s: Stmt, declared: Declared): string[] {
  const inside = exprsOf(s).flatMap((e) => exprFaults(e, declared, new Set()));
  return [...inside, ...ownFaults(s, declared)];
}

function ownFaults(s: Stmt, declared: Declared): string[] {
  switch (s.kind) {
    case "let":
      declared.set(s.name, s.value.dtype);
      return [];
    case "acc":
      declared.set(s.name, s.dtype);
      return differ(`accumulator ${s.name}`, s.dtype, s.init);
    case "array": {
      const known = declared.get(`${s.name}[]`);
      declared.set(`${s.name}[]`, s.dtype);
      const again = known !== undefined && known !== s.dtype;
      return again ? [`${s.name} is an array of ${known} and of ${s.dtype}`] : [];
    }
    case "letDynamic":
      return differ(`index ${s.name}`, "i32", s.value);
    case "set":
      return differ(`accumulator ${s.name}`, declared.get(s.name), s.value);
    case "accumulate":
      return accumulateFaults(s, declared.get(s.name));
    case "fma": {
      const dtype = declared.get(s.name);
      // A sum of products of halves is kept in f32: they are widened as they are multiplied.
      const wide = dtype === "f32" && isHalf(s.a.dtype) ? s.a.dtype : dtype;
      return [s.a, s.b].flatMap((e) => differ(`a factor of ${s.name}`, wide, e));
    }
    case "store":
      return differ(s.to, declared.get(`${s.to}[]`), s.value);
    default:
      return [];
  }
}

function accumulateFaults(
  s: Extract<Stmt, { kind: "accumulate" }>,
  dtype: Dtype | undefined,
): string[] {
  if (s.reducer !== "argMax" && s.reducer !== "argMin")
    return differ(`accumulator ${s.name}`, dtype, s.value);
  if (s.position === undefined) return [`${s.reducer} into ${s.name} has no position`];
  return dtype === "i32" ? [] : [`a position goes to ${s.name}, which is ${dtype}`];
}

const differ = (what: string, wanted: Dtype | undefined, e: Expr): string[] =>
  wanted === undefined || wanted === e.dtype ? [] : [`${what} is ${wanted} and gets ${e.dtype}`];

function exprFaults(e: Expr, declared: Declared, seen: Set<Expr>): string[] {
  if (seen.has(e)) return [];
  seen.add(e);
  if (e.kind === "ref") return differ(e.name, declared.get(e.name), e);
  if (e.kind === "load") {
    const kept = declared.get(`${e.from}[]`);
    return kept === undefined || kept === e.dtype
      ? []
      : [`${e.from} is ${kept} and is loaded as ${e.dtype}`];
  }
  if (e.kind !== "call") return [];
  const below = e.args.flatMap((a) => exprFaults(a, declared, seen));
  return [...below, ...callFaults(e)];
}

function callFaults({ op, args, dtype }: Extract<Expr, { kind: "call" }>): string[] {
  const known = dtypeOfCall(op, args);
  const own = known === undefined || known === dtype ? [] : [`${op} gives ${known}, not ${dtype}`];
  if (op === "select" && args[0]!.dtype !== "bool")
    return [...own, `select asks a ${args[0]!.dtype}`];
  const sides = op === "select" ? args.slice(1) : args;
  const odd = sides.find((a) => a.dtype !== sides[0]!.dtype);
  return odd ? [...own, `${op} of ${sides[0]!.dtype} and ${odd.dtype}`] : own;
}
