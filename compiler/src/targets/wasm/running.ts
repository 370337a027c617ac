/**
 * Addresses that run along a loop: where a loop does little but load and add products, each place that moves by a fixed
 * step has an address of its own, which grows by the step, instead of one computed from the counter. The first of them
 * counts, if nothing else is asked of the counter.
 */
import { addDim, type Dim, isStatic, keyOfDim, mulDim, substitute } from "@kiln-ml/ir";
import type { Of } from "../../kernel/kernel.ts";
import { strideOf } from "../../schedule/stride.ts";
import { indexText } from "../index-text.ts";
import { block, branchIf, type Code, get, i32Const, loop, op, set, tee, when } from "./code.ts";
import { freshLocal, type Printer } from "./printer.ts";

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

/** Opens the loop; its places are seen by `runningAddress`. */
export function openRunning(p: Printer, { name }: Of<"loop">): Running {
  p.running = { name, depth: p.e.scope.depth, pointers: new Map() };
  return p.running;
}

/** What reads an address in bytes, if it moves with the open loop by a fixed step. */
export function runningAddress(p: Printer, d: Dim): Code | undefined {
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

const newPointer = (p: Printer): string => freshLocal(p, "at", "i32");

/** The label behind the loop whose counter is in `local`. */
export const endOf = (local: string): string => `${local}.end`;

/** Never so: no address that is loaded from is the last byte's. The pointer that a fence may ask about, or the counter. */
export function never({ running, e }: Printer, counter: string): Code {
  const [first] = running?.pointers.values() ?? [];
  return op("i32.eq", first ? get(first.local) : e.find(counter).text, i32Const(-1));
}

const reads = (c: Code, local: string): boolean =>
  (c.op.kind === "local" && c.op.operands === 0 && c.immediate === local) ||
  c.args.some((a) => reads(a, local));

/** The loop from 0 to `count`, whose iterations are `body`; the counter is in `local`. Asked before it unless it surely `runs`. */
export function printRunning(
  p: Printer,
  running: Running,
  { local, count, end }: { readonly local: string; readonly count: Dim; readonly end: Code },
  body: readonly Code[],
): void {
  const { e } = p;
  const pointers = [...running.pointers.values()];
  const own = pointers.length === 0 || body.some((c) => reads(c, local));
  const before = pointers.map((q) => set(q.local, indexText(e, q.start)));
  const grown = ({ local: from, step }: Pointer): Code => op("i32.add", get(from), i32Const(step));
  const [first, ...rest] = pointers;
  const after = (own ? pointers : rest).map((q) => set(q.local, grown(q)));
  const again = (): Code => {
    if (own) {
      before.push(set(local, i32Const(0)));
      return op("i32.lt_s", tee(local, op("i32.add", get(local), i32Const(1))), end);
    }
    const last = newPointer(p);
    before.push(set(last, indexText(e, addDim(first!.start, mulDim(count, first!.step)))));
    return op("i32.ne", tee(first!.local, grown(first!)), get(last));
  };
  const label = `${local}.loop`;
  const condition = again();
  const counted = block(endOf(local), "", [
    loop(label, [...body, ...after, branchIf(label, condition)]),
  ]);
  const sure = isStatic(count) && count > 0;
  const all = [...before, counted];
  if (sure) for (const c of all) e.line(c);
  else e.line(when(op("i32.lt_s", i32Const(0), end), all));
}
