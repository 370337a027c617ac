/**
 * What moves ask of a row before its iterations are spread over workgroups and invocations: a loop
 * that stands alone, memory that none reads where another writes, accumulators that begin with what
 * changes nothing.
 */
import { keyOfDim, type Reducer } from "@kiln-ml/ir";
import type { Of, Stmt } from "../../kernel/kernel.ts";
import { indexName } from "../../kernel/names.ts";
import { partsOf } from "../../kernel/parts.ts";
import { eachStmt, walkStmts } from "../../kernel/walk.ts";
import { startOf } from "../../lower/context.ts";
import { refuse, variableOf } from "../loop-moves.ts";

type Loop = Of<"loop">;

/** Replaces a parallel loop that is all there is. */
export function spread(
  body: readonly Stmt[],
  name: string,
  by: (l: Loop) => readonly Stmt[],
): readonly Stmt[] {
  const [only, more] = body;
  if (only?.kind !== "loop" || more || only.name !== indexName(name))
    return refuse(`${name} does not stand alone`);
  if (only.loop !== "parallel") refuse(`${name} is ${only.loop}, not parallel`);
  variableOf(only);
  checkInvocation(only.body);
  return by(only);
}

/** What one invocation runs has no workgroups and waits for no other. */
export function checkInvocation(body: readonly Stmt[]): void {
  eachStmt(body, (s) => {
    const spreads = s.kind === "loop" && (s.loop === "workgroup" || s.loop === "local");
    if (spreads || partsOf(s).meets || s.kind === "letInvocation" || s.kind === "letSubgroup")
      refuse("it is spread over invocations already");
  });
}

export const loopIn = (row: readonly Stmt[], name: string): Loop =>
  row.find((s): s is Loop => isLoop(s, name)) ?? refuse(`${name} does not stand in the row`);

export const isLoop = (s: Stmt, name: string): s is Loop =>
  s.kind === "loop" && s.name === indexName(name);

/** Each of those who share a row begins with what changes nothing. */
export function checkStart(name: string, acc: Of<"acc"> | undefined, reducer: Reducer): void {
  const neutral = acc && startOf(reducer, acc.dtype);
  if (acc?.init.kind !== "const" || !Object.is(acc.init.value, neutral))
    refuse(`${name} does not begin with what changes nothing`);
}

/** What is written is not read elsewhere: invocations do not see what others wrote. */
export function checkMemory(row: readonly Stmt[]): void {
  const own = new Set(row.flatMap((s) => (s.kind === "array" ? [s.name] : [])));
  const [read, written] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()];
  walkStmts(row, {
    memory: (name, index, how) => {
      const place = index === undefined ? "all" : keyOfDim(index);
      for (const [places, other] of [
        [read, "writes"],
        [written, "reads"],
      ] as const)
        if (how !== other) places.set(name, (places.get(name) ?? new Set()).add(place));
    },
  });
  for (const [name, places] of written)
    if (!own.has(name) && read.has(name) && new Set([...places, ...read.get(name)!]).size > 1)
      refuse(`${name} is read elsewhere than it is written`);
}
