/**
 * What a kernel touches of its parameters: each read and write as an index map over the ranges of
 * the loops around it, and the guards under which it happens. The order of steps asks it what may
 * be overwritten in place. Changes nothing, decides nothing.
 *
 *   read  x@ [8*i'+j'] for i' < N, j' < 8
 *   write y@ [i'] for i' < N
 */
import { type Condition, type Dim, printDim, substitute, symbolsIn } from "@kiln-ml/ir";
import type { Expr, Kernel, Of, Stmt } from "./kernel.ts";
import { bodyOf, exprsOf, type Touch, touchesOf } from "./parts.ts";
import { strideOf } from "./stride.ts";
import { walkExpr } from "./walk.ts";

/** Values of an index variable: start, start + step, … below end. */
export interface Range {
  readonly name: string;
  readonly start: Dim;
  readonly end: Dim;
  readonly step: number;
}

export interface Touched {
  readonly param: string;
  readonly how: "reads" | "writes";
  /** The element, in terms of the ranges and of the kernel's dims; undefined for any at all. */
  readonly index: Dim | undefined;
  /** The variables that the index or the guards speak of, outer before inner. */
  readonly ranges: readonly Range[];
  readonly guards: readonly Condition[];
  /** Whether every guard is here: without those that only the run knows, more is said than is so. */
  readonly known: boolean;
  /** A sum of multiples of the variables. */
  readonly affine: boolean;
}

/** What is known at a statement. */
interface Around {
  /** What gives variables their ranges, outer before inner: loops, and numbers of invocations. */
  readonly over: readonly Bound[];
  /** Conditions of the branches around, under what was known there. */
  readonly branches: readonly { readonly when: readonly Condition[]; readonly at: Around }[];
  /** Index variables that stand for expressions of the ranges. */
  readonly lets: ReadonlyMap<string, Dim>;
  /** Index variables that only the run knows. */
  readonly loose: ReadonlySet<string>;
}

/** An access of a statement; loads have guards. */
type Access = Touch & { readonly guard?: readonly Condition[] };

interface Bound {
  readonly by: Pick<Of<"loop">, "name"> & Partial<Of<"loop">>;
  readonly at: Around;
}

/** One access, and where in the kernel it stands. */
export interface Placed extends Pick<Touched, "param" | "how" | "index"> {
  /** The element in terms of variables that only the run knows, too; undefined for any at all. */
  readonly element: Dim | undefined;
  readonly statement: Stmt;
  /** Counts statements; stores that stand together, whose values are taken first, are one. */
  readonly run: number;
  /** The blocks that it stands in, outer before inner, each with the variables at its end. */
  readonly blocks: readonly Pick<Around, "over">[];
  /** The guards of its own. */
  readonly guard: readonly Condition[];
  readonly around: Around;
}

/** What is touched of the parameters, access by access; scratch memory is the kernel's own. */
export function touchedIn({ params, body }: Kernel): Placed[] {
  const own = new Set(params.filter((p) => p.access !== "scratch").map((p) => p.name));
  const found: Placed[] = [];
  let run = 0;
  const block = (stmts: readonly Stmt[], outer: Around, outside: Placed["blocks"]): void => {
    let around = outer;
    const here = { over: outer.over };
    const blocks = [...outside, here];
    for (const [i, s] of stmts.entries()) {
      if (s.kind !== "store" || stmts[i - 1]?.kind !== "store") run++;
      const accesses: Access[] = [];
      const expr = (e: Expr) =>
        e.kind === "load" && accesses.push({ ...e, memory: e.from, how: "reads" });
      for (const e of exprsOf(s)) walkExpr(e, { expr });
      for (const { memory: param, how, index: at, guard = [] } of [
        ...accesses,
        ...touchesOf(s),
      ] as Access[]) {
        if (!own.has(param)) continue;
        const element = at && resolved(at, around);
        const index = element && speaks(element, around.loose) ? undefined : element;
        const touched = { param, index, element, statement: s, run, blocks, guard, around };
        if (how !== "writes") found.push({ ...touched, how: "reads" });
        if (how !== "reads") found.push({ ...touched, how: "writes" });
      }
      block(bodyOf(s), within(s, around), blocks);
      around = after(s, around);
    }
    here.over = around.over;
  };
  block(body, { over: [], branches: [], lets: new Map(), loose: new Set() }, []);
  return found;
}

/** What is known in the block of a statement. */
function within(s: Stmt, at: Around): Around {
  if (s.kind === "if") return { ...at, branches: [...at.branches, { when: s.when, at }] };
  return s.kind === "loop" ? { ...at, over: [...at.over, { by: s, at }] } : at;
}

function after(s: Stmt, at: Around): Around {
  switch (s.kind) {
    case "letIndex":
      return { ...at, lets: new Map(at.lets).set(s.name, resolved(s.value, at)) };
    case "letInvocation":
    case "letSubgroup":
      return { ...at, over: [...at.over, { by: { name: s.name }, at }] };
    case "letDynamic":
      return { ...at, loose: new Set(at.loose).add(s.name) };
    default:
      return at;
  }
}

const resolved = (d: Dim, { lets }: Around): Dim => substitute(d, lets);
const speaks = (d: Dim, names: ReadonlySet<string>): boolean =>
  names.size > 0 && [...symbolsIn(d).keys()].some((name) => names.has(name));

/** What is touched of the parameters, each thing once. */
export function footprintOf(kernel: Kernel): Touched[] {
  const lines = new Map<string, Touched>();
  for (const placed of touchedIn(kernel)) {
    const touched = described(placed, kernel);
    const line = printTouched(touched);
    if (!lines.has(line)) lines.set(line, touched);
  }
  return [...lines.values()];
}

function described({ param, how, index, guard, around }: Placed, kernel: Kernel): Touched {
  const all = [...around.branches, { when: guard, at: around }].flatMap(({ when, at }) =>
    when.map((c) => ({ ...c, value: resolved(c.value, at) })),
  );
  const guards = all.filter((c) => !speaks(c.value, around.loose));
  const known = guards.length === all.length;
  if (index === undefined)
    return { param, how, index, ranges: [], guards: [], known, affine: false };
  const ranges = neededRanges([index, ...guards.map((g) => g.value)], around, kernel);
  const affine = ranges.every((r) => strideOf(index, r.name) !== undefined);
  return { param, how, index, ranges, guards, known, affine };
}

/** The ranges that some expressions speak of, and those that these speak of. */
function neededRanges(dims: readonly Dim[], { over }: Around, { workgroupSize }: Kernel): Range[] {
  const needed = new Set(dims.flatMap((d) => [...symbolsIn(d).keys()]));
  const ranges = over.map(({ by, at }): Range => {
    const { name, start = 0, extent = workgroupSize, step = 1 } = by;
    return { name, start: resolved(start, at), end: resolved(extent, at), step };
  });
  for (const r of [...ranges].reverse())
    if (needed.has(r.name))
      for (const d of [r.start, r.end]) for (const name of symbolsIn(d).keys()) needed.add(name);
  return ranges.filter((r) => needed.has(r.name));
}

/** One line: how, the parameter, the index map, its ranges and guards. */
export function printTouched({ param, how, index, ranges, guards }: Touched): string {
  const place = index === undefined ? "any" : printDim(index);
  const over = ranges.map(({ name, start, end, step }) => {
    const from = start === 0 ? "" : ` from ${printDim(start)}`;
    return `${name}${from} < ${printDim(end)}${step === 1 ? "" : ` step ${step}`}`;
  });
  const when = guards.map((c) => `${printDim(c.value)} ${c.test === "zero" ? "==" : ">="} 0`);
  return [
    `${how === "reads" ? "read" : "write"} ${param} [${place}]`,
    ...(over.length ? [`for ${over.join(", ")}`] : []),
    ...(when.length ? [`if ${when.join(" and ")}`] : []),
  ].join(" ");
}

/** The footprint as text, a line each. */
export const printFootprint = (kernel: Kernel): string =>
  footprintOf(kernel)
    .map((t) => `${printTouched(t)}\n`)
    .join("");
