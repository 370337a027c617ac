/**
 * Whether statements can run in lanes along a loop: every index they touch moves with it by a
 * fixed step, which is what a vector load, a broadcast or four scalar loads can follow. What is
 * not affine runs one element at a time; the schedule then chooses another loop for the lanes.
 */
import type { Dim } from "@kiln-ml/ir";
import { symbolsIn } from "@kiln-ml/ir";
import type { Stmt } from "../../kernel/kernel.ts";
import { strideOf } from "../../kernel/stride.ts";
import { walkStmts } from "../../kernel/walk.ts";

/**
 * True if no place needs a division by the loop variable, no condition depends on it, no index is
 * known only at run time.
 */
export function isAffine(body: readonly Stmt[], name: string): boolean {
  let even = true;
  const place = (d: Dim) => {
    if (strideOf(d, name) === undefined) even = false;
  };
  walkStmts(body, {
    stmt: (s) => {
      if (s.kind === "store") place(s.index);
      else if (s.kind === "letDynamic") even = false;
      else if (s.kind === "letIndex" && symbolsIn(s.value).has(name)) even = false;
      else if (s.kind === "if" && s.when.some((c) => symbolsIn(c.value).has(name))) even = false;
    },
    expr: (e) => {
      const when = e.kind === "load" ? e.guard : e.kind === "test" ? e.conditions : [];
      if (when.some((c) => symbolsIn(c.value).has(name))) even = false;
      if (e.kind === "load") place(e.index);
      else if (e.kind === "index") place(e.value);
    },
  });
  return even;
}

/** True if some load steps by `step` elements along the loop. */
export function stepsBy(body: readonly Stmt[], name: string, step: number): boolean {
  let found = false;
  walkStmts(body, {
    expr: (e) => {
      if (e.kind === "load" && strideOf(e.index, name) === step) found = true;
    },
  });
  return found;
}
