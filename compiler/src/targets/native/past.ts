/**
 * Which loops in lanes may run past their end, where the surplus lanes are not stored: those that
 * load along memory or one element for all, so that what is read beyond lies in the line behind,
 * which is there (`LinearMemory` keeps as much free), and that compute nothing that traps.
 */
import { addDim, type Dim, type Dtype, isFloat, isStatic, symbolsIn } from "@kiln-ml/ir";
import type { Of } from "../../kernel/kernel.ts";
import { strideOf } from "../../kernel/stride.ts";
import { walkStmts } from "../../kernel/walk.ts";
import { indexText } from "../index-text.ts";
import { i32Const, op, when } from "../wasm/code.ts";
import { inLanes, named, repeat } from "../wasm/loops.ts";
import { laneAt, type Vectors } from "../wasm/printer.ts";

/** Stores of other widths have no masks. */
const masked: readonly Dtype[] = ["f32", "i32", "u32"];

/** Ops that trap on some integers. */
const traps = new Set(["div", "rem", "pow"]);

/** The rest of a loop as one vector; false where it may not be, or is no more than an element. */
export const printPast: NonNullable<Vectors["past"]> = (p, s, start, count, print) => {
  if ((isStatic(count) && count <= 1) || !runsPast(s)) return false;
  const { e } = p;
  const some = named(p, `${s.name}Left`, indexText(e, count));
  const at = addDim(start, laneAt(p));
  p.some = [some];
  const lines = e.inside(s, () => repeat(p, s, at, () => inLanes(p, () => print(p, s.body))));
  p.some = [];
  e.line(when(op("i32.gt_s", some, i32Const(0)), lines));
  return true;
};

/** True for a loop that runs in lanes and whose last vector may have surplus lanes. */
function runsPast(s: Of<"loop">): boolean {
  const moves = (d: Dim | undefined): boolean => d !== undefined && symbolsIn(d).has(s.name);
  let may = true;
  walkStmts(s.body, {
    memory: (_, index = 0) => {
      const stride = strideOf(index, s.name);
      if (stride !== 0 && stride !== 1) may = false;
    },
    stmt: (t) => {
      if (t.kind === "letDynamic" || (t.kind === "letIndex" && moves(t.value))) may = false;
      if (t.kind === "loop" && (moves(t.extent) || moves(t.start))) may = false;
      if (t.kind === "store" && !masked.includes(t.value.dtype as Dtype)) may = false;
    },
    expr: (x) => {
      if (x.kind === "load" && x.guard.some((c) => moves(c.value))) may = false;
      if (x.kind === "call" && traps.has(x.op) && !isFloat(x.dtype as Dtype)) may = false;
    },
  });
  return may;
}
