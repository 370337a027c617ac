/**
 * Addresses that run along a loop: where a loop does little but load and add products, each place
 * that moves by a fixed step has an address of its own, which grows by the step, instead of one
 * computed from the counter. The first of them counts, if nothing else is asked of the counter.
 */
import { addDim, type Dim, isStatic, keyOfDim, mulDim, substitute } from "@kiln-ml/ir";
import type { Of } from "../../kernel/kernel.ts";
import { strideOf } from "../../kernel/stride.ts";
import { indexText } from "../index-text.ts";
import { block, branchIf, type Code, get, i32Const, loop, op, set, tee, when } from "./code.ts";
import { freshLocal, newLocal, type Printer } from "./printer.ts";

interface Pointer {
  readonly local: string;
  readonly start: Dim;
  readonly step: number;
}

/** The open loop of this kind. */
export interface Running {
  /** The loop's variable, and the local in which it is counted. */
  readonly name: string;
  readonly counter: string;
  /** Depth of the block around the loop. */
  readonly depth: number;
  readonly pointers: Map<string, Pointer>;
}

/** Loops that schedule barriers cut, which count from 0 by 1. */
export const runs = (s: Of<"loop">): boolean => s.body.some((t) => t.kind === "scheduleBarrier");

/** Opens the loop; its places are seen by `runningBase`. */
export function openRunning(p: Printer, { name }: Of<"loop">, counter: string): Running {
  p.running = { name, counter, depth: p.e.scope.depth, pointers: new Map() };
  return p.running;
}

/** An address in bytes, if it moves with the open loop by a fixed step. */
export function runningBase(p: Printer, d: Dim): Code | undefined {
  const { running, e } = p;
  const step = running && strideOf(d, running.name);
  if (!step) return undefined;
  const start = substitute(d, new Map([[running.name, 0]]));
  if (e.depthOfDim(start) > running.depth) return undefined;
  const key = `${step} ${keyOfDim(start)}`;
  const pointer = running.pointers.get(key) ?? { local: freshLocal(p, "at", "i32"), start, step };
  running.pointers.set(key, pointer);
  return get(pointer.local);
}

/**
 * A way out of the loop that is never taken, but by which all accumulators would have to be known:
 * no address that is loaded from is that of the last byte, and no counter is negative.
 */
export function scheduleBarrier({ pointers, counter }: Running): Code {
  const [first] = pointers.values();
  return branchIf(`${counter}.end`, op("i32.eq", get(first?.local ?? counter), i32Const(-1)));
}

const usesLocal = (c: Code, name: string): boolean =>
  (c.op.kind === "local" && c.immediate === name) || c.args.some((a) => usesLocal(a, name));

/**
 * The loop from 0 to `count`, which is `end`; asked before the first iteration unless there surely
 * is one.
 */
export function printRunning(
  p: Printer,
  { counter, pointers }: Running,
  count: Dim,
  end: Code,
  body: readonly Code[],
): void {
  const { e } = p;
  const grown = (local: string, step: number): Code => op("i32.add", get(local), i32Const(step));
  const all = [...pointers.values()];
  const counts = all.length === 0 || body.some((c) => usesLocal(c, counter));
  for (const { local, start } of all) e.line(set(local, indexText(e, start)));
  if (counts) e.line(set(counter, i32Const(0)));
  const [first, ...rest] = all;
  const after = (counts ? all : rest).map(({ local, step }) => set(local, grown(local, step)));
  const again = (): Code => {
    if (counts || !first) return op("i32.lt_s", tee(counter, grown(counter, 1)), end);
    const stop = indexText(e, addDim(first.start, mulDim(count, first.step)));
    const last = newLocal(p, "at", "i32", stop);
    return op("i32.ne", tee(first.local, grown(first.local, first.step)), last);
  };
  const label = `${counter}.loop`;
  const next = branchIf(label, again());
  const whole = block(`${counter}.end`, "", [loop(label, [...body, ...after, next])]);
  const sure = isStatic(count) && count > 0;
  e.line(sure ? whole : when(op("i32.lt_s", i32Const(0), end), [whole]));
}
