/**
 * Addresses that run along a loop: where a loop does little but load and add products, each place that moves by a fixed
 * step has an address of its own, which grows by the step, instead of one computed from the counter. The first of them
 * counts, if nothing else is asked of the counter.
 */
import { addDim, type Dim, isStatic, keyOfDim, mulDim, substitute } from "@kiln-ml/ir";
import type { Of } from "../../kernel/kernel.ts";
import { strideOf } from "../../schedule/stride.ts";
import { indexText } from "../index-text.ts";
import { indented } from "../scope.ts";
import { get, type Printer } from "./printer.ts";

interface Pointer {
  readonly local: string;
  readonly start: Dim;
  readonly step: number;
}

/** The open loop of this kind. */
export interface Running {
  /** The loop's variable. */
  readonly name: string;
  /** Scopes outside the loop. */
  readonly depth: number;
  readonly pointers: Map<string, Pointer>;
}

export const runs = (s: Of<"loop">): boolean =>
  (s.step ?? 1) === 1 && s.body.some((t) => t.kind === "fence");

/** Opens the loop; its places are seen by `runningText`. */
export function openRunning(p: Printer, { name }: Of<"loop">): Running {
  p.running = { name, depth: p.e.scope.depth, pointers: new Map() };
  return p.running;
}

/** The text of an address in bytes, if it moves with the open loop by a fixed step. */
export function runningText(p: Printer, d: Dim): string | undefined {
  const { running, e } = p;
  if (!running) return undefined;
  const step = strideOf(d, running.name);
  if (!step) return undefined;
  const start = substitute(d, new Map([[running.name, 0]]));
  if (e.depthOfDim(start) > running.depth) return undefined;
  const key = `${step} ${keyOfDim(start)}`;
  const known = running.pointers.get(key) ?? { local: newPointer(p), start, step };
  running.pointers.set(key, known);
  return get(known.local);
}

function newPointer(p: Printer): string {
  const local = p.e.fresh("at");
  p.locals.set(local, "i32");
  return local;
}

/** Never so: no address that is loaded from is the last byte's. The pointer that a fence may ask about, or the counter. */
export function neverText({ running, e }: Printer, counter: string): string {
  const [first] = running?.pointers.values() ?? [];
  return `(i32.eq ${first ? get(first.local) : e.find(counter).text.text} (i32.const -1))`;
}

/** The loop from 0 to `count`, whose iterations are `lines`; the counter is in `local`. Asked before it unless it surely `runs`. */
export function printRunning(
  p: Printer,
  running: Running,
  { local, count, end }: { readonly local: string; readonly count: Dim; readonly end: string },
  lines: readonly string[],
): void {
  const { e } = p;
  const pointers = [...running.pointers.values()];
  const own = lines.some((l) => l.includes(get(local)));
  const before = pointers.map((q) => `(local.set $${q.local} ${indexText(e, q.start).text})`);
  const grow = ({ local: to, step }: Pointer): string => `(i32.add ${get(to)} (i32.const ${step}))`;
  const [first, ...rest] = pointers;
  const after = (own ? pointers : rest).map((q) => `(local.set $${q.local} ${grow(q)})`);
  let again = `(i32.lt_s (local.tee $${local} (i32.add ${get(local)} (i32.const 1))) ${end})`;
  if (own) before.push(`(local.set $${local} (i32.const 0))`);
  else {
    const last = newPointer(p);
    const stop = indexText(e, addDim(first!.start, mulDim(count, first!.step))).text;
    before.push(`(local.set $${last} ${stop})`);
    again = `(i32.ne (local.tee $${first!.local} ${grow(first!)}) ${get(last)})`;
  }
  const label = `$${local}`;
  const body = [
    ...before,
    `(block ${label}.end (loop ${label}.loop`,
    ...indented([...lines, ...after, `(br_if ${label}.loop ${again})`]),
    "))",
  ];
  const sure = isStatic(count) && count > 0;
  if (!sure) e.line(`(if (i32.lt_s (i32.const 0) ${end}) (then`);
  for (const l of sure ? body : indented(body)) e.line(l);
  if (!sure) e.line("))");
}
