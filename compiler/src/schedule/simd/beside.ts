/**
 * What runs beside a kernel on a CPU: phases before its own. Few elements are one thread's, so that
 * all of them are one phase; products and scatters have phases of their own.
 */
import type { Stmt } from "../../kernel/kernel.ts";
import type { LoweringContext } from "../../lower/context.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { serialScatter } from "../scatter.ts";
import { simdContraction } from "./contraction.ts";
import { simdRows } from "./rows.ts";

const barrier: Stmt = { kind: "barrier" };

export function besidePhases(main: Scheduled, guests: readonly LoweringContext[]): Scheduled {
  const small = guests.filter(({ group }) => group.kind === "map");
  const whole = guests.filter(({ group }) => group.kind !== "map");
  const parts = [...whole.map(wholeOf), main];
  const apart = parts.flatMap((p) => p.apart ?? []);
  if (apart.length > 0) return { ...main, apart };
  const phases = [...small.flatMap((guest) => simdRows(guest).body)];
  const all = [phases, ...parts.map((p) => p.body)].filter((body) => body.length > 0);
  return { ...main, body: all.flatMap((body, i) => (i === 0 ? body : [barrier, ...body])) };
}

const wholeOf = (context: LoweringContext): Scheduled =>
  context.group.kind === "scatter"
    ? { body: serialScatter(context, true), workgroupSize: 1 }
    : simdContraction(context);
