/**
 * Prefetches for rows that are read once. Changes no value; only for rows of a known length.
 *
 * Why: a processor fetches ahead by itself, but not beyond the page at hand (4 KiB), and a row of
 * 1024 elements is a page. While one row is computed, lines of a later one are brought near: by a
 * load whose value is dropped, since WebAssembly has no prefetch. Such a load holds up what comes
 * after it, so that only a loop that waits for arithmetic bears it: softmax 4096×1024 went from
 * 6.5 to 4.1 ms, layerNorm from 3.6 to 2.9. A prefetch of every line in a plain sum made it slower
 * (4.5 to 5.0 ms), and so did those of results in layerNorm, of rows of 256 elements, and of what
 * a product's epilogue writes (docs/decisions/wasm-target.md).
 */
import {
  addDim,
  type Dim,
  hasOp,
  isStatic,
  keyOfDim,
  loopVar,
  minDim,
  opRecord,
  subDim,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";
import type { Of, Stmt } from "../../kernel/kernel.ts";
import { mapBlock } from "../../kernel/map.ts";
import { indexName } from "../../kernel/names.ts";
import { strideOf } from "../../kernel/stride.ts";
import { eachStmt, walkStmts } from "../../kernel/walk.ts";
import { prefetches as limits } from "../../machine/wasm.ts";

type Loop = Of<"loop">;
type Prefetch = Of<"prefetch">;

/**
 * The statements of a kernel whose last one is the loop over its rows, with prefetches in it. Where
 * values are costly, memory has time: the lines of a later row that will be read, and of this one
 * that will be written, are prefetched there. Otherwise those that will be read are prefetched
 * where the row is used last; where it is used once, once a page.
 */
export function prefetchAhead(body: readonly Stmt[]): readonly Stmt[] {
  const rows = body.at(-1);
  if (rows?.kind !== "loop" || rows.loop !== "parallel" || rows.step || rows.start) return body;
  const lines = linesIn(rows.body);
  const costly = lines.findLast(isCostly);
  const at = costly ?? lines.at(-1);
  if (!at || !isStatic(at.extent) || at.extent < limits.shortest || at.extent > limits.longest)
    return body;
  if (isStatic(rows.extent) && rows.extent * at.extent < limits.leastElements) return body;
  const ahead = indexName("ahead");
  const reads = loadsOf(lines, streamed(rows, at)).map(
    ({ from, index }): Prefetch => ({
      kind: "prefetch",
      from,
      index: substitute(index, new Map([[rows.name, loopVar(ahead, rows.extent)]])),
    }),
  );
  if (reads.length === 0) return body;
  const after = costly ? lines.slice(lines.indexOf(costly) + 1) : [];
  const prefetches = [...reads, ...storesOf(after, streamed(rows, at))];
  const changed =
    lines.length > 1 || costly
      ? [{ ...at, body: [...prefetches, ...at.body] }]
      : [...oncePerPage(at, reads), at];
  const later = addDim(loopVar(rows.name, rows.extent), Math.ceil(limits.page / at.extent));
  const value = minDim(later, subDim(rows.extent, 1));
  const inside = [
    { kind: "letIndex", name: ahead, value } as const,
    ...replaced(rows.body, at, changed),
  ];
  return [...body.slice(0, -1), { ...rows, body: inside }];
}

/** The loops in lanes, in their order. */
function linesIn(body: readonly Stmt[]): Loop[] {
  const found: Loop[] = [];
  eachStmt(body, (s) => {
    if (s.kind === "loop" && s.loop === "simd") found.push(s);
  });
  return found;
}

/** True if something is computed that takes many instructions. */
function isCostly(l: Loop): boolean {
  let costly = false;
  walkStmts(l.body, {
    expr: (e) => {
      if (e.kind === "call" && hasOp(e.op) && opRecord(e.op).costly) costly = true;
    },
  });
  return costly;
}

/** Whether what lies at an index of a buffer runs along the line, and each row has its own. */
function streamed(rows: Loop, line: Loop): (buffer: string, index: Dim) => boolean {
  const own = new Set<string>();
  eachStmt(rows.body, (s) => {
    if (s.kind === "array" || s.kind === "letIndex" || s.kind === "letDynamic") own.add(s.name);
  });
  return (buffer, index) =>
    !own.has(buffer) &&
    strideOf(index, line.name) === 1 &&
    (strideOf(index, rows.name) ?? 0) >= (line.extent as number) &&
    ![...symbolsIn(index).keys()].some((name) => own.has(name));
}

type Chosen = ReturnType<typeof streamed>;

function loadsOf(lines: readonly Loop[], chosen: Chosen): Prefetch[] {
  const found = new Map<string, Prefetch>();
  walkStmts(lines, {
    expr: (e) => {
      if (e.kind === "load" && e.guard.length === 0 && e.dtype !== "f64" && chosen(e.from, e.index))
        found.set(`${e.from} ${keyOfDim(e.index)}`, {
          kind: "prefetch",
          from: e.from,
          index: e.index,
        });
    },
  });
  return [...found.values()];
}

function storesOf(lines: readonly Loop[], chosen: Chosen): Prefetch[] {
  const found: Prefetch[] = [];
  eachStmt(lines, (s) => {
    if (s.kind === "store" && s.value.dtype !== "f64" && chosen(s.to, s.index))
      found.push({ kind: "prefetch", from: s.to, index: s.index });
  });
  return found;
}

/** The prefetches for the first element of each page of the line. */
function oncePerPage({ name, extent }: Loop, prefetches: readonly Prefetch[]): Prefetch[] {
  const pages = Array.from(
    { length: Math.ceil((extent as number) / limits.page) },
    (_, i) => i * limits.page,
  );
  return prefetches.flatMap((t) =>
    pages.map((at) => ({ ...t, index: substitute(t.index, new Map([[name, at]])) })),
  );
}

/** The statements with one of them, or of those inside them, replaced. */
function replaced(body: readonly Stmt[], old: Stmt, by: readonly Stmt[]): Stmt[] {
  return body.flatMap((s): readonly Stmt[] => {
    if (s === old) return by;
    return [mapBlock(s, (inner) => replaced(inner, old, by))];
  });
}
