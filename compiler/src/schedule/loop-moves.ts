/**
 * Transformations of loops. A move takes the statements of a kernel and gives those of another that
 * computes the same, bit for bit; where it cannot, it says why. It names loops without their mark,
 * and changes all of one name: the phases of a row have the same inner loops. What a loop is marked
 * says what may be done with it; a move never makes that up.
 */
import {
  addDim,
  type Dim,
  floorDiv,
  isStatic,
  keyOfDim,
  maxOfDim,
  minDim,
  modDim,
  mulDim,
  ofAtom,
  printDim,
  subDim,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";
import { type Loop as GroupLoop, makeLoop } from "../fuse/group.ts";
import type { LoopKind, Of, Stmt } from "../kernel/kernel.ts";
import { mapBlock, type Rename, substituteIn } from "../kernel/map.ts";
import { indexName, plainName } from "../kernel/names.ts";
import { bindingOf } from "../kernel/parts.ts";
import { dimsIn, eachStmt } from "../kernel/walk.ts";
import { collapse, decode, nest, totalOf } from "../lower/loops.ts";

type Loop = Of<"loop">;
/** A loop of a group, or of a kernel. */
export type Extent = Pick<Loop, "name" | "extent">;

/** Thrown inside of moves; `attempt` makes a value of it. */
export class Refused extends Error {
  /** True if the program has no room for the move, however a schedule chose it. */
  readonly byProgram: boolean;

  constructor(why: string, byProgram: boolean) {
    super(why);
    this.byProgram = byProgram;
  }
}

export function refuse(why: string): never {
  throw new Refused(why, false);
}

/** Refuses what some programs do not allow, which a schedule may try without knowing. */
export function unfit(why: string): never {
  throw new Refused(why, true);
}

/** The statements, each loop of a name replaced; refused where there is none. */
export function replaceLoops(
  body: readonly Stmt[],
  name: string,
  by: (l: Loop) => readonly Stmt[],
): Stmt[] {
  let found = false;
  const inside = (stmts: readonly Stmt[]): Stmt[] =>
    stmts.flatMap((s): readonly Stmt[] => {
      if (s.kind !== "loop" || s.name !== indexName(name)) return [mapBlock(s, inside)];
      found = true;
      return by(s);
    });
  const out = inside(body);
  return found ? out : refuse(`there is no loop ${name}`);
}

const isPlain = (l: Loop): boolean => l.start === undefined && l.step === undefined;

/** The variable of a loop that counts from 0 by 1, of the range that its statements know. */
export const variableOf = (l: Loop): Dim =>
  isPlain(l) ? counterOf(l) : refuse(`${plainName(l.name)} does not count from 0 by 1`);

/** The same where a loop counts in steps. */
export function counterOf(l: Loop): Dim {
  for (const d of dimsIn(l.body)) {
    const known = symbolsIn(d).get(l.name);
    if (known) return ofAtom(known);
  }
  return makeLoop(plainName(l.name), l.extent).at;
}

/** A loop over something new, of a name that nothing has. */
export function freshLoop(body: readonly Stmt[], wanted: string, extent: Dim): GroupLoop {
  const loop = makeLoop(wanted, extent);
  eachStmt(body, (s) => {
    if (bindingOf(s)?.name === loop.name) refuse(`there is a ${wanted} already`);
  });
  return loop;
}

export const count = (text: string | undefined): number => {
  const n = Number(text);
  return Number.isInteger(n) && n > 0 ? n : refuse(`${text} is no number of iterations`);
};

/** Runs of loops of one kind that stand directly in one another, the innermost runs first. */
function chainsIn(body: readonly Stmt[]): Loop[][] {
  const chains: Loop[][] = [];
  const inner = new Set<Stmt>();
  eachStmt(body, (s) => {
    if (s.kind !== "loop" || inner.has(s)) return;
    const chain = [s];
    for (let [next, more] = s.body; next?.kind === "loop" && !more; [next, more] = next.body) {
      if (next.loop !== s.loop || !isPlain(next) || !isPlain(s)) break;
      chain.push(next);
      inner.add(next);
    }
    chains.unshift(chain);
  });
  return chains;
}

const keyOfChain = (chain: readonly Loop[]): string =>
  chain.map((l) => `${l.name}<${keyOfDim(l.extent)}`).join(" ");

/** Merges neighbouring loops wherever every access walks both as one run of memory. */
export function merge(body: readonly Stmt[]): readonly Stmt[] {
  const dims = [...new Map(dimsIn(body).map((d) => [keyOfDim(d), d])).values()];
  const chains = chainsIn(body);
  // What a name stands for must be the same wherever it occurs.
  const keys = new Map<string, Set<string>>();
  for (const chain of chains)
    for (const l of chain) keys.set(l.name, (keys.get(l.name) ?? new Set()).add(keyOfChain(chain)));
  let rename: Rename = new Map();
  const merged = new Map<string, readonly GroupLoop[]>();
  for (const chain of chains) {
    const key = keyOfChain(chain);
    if (merged.has(key) || chain.some((l) => keys.get(l.name)!.size > 1)) continue;
    const loops = chain.map(loopLike);
    const found = collapse(loops, rename, (r) => dims.map((d) => substitute(d, r)));
    merged.set(key, found.loops);
    rename = found.rename;
  }
  if (rename.size === 0) return body;
  const first = new Map(chains.map((chain) => [chain[0] as Stmt, chain]));
  const inside = (stmts: readonly Stmt[]): Stmt[] =>
    stmts.flatMap((s) => {
      const chain = first.get(s);
      const loops = chain && merged.get(keyOfChain(chain));
      if (!loops) return [mapBlock(s, inside)];
      return nest(loops, chain[0]!.loop, inside(chain.at(-1)!.body));
    });
  return substituteIn(inside(body), rename);
}

/** What a loop may be marked, by what is true of it. */
const weaker: Readonly<Record<LoopKind, readonly LoopKind[]>> = {
  parallel: ["parallel", "simd", "vector", "serial", "unrolled"],
  simd: ["simd", "serial", "unrolled"],
  vector: ["vector", "serial", "unrolled"],
  serial: ["serial", "unrolled"],
  unrolled: ["unrolled", "serial"],
  workgroup: [],
  local: [],
};

/** Marks how loops run; the last argument says it. */
export function mark(body: readonly Stmt[], ...args: readonly string[]): readonly Stmt[] {
  const [names, kind] = [args.slice(0, -1), args.at(-1) as LoopKind];
  const marked = (l: Loop): Stmt => {
    if (!weaker[l.loop].includes(kind)) refuse(`${plainName(l.name)} is ${l.loop}, not ${kind}`);
    if ((kind === "unrolled" || kind === "vector") && maxOfDim(l.extent) === Infinity)
      refuse(`${plainName(l.name)} has ${printDim(l.extent)} iterations`);
    return { ...l, loop: kind };
  };
  return names.reduce((b, name) => replaceLoops(b, name, (l) => [marked(l)]), body);
}

/** Writes out so many iterations in each of a loop; those that are left are a loop of their own. */
export function unroll(body: readonly Stmt[], name: string, times: string): readonly Stmt[] {
  return replaceLoops(body, name, (l) => {
    const within = freshLoop(body, "e", count(times));
    const by = new Map([[l.name, addDim(variableOf(l), within.at)]]);
    if (l.loop !== "parallel" && l.loop !== "serial") refuse(`${name} is ${l.loop}`);
    const whole = modDim(l.extent, count(times)) === 0;
    const extent = whole ? l.extent : mulDim(floorDiv(l.extent, count(times)), count(times));
    const inner = nest([within], "unrolled", substituteIn(l.body, by));
    const main: Stmt = { ...l, extent, step: count(times), body: inner };
    return whole ? [main] : [main, { ...l, start: extent }];
  });
}

/** The statements of an unrolled loop, repeated: printers weigh a loop as many statements. */
export function writeOut(body: readonly Stmt[], name: string): readonly Stmt[] {
  return replaceLoops(body, name, (l) => {
    const { extent } = l;
    if (l.loop !== "unrolled" || !isStatic(extent)) return refuse(`${name} is ${l.loop}`);
    eachStmt(l.body, (s) => {
      const bound = bindingOf(s)?.name;
      if (bound !== undefined) refuse(`${plainName(bound)} would be bound several times`);
    });
    return Array.from({ length: extent }, (_, i) =>
      substituteIn(l.body, new Map([[l.name, i]])),
    ).flat();
  });
}

/** The loops of these names as moves left them, the outermost first; of phases, the first one's. */
export function loopsOf(body: readonly Stmt[], named: readonly Extent[]): Loop[] {
  const names = new Set(named.map((l) => l.name));
  const found = new Map<string, Loop>();
  eachStmt(body, (s) => {
    if (s.kind === "loop" && names.has(s.name) && !found.has(s.name)) found.set(s.name, s);
  });
  return [...found.values()];
}

/**
 * Cuts a loop into blocks: a loop over their starts, and one over the iterations of a block, the
 * last of which may be shorter. The variable is bound anew from the two; `inline` puts them where
 * it is used. A loop that counts in steps is cut into blocks of whole ones.
 */
export function split(
  body: readonly Stmt[],
  name: string,
  size: string,
  block = `${name}Block`,
  within = `${name}In`,
): readonly Stmt[] {
  return replaceLoops(body, name, (l) => {
    if (l.start !== undefined) refuse(`${name} does not count from 0`);
    if (!weaker[l.loop].includes("serial") || l.loop === "unrolled" || l.loop === "vector")
      refuse(`${name} is ${l.loop}`);
    if (count(size) % (l.step ?? 1) !== 0) refuse(`${name} counts by ${l.step}, not by ${size}`);
    const start = freshLoop(body, block, l.extent);
    const part = freshLoop(body, within, count(size));
    const whole = modDim(l.extent, count(size)) === 0;
    const extent = whole ? count(size) : minDim(count(size), subDim(l.extent, start.at));
    const bind: Stmt = { kind: "letIndex", name: l.name, value: addDim(start.at, part.at) };
    const inner: Stmt = { ...l, name: part.name, extent, body: [bind, ...l.body] };
    return [{ ...l, name: start.name, step: count(size), body: [inner] }];
  });
}

/** Puts what an index is bound to where it is used. */
export function inline(body: readonly Stmt[], name: string): readonly Stmt[] {
  const bound = body.findIndex((s) => s.kind === "letIndex" && s.name === indexName(name));
  const [before, after] = bound < 0 ? [body, []] : [body.slice(0, bound), body.slice(bound + 1)];
  const kept = before.map((s) => mapBlock(s, (inner) => inline(inner, name)));
  if (bound < 0) return kept;
  const { value } = body[bound] as Of<"letIndex">;
  return [...kept, ...substituteIn(after, new Map([[indexName(name), value]]))];
}

/** The loops of these names, which stand directly in one another and are of one kind. */
export function nestOf(l: Loop, names: readonly string[]): Loop[] {
  const loops = [l];
  for (const name of names.slice(1)) {
    const [only, more] = loops.at(-1)!.body;
    if (only?.kind !== "loop" || more || only.name !== indexName(name))
      return refuse(`${name} does not stand directly in ${plainName(loops.at(-1)!.name)}`);
    if (only.loop !== l.loop) refuse(`${name} is ${only.loop}, ${names[0]} ${l.loop}`);
    loops.push(only);
  }
  if (!loops.every(isPlain)) refuse(`${names[0]} does not count from 0 by 1`);
  return loops;
}

/** A loop of a kernel as those of groups are. */
export const loopLike = (l: Extent): GroupLoop => makeLoop(plainName(l.name), l.extent);

/**
 * Makes one loop of several that stand directly in one another; it says where each of them is. Of
 * none, a loop that runs the whole kernel once.
 */
export function flatten(
  body: readonly Stmt[],
  as: string,
  ...names: readonly string[]
): readonly Stmt[] {
  if (names.length === 0) return nest([freshLoop(body, as, 1)], "parallel", body);
  return replaceLoops(body, names[0]!, (l) => {
    const loops = nestOf(l, names);
    const all = loops.map(loopLike);
    const flat = freshLoop(body, as, totalOf(all));
    return nest([flat], l.loop, [...decode(all, flat.at), ...loops.at(-1)!.body]);
  });
}

/**
 * Puts a loop outside of another, in which it stands with nothing beside it but indices; with it go
 * indices that depend on no loop in between. For loops of which each iteration is independent.
 */
export function reorder(body: readonly Stmt[], name: string, before: string): readonly Stmt[] {
  return replaceLoops(body, before, (outer) => {
    const bound = new Set<string>();
    const inBetween = (d: Dim): string | undefined =>
      [...symbolsIn(d).keys()].find((symbol) => bound.has(symbol));
    const inside = (l: Loop): { moved: Loop; left: Stmt } => {
      if (l.loop !== "parallel") refuse(`${plainName(l.name)} is ${l.loop}, not parallel`);
      const next = l.body.at(-1);
      const indices = l.body.slice(0, -1);
      if (next?.kind !== "loop" || indices.some((s) => s.kind !== "letIndex"))
        return refuse(`${name} does not stand in ${plainName(l.name)} with nothing beside it`);
      for (const s of [l, ...indices]) bound.add(bindingOf(s)!.name);
      const around = (left: readonly Stmt[]): Stmt => ({ ...l, body: [...indices, ...left] });
      if (next.name !== indexName(name)) {
        const { moved, left } = inside(next);
        return { moved, left: around([left]) };
      }
      const own = next.body.findIndex((s) => s.kind !== "letIndex" || inBetween(s.value));
      const moved = { ...next, body: next.body.slice(0, Math.max(0, own)) };
      return { moved, left: around(next.body.slice(Math.max(0, own))) };
    };
    const { moved, left } = inside(outer);
    if (moved.loop !== "parallel") refuse(`${name} is ${moved.loop}, not parallel`);
    const loop = inBetween(moved.extent) ?? inBetween(moved.start ?? 0);
    if (loop !== undefined) refuse(`${name} depends on ${plainName(loop)}`);
    return [{ ...moved, body: [...moved.body, left] }];
  });
}
