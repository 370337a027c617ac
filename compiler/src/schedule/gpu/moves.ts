/**
 * Moves that spread loops over workgroups and their invocations. The loop whose iterations become
 * workgroups stands alone in the kernel: there is nothing that all of them could wait for.
 */
import {
  addDim,
  ceilDiv,
  type Dim,
  floorDiv,
  keyOfDim,
  maxOfDim,
  minOfDim,
  modDim,
  mulDim,
  type Reducer,
  subDim,
  substitute,
} from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { isFirst, onlyIf } from "../../kernel/conditions.ts";
import type { Of, Stmt } from "../../kernel/kernel.ts";
import { mapStmts, substituteIn } from "../../kernel/map.ts";
import { plainName } from "../../kernel/names.ts";
import { changedNames, partsOf } from "../../kernel/parts.ts";
import { accessesIn, eachStmt, walkStmts } from "../../kernel/walk.ts";
import { nest } from "../../lower/loops.ts";
import { changes } from "../accumulator-moves.ts";
import { count, freshLoop, loopLike, nestOf, refuse, variableOf } from "../loop-moves.ts";
import { once, perInvocation, within } from "./gpu.ts";
import { checkInvocation, checkMemory, checkStart, isLoop, loopIn, spread } from "./spread.ts";

type Loop = Of<"loop">;

/**
 * One invocation for each iteration of loops that stand directly in one another, in workgroups of
 * `size`. Without a loop, one invocation for all.
 */
export function grid(
  body: readonly Stmt[],
  size: string,
  ...names: readonly string[]
): readonly Stmt[] {
  const each = (loops: readonly Loop[], work: readonly Stmt[]): Stmt[] => {
    for (const name of ["chunk", "local"]) freshLoop(body, name, 1);
    return perInvocation(loops.map(loopLike), count(size), work);
  };
  const [first] = names;
  if (first !== undefined)
    return spread(body, first, (l) => {
      const loops = nestOf(l, names);
      return each(loops, loops.at(-1)!.body);
    });
  checkInvocation(body);
  return each([], body);
}

/** How invocations share a row. */
interface Sharing {
  readonly team: Pick<Of<"combine">, "team" | "apart">;
  /** An array of which each has what its iterations need. */
  array(a: Of<"array">): Stmt;
  /** Their part of a loop. */
  part(l: Loop): readonly Stmt[];
  /** What one of them does. */
  first(body: readonly Stmt[]): Stmt[];
}

/** A workgroup for each iteration of a loop; its invocations share those of another in it. */
export function cooperate(body: readonly Stmt[], row: string, name: string): readonly Stmt[] {
  return spread(body, row, (l) => {
    freshLoop(body, "first", 1);
    const by: Sharing = {
      team: {},
      array: (a) => refuse(`${a.name} has elements of all iterations`),
      part: (s) => [{ ...s, loop: "local" }],
      first: once,
    };
    return [{ ...l, loop: "workgroup", body: sharedRow(l.body, name, by) }];
  });
}

/**
 * A team of `team` invocations for each iteration of a loop, in workgroups of `size`; a team shares
 * the iterations of another loop in it, and its members are neighbours, or as far apart as there
 * are teams. An array with an element or vector an iteration becomes one with those of a member.
 */
export function teams(
  body: readonly Stmt[],
  row: string,
  name: string,
  team: string,
  size: string,
  apart?: string,
): readonly Stmt[] {
  return spread(body, row, (l) => {
    const [members, all] = [count(team), count(size)];
    if (all % members !== 0 || 2 ** Math.round(Math.log2(members)) !== members)
      refuse(`${size} invocations are no teams of ${team}`);
    const side = all / members;
    const lid = freshLoop(body, "lid", all);
    const [low, high] = [(n: number) => modDim(lid.at, n), (n: number) => floorDiv(lid.at, n)];
    const [number, member] = apart ? [low(side), high(side)] : [high(members), low(members)];
    const group = makeLoop(plainName(l.name), ceilDiv(l.extent, side));
    const at = addDim(mulDim(group.at, side), number);
    const rowWithin = within(at, l.extent, side);
    const shared = loopIn(l.body, name);
    const steps = ceilDiv(shared.extent, members);
    const step = freshLoop(body, "step", steps);
    const flat = addDim(mulDim(step.at, members), member);
    const mine = [...rowWithin, ...within(flat, shared.extent, members)];
    const row = ownElements(l.body, shared, step.at);
    const own = sharedRow(
      substituteIn(
        row,
        new Map([
          [shared.name, flat],
          [l.name, at],
        ]),
      ),
      name,
      {
        team: apart ? { team: members, apart: true } : side === 1 ? {} : { team: members },
        array: (a) => ({ ...a, size: mulDim(steps, a.width ?? 1) }),
        part: (s) => nest([step], "serial", onlyIf(mine, s.body)),
        first: (tail) => onlyIf([...rowWithin, isFirst(member)], tail),
      },
    );
    return nest([group], "workgroup", [{ kind: "letInvocation", name: lid.name }, ...own]);
  });
}

/**
 * A row whose loops of a name are shared; after each, what all found is combined, and after the
 * last, one invocation does the rest.
 */
function sharedRow(row: readonly Stmt[], name: string, by: Sharing): Stmt[] {
  const { extent } = loopIn(row, name);
  checkInvocation(row);
  checkMemory(row);
  const last = row.findLastIndex((s) => isLoop(s, name));
  const out = row.slice(0, last + 1).flatMap((s): readonly Stmt[] => {
    if (s.kind === "array") return [by.array(s)];
    // All of them run it: that none writes what another does is for loops that are shared.
    const [, how] = [...accessesIn([s])].find(([, h]) => h !== "read") ?? [];
    if (!isLoop(s, name))
      return partsOf(s).binds && !how ? [s] : refuse(`a ${s.kind} stands before ${name}`);
    if (s.loop !== "parallel" && s.loop !== "simd") refuse(`${name} is ${s.loop}`);
    if (keyOfDim(s.extent) !== keyOfDim(extent)) refuse(`${name} differs in length`);
    variableOf(s);
    return [...by.part(s), ...combined(row, s, by.team)];
  });
  const tail = row.slice(last + 1);
  return tail.length > 0 ? [...out, ...by.first(tail)] : out;
}

/** Combines the accumulators that a shared loop changes. */
function combined(row: readonly Stmt[], l: Loop, team: Sharing["team"]): Stmt[] {
  const names: string[] = [];
  const reducers: Reducer[] = [];
  const inside = new Set<string>();
  eachStmt(l.body, (s) => {
    if (s.kind === "acc") inside.add(s.name);
    for (const changed of changedNames(s)) {
      if (inside.has(changed)) continue;
      if (s.kind !== "accumulate") return refuse(`${changed} is no reduction`);
      const at = names.indexOf(changed);
      if (at >= 0 && reducers[at] !== s.reducer) refuse(`${changed} is two reductions`);
      if (at < 0) [names.push(changed), reducers.push(s.reducer)];
    }
  });
  for (const [i, acc] of names.entries()) {
    const declared = row.find((s): s is Of<"acc"> => s.kind === "acc" && s.name === acc);
    checkStart(acc, declared, reducers[i]!);
    if (row.some((s) => s !== l && changes(s, acc))) refuse(`${acc} is changed elsewhere`);
    walkStmts(l.body, {
      expr: (e) => {
        if (e.kind === "ref" && e.name === acc) refuse(`${acc} is read before it is whole`);
      },
    });
  }
  return names.length > 0 ? [{ kind: "combine", names, reducers, ...team }] : [];
}

/** A row in which arrays have the elements of a member, one or a vector for each step. */
function ownElements(row: readonly Stmt[], l: Loop, step: Dim): readonly Stmt[] {
  const widths = new Map(row.flatMap((s) => (s.kind === "array" ? [[s.name, s.width ?? 1]] : [])));
  if (widths.size === 0) return row;
  const [from, to] = [variableOf(l), new Map([[l.name, step]])];
  return mapStmts(row, {
    place: (memory, index) => {
      const width = widths.get(memory);
      if (width === undefined) return index;
      const within = subDim(index, mulDim(from, width));
      if (minOfDim(within) < 0 || maxOfDim(within) >= width)
        refuse(`${memory} has elements of other iterations`);
      return substitute(index, to);
    },
  });
}
