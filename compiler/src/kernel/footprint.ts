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
import { type Access, bodyOf, exprsOf, touchesOf } from "./parts.ts";
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

/** Where in a kernel something is touched. */
export interface Place {
  readonly statement: Stmt;
  /** Counts statements; stores that stand together, whose values are taken first, are one. */
  readonly run: number;
  /** The blocks that it stands in, outer before inner, each with the ranges known at its end. */
  readonly blocks: readonly { readonly ranges: readonly Range[] }[];
  /** Whether the access has guards of its own. */
  readonly guarded: boolean;
}

export type Placed = Touched & { readonly at: Place };

/** What is touched of the parameters, each thing once; scratch memory is the kernel's own. */
export function footprintOf(kernel: Kernel): Touched[] {
  const lines = new Map<string, Touched>();
  for (const { at: _, ...touched } of touchedIn(kernel)) {
    const line = printTouched(touched);
    if (!lines.has(line)) lines.set(line, touched);
  }
  return [...lines.values()];
}

/** The footprint with all places at which each thing is touched, in order. */
export function touchedIn(kernel: Kernel): Placed[] {
  const found = new Footprint(kernel);
  found.block(kernel.body, { ranges: [], guards: [], lets: new Map(), loose: new Set() }, []);
  return found.touched;
}

/** What is known at a statement. */
interface Around {
  readonly ranges: readonly Range[];
  readonly guards: readonly Condition[];
  /** Index variables that stand for expressions of the ranges. */
  readonly lets: ReadonlyMap<string, Dim>;
  /** Index variables that only the run knows. */
  readonly loose: ReadonlySet<string>;
}

class Footprint {
  readonly touched: Placed[] = [];
  readonly #workgroupSize: number;
  readonly #params: ReadonlySet<string>;
  #run = 0;

  constructor(kernel: Kernel) {
    this.#workgroupSize = kernel.workgroupSize;
    const own = kernel.params.filter((p) => p.access !== "scratch");
    this.#params = new Set(own.map((p) => p.name));
  }

  block(body: readonly Stmt[], outer: Around, outside: Place["blocks"]): void {
    let at = outer;
    const own = { ranges: outer.ranges };
    const blocks = [...outside, own];
    for (const [i, s] of body.entries()) {
      if (s.kind !== "store" || body[i - 1]?.kind !== "store") this.#run++;
      const place = { statement: s, run: this.#run, blocks, guarded: false };
      for (const e of exprsOf(s)) this.#loads(e, at, place);
      for (const t of touchesOf(s)) this.#touch(t.memory, t.how, t.index, [], at, place);
      if (s.kind === "loop") this.block(s.body, this.#inLoop(s, at), blocks);
      else if (s.kind === "if") {
        const guards = [...at.guards, ...resolvedAll(s.when, at)];
        this.block(s.then, { ...at, guards }, blocks);
      } else this.block(bodyOf(s), at, blocks);
      at = this.#after(s, at);
    }
    own.ranges = at.ranges;
  }

  #inLoop(s: Of<"loop">, at: Around): Around {
    const [start, end] = [s.start ?? 0, s.extent].map((d) => resolved(d, at));
    const range = { name: s.name, start: start!, end: end!, step: s.step ?? 1 };
    return { ...at, ranges: [...at.ranges, range] };
  }

  #after(s: Stmt, at: Around): Around {
    if (s.kind === "letIndex") {
      const lets = new Map(at.lets).set(s.name, resolved(s.value, at));
      return { ...at, lets };
    }
    if (s.kind === "letInvocation" || s.kind === "letSubgroup") {
      const range = { name: s.name, start: 0, end: this.#workgroupSize, step: 1 };
      return { ...at, ranges: [...at.ranges, range] };
    }
    if (s.kind === "letDynamic") return { ...at, loose: new Set(at.loose).add(s.name) };
    return at;
  }

  #loads(e: Expr, at: Around, place: Place): void {
    walkExpr(e, {
      expr: (x) => {
        if (x.kind !== "load") return;
        const there = { ...place, guarded: x.guard.length > 0 };
        this.#touch(x.from, "reads", x.index, x.guard, at, there);
      },
    });
  }

  #touch(
    param: string,
    how: Access,
    index: Dim | undefined,
    guard: readonly Condition[],
    at: Around,
    place: Place,
  ): void {
    if (!this.#params.has(param)) return;
    const touched = { param, ...this.#access(index, guard, at), at: place };
    for (const one of how === "updates" ? (["reads", "writes"] as const) : [how])
      this.touched.push({ ...touched, how: one });
  }

  #access(
    index: Dim | undefined,
    guard: readonly Condition[],
    at: Around,
  ): Omit<Touched, "param" | "how"> {
    const place = index === undefined ? undefined : resolved(index, at);
    const known = place !== undefined && !speaks(place, at.loose) ? place : undefined;
    const guards = [...at.guards, ...resolvedAll(guard, at)].filter(
      (c) => !speaks(c.value, at.loose),
    );
    const ranges = neededRanges(
      known === undefined ? [] : [known, ...guards.map((g) => g.value)],
      at,
    );
    const kept = known === undefined ? [] : guards;
    const affine =
      known !== undefined && ranges.every((r) => strideOf(known, r.name) !== undefined);
    const all = guards.length === at.guards.length + guard.length;
    return { index: known, ranges, guards: kept, known: all, affine };
  }
}

const resolved = (d: Dim, { lets }: Around): Dim => substitute(d, lets);
const resolvedAll = (when: readonly Condition[], at: Around): Condition[] =>
  when.map((c) => ({ ...c, value: resolved(c.value, at) }));
const speaks = (d: Dim, names: ReadonlySet<string>): boolean =>
  names.size > 0 && [...symbolsIn(d).keys()].some((name) => names.has(name));

/** The ranges that some expressions speak of, and those that these speak of. */
function neededRanges(dims: readonly Dim[], { ranges }: Around): Range[] {
  const needed = new Set(dims.flatMap((d) => [...symbolsIn(d).keys()]));
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
