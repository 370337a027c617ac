/**
 * Reductions and scans over the invocations of a workgroup in WGSL, by subgroups where the device
 * has them. A device says a range of subgroup sizes, not one, so that the text asks for the size
 * when it runs. argMax and argMin always go through shared memory: an extreme and its position are
 * a pair.
 */
import type { Of } from "../../kernel/kernel.ts";
import { bestOf, isArg } from "../../kernel/uses.ts";
import { atom } from "../scope.ts";
import { combineArg, combineCall, prefixLines, usesSubgroups } from "./combine.ts";
import type { Module } from "./emit.ts";
import { wrapped } from "./spell.ts";

type Reducer = Of<"combine">["reducers"][number];

/** Combines an accumulator over the workgroup, or over a team of it. */
export function printCombine(m: Module, name: string, reducer: Reducer, by: Of<"combine">): void {
  const size = m.kernel.workgroupSize;
  const { team = size, apart = false } = by;
  const options = { size, team, apart, subgroups: m.options.subgroups ?? false };
  if (options.team === 1) return;
  const { dtype, fed } = m.e.facts.accs.get(name)!;
  const acc = m.e.find(name).text.text;
  if (isArg(reducer)) {
    const names = { best: m.e.find(bestOf(name)).text.text, position: acc };
    const held = fed === "bool" ? "u32" : fed!;
    for (const line of combineArg(reducer, held, names, options, m.declarations, m.use))
      m.e.line(line);
    return;
  }
  m.subgroups ||= usesSubgroups(reducer, options);
  const all = atom(combineCall(reducer, dtype, acc, options, m.declarations, m.use));
  m.e.line(`${acc} = ${wrapped(all, dtype).text};`);
}

/** Gives each invocation what the accumulators before it add up to. */
export function printPrefix(m: Module, name: string, carry: string, reducer: Reducer): void {
  const { dtype } = m.e.facts.accs.get(name)!;
  const [own, held] = [name, carry].map((n) => m.e.find(n).text.text);
  const options = { size: m.kernel.workgroupSize, subgroups: m.options.subgroups ?? false };
  m.subgroups ||= options.subgroups;
  for (const line of prefixLines(reducer, dtype, [own!, held!], options, m.declarations, m.use))
    m.e.line(line);
}
