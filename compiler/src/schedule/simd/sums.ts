/**
 * Long sums in f32: terms are added up in blocks, and the blocks' sums are added to the total with
 * compensation (Kahan 1965), so that the error is that of a block, however many there are. Works
 * on the statements that a schedule made, whatever loops it chose; integers and doubles stay as
 * they are.
 *
 * Why not f64: it halves the lanes, and a blocked f32 sum is as exact as its operands warrant. Why
 * not compensate every term: four dependent additions a term instead of one; a block of 64 pays
 * them once.
 */
import { addDim, maxOfDim, minDim, subDim } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { ref } from "../../kernel/expr.ts";
import type { Of, Stmt } from "../../kernel/kernel.ts";
import { mapBlock, mapStmts } from "../../kernel/map.ts";
import { plainName } from "../../kernel/names.ts";
import { bodyOf } from "../../kernel/parts.ts";
import { eachStmt } from "../../kernel/walk.ts";
import { sums as limits } from "../../machine/wasm.ts";
import { promote } from "../accumulator-moves.ts";
import { addToTotal, compensated, declareF32, declareRest } from "../compensate.ts";

type Loop = Of<"loop">;

/** The statements with long sums of f32, and of halves as f32, in blocks. */
export function blockSums(body: readonly Stmt[]): Stmt[] {
  const halves: string[] = [];
  eachStmt(body, (s) => {
    if (s.kind === "acc" && s.dtype !== compensated(s.dtype) && compensated(s.dtype))
      if (chainIn(body, s.name) > 2 * limits.chain) halves.push(s.name);
  });
  return sumsInBlocks(halves.reduce((all, name) => promote(all, name, "f32"), body));
}

function sumsInBlocks(body: readonly Stmt[]): Stmt[] {
  const accs = new Set<string>();
  return body.flatMap((s) => {
    if (s.kind === "acc" && compensated(s.dtype)) accs.add(s.name);
    const own = inside(s);
    const long = [...accs].filter((name) => chainOf(own, name) > 2 * limits.chain);
    if (long.length === 0) return [own];
    return [...long.map(declareRest), ...cut(own, long)];
  });
}

/** The statement with those sums in blocks that are declared in it. */
const inside = (s: Stmt): Stmt => mapBlock(s, sumsInBlocks);

/** The most terms that the sum takes in one after the other. */
function chainOf(s: Stmt, name: string): number {
  if (s.kind === "accumulate") return s.name === name && s.reducer === "sum" ? 1 : 0;
  const inner = chainIn(bodyOf(s), name);
  return s.kind === "loop" && inner > 0 ? Math.ceil(iterations(s) / waysOf(s)) * inner : inner;
}

const chainIn = (body: readonly Stmt[], name: string): number =>
  body.reduce((n, t) => n + chainOf(t, name), 0);

const longest = (body: readonly Stmt[], names: readonly string[]): number =>
  Math.max(0, ...names.map((name) => chainIn(body, name)));

const iterations = (s: Loop): number => maxOfDim(subDim(s.extent, s.start ?? 0)) / (s.step ?? 1);

/**
 * Accumulators that take turns in a loop; one where a place known only at run time keeps it from
 * running in lanes.
 */
function waysOf(s: Loop): number {
  let [sums, lanes] = [0, s.loop === "simd"];
  eachStmt(s.body, (t) => {
    if (t.kind === "accumulate") sums++;
    else if (t.kind === "letDynamic" || t.kind === "if") lanes = false;
  });
  if (!lanes) return 1;
  return (sums > 1 ? limits.someInLanes : limits.oneInLanes) / limits.chain;
}

/** The statement with blocks of its sums, each of which may be long. */
function cut(s: Stmt, names: readonly string[]): Stmt[] {
  const used = names.filter((name) => chainOf(s, name) > 0);
  if (used.length === 0) return [s];
  if (longest([s], used) <= 2 * limits.chain) return inBlock(toBlocks([s], new Set(used)), used);
  if (s.kind === "if") return [{ ...s, then: s.then.flatMap((t) => cut(t, used)) }];
  if (s.kind !== "loop") return [s];
  const inner = longest(s.body, used);
  if (inner > limits.chain || s.loop === "unrolled")
    return [{ ...s, body: s.body.flatMap((t) => cut(t, used)) }];
  return [iterationsInBlocks(s, Math.floor(limits.chain / inner) * waysOf(s), used)];
}

/** The loop with `count` iterations a block. */
function iterationsInBlocks(s: Loop, count: number, names: readonly string[]): Stmt {
  const size = count * (s.step ?? 1);
  const start = makeLoop(`${plainName(s.name)}Block`, s.extent);
  const within = makeLoop(`${plainName(s.name)}In`, size);
  const { start: _, ...plain } = s;
  const part: Loop = {
    ...plain,
    name: within.name,
    extent: minDim(size, subDim(s.extent, start.at)),
    body: [
      { kind: "letIndex", name: s.name, value: addDim(start.at, within.at) },
      ...toBlocks(s.body, new Set(names)),
    ],
  };
  const body = inBlock([part], names);
  return { ...s, name: start.name, step: size, loop: "serial", body };
}

const blockOf = (name: string): string => `${name}Block`;

/** Statements that add to blocks, between the start of these and their addition to the totals. */
const inBlock = (body: readonly Stmt[], names: readonly string[]): Stmt[] => [
  ...names.map((name) => declareF32(blockOf(name))),
  ...body,
  ...names.flatMap((name) => addToTotal(name, ref(blockOf(name), "f32"))),
];

/** The statements with their additions to sums made to the blocks of these. */
const toBlocks = (body: readonly Stmt[], names: ReadonlySet<string>): Stmt[] =>
  mapStmts(body, {
    stmt: (s) =>
      s.kind === "accumulate" && s.reducer === "sum" && names.has(s.name)
        ? { ...s, name: blockOf(s.name) }
        : s,
  });
