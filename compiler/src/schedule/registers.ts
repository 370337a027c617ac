/**
 * The move that makes a register tile: an accumulator for each iteration of some loops, all of
 * which run along one loop together, so that what several of them need is loaded once.
 */
import {
  type Dim,
  isFloat,
  isStatic,
  maxOfDim,
  modDim,
  mulDim,
  offsetOf,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";
import { load, ref } from "../kernel/expr.ts";
import type { Expr, Of, Stmt } from "../kernel/kernel.ts";
import { mapBlock, mapStmts } from "../kernel/map.ts";
import { indexName, plainName } from "../kernel/names.ts";
import { bindingOf, bodyOf, changedNames } from "../kernel/parts.ts";
import { strideOf } from "../kernel/stride.ts";
import { eachStmt, walkStmts } from "../kernel/walk.ts";
import { texts } from "../sizes.ts";
import { changes } from "./accumulator-moves.ts";
import { loopLike, refuse, variableOf } from "./loop-moves.ts";

type Loop = Of<"loop">;
type Acc = Of<"acc">;

/**
 * `registers r s`: the loops `r` and `s`, which stand in one another around accumulators and a loop
 * that they run along, are written out in it; what follows has the accumulators in an array, and
 * its loops as before. Iterations that an edge has not are computed too, of what a staged array has
 * there, and dropped.
 */
export function registers(body: readonly Stmt[], ...names: readonly string[]): readonly Stmt[] {
  if (names.length === 0) refuse("a tile has one loop or more");
  const wanted = names.map(indexName);
  const arrays: Stmt[] = [];
  const inside = (stmts: readonly Stmt[]): readonly Stmt[] =>
    stmts.flatMap((s): readonly Stmt[] => {
      if (s.kind !== "loop" || !wanted.includes(s.name)) return [mapBlock(s, inside)];
      const tile = new Tile(body, s, wanted);
      if (arrays.length > 0) refuse(`there are several loops ${plainName(s.name)}`);
      arrays.push(...tile.arrays);
      return tile.body();
    });
  const out = inside(body);
  return arrays.length > 0 ? [...arrays, ...out] : refuse(`there is no loop ${names[0]}`);
}

/** Which iteration of loops of the tile a copy is for. */
type Place = ReadonlyMap<string, number>;

class Tile {
  /** The loops around the accumulators as they stand, and the indices in each of them. */
  readonly #levels: { readonly loop: Loop; readonly indices: readonly Stmt[] }[] = [];
  /** Iterations by loop, in the order of the tile. */
  readonly #sizes: ReadonlyMap<string, number>;
  readonly #accs: readonly Acc[];
  readonly #run: Loop;
  readonly #rest: readonly Stmt[];
  /** On which loops of the tile names depend. */
  readonly #depends = new Map<string, ReadonlySet<string>>();
  /** Of the kernel: how large arrays are, and loops that count in steps by what counts by 1. */
  readonly #arrays = new Map<string, Dim>();
  readonly #steps = new Map<string, Dim>();

  constructor(kernel: readonly Stmt[], outermost: Loop, names: readonly string[]) {
    let line: readonly Stmt[] = [outermost];
    while (this.#levels.length < names.length) {
      const loop = line.at(-1);
      if (loop?.kind !== "loop" || line.length > 1 || !names.includes(loop.name))
        refuse(`${names.map(plainName).join(" ")} do not stand in one another`);
      if (loop.loop !== "parallel") refuse(`${plainName(loop.name)} is ${loop.loop}`);
      variableOf(loop);
      const first = Math.max(
        0,
        loop.body.findIndex((s) => s.kind !== "letIndex"),
      );
      this.#levels.push({ loop, indices: loop.body.slice(0, first) });
      line = loop.body.slice(first);
    }
    this.#sizes = new Map(names.map((name) => [name, this.#sizeOf(name)]));
    const at = line.findIndex((s) => s.kind === "loop");
    const [run, accs] = [line[at], line.slice(0, Math.max(0, at))];
    if (run?.kind !== "loop" || accs.length === 0 || !accs.every((s) => s.kind === "acc"))
      refuse(`accumulators and a loop do not stand in ${plainName(names.at(-1)!)}`);
    [this.#run, this.#accs, this.#rest] = [run, accs, line.slice(at + 1)];
    for (const { name } of accs)
      if (this.#rest.some((s) => changes(s, name))) refuse(`${name} is changed after the loop`);
    eachStmt(kernel, (s) => {
      if (s.kind === "array") this.#arrays.set(s.name, s.size);
      if (s.kind === "loop" && s.step) this.#steps.set(s.name, mulDim(loopLike(s).at, s.step));
    });
  }

  #sizeOf(name: string): number {
    const most = maxOfDim(this.#levels.find(({ loop }) => loop.name === name)!.loop.extent);
    if (most <= texts.written) return most;
    return refuse(`${plainName(name)} has more than ${texts.written} iterations`);
  }

  get arrays(): Stmt[] {
    const size = [...this.#sizes.values()].reduce((a, b) => a * b, 1);
    return this.#accs.map(({ name, dtype }) => {
      return { kind: "array", name: arrayOf(name), dtype, size, space: "private" };
    });
  }

  body(): Stmt[] {
    const sums = [...this.#accs, this.#run].flatMap((s) => this.#copies(s));
    const stores = this.#accs.flatMap(({ name, dtype }) =>
      this.#places(new Set(this.#sizes.keys())).map((place): Stmt => {
        const value = ref(this.#nameAt(name, place), dtype);
        return { kind: "store", to: arrayOf(name), index: this.#index(place), value };
      }),
    );
    let rest: readonly Stmt[] = mapStmts(this.#rest, {
      replace: (e) => this.#rounded(e),
      expr: (e) => this.#read(e),
    });
    for (const { loop, indices } of [...this.#levels].reverse())
      rest = [{ ...loop, body: [...indices, ...rest] }];
    return [...sums, ...stores, ...rest];
  }

  /** The statement for each iteration of the loops that it depends on. */
  #copies(s: Stmt): Stmt[] {
    if (s.kind === "loop") {
      if (this.#loopsIn([s.extent, s.start ?? 0]).length > 0)
        refuse(`${plainName(s.name)} differs in length`);
      return [{ ...s, body: s.body.flatMap((t) => this.#copies(t)) }];
    }
    const own = this.#dependsOn(s);
    const on = s.kind === "acc" ? new Set(this.#sizes.keys()) : own;
    if (bodyOf(s).length > 0 || (on.size > 0 && !copied.has(s.kind)))
      refuse(`${s.kind} stands in ${plainName(this.#run.name)}`);
    const bound = bindingOf(s)?.name;
    if (bound !== undefined) this.#depends.set(bound, on);
    return this.#places(on).map((place) => this.#copyAt(s, place));
  }

  #dependsOn(s: Stmt): Set<string> {
    const on = new Set<string>();
    const add = (name: string): void => {
      for (const n of this.#depends.get(name) ?? []) on.add(n);
    };
    for (const name of changedNames(s)) add(name);
    walkStmts([s], {
      expr: (e) => {
        if (e.kind === "ref") add(e.name);
        if (e.kind === "load") this.#checkEdge(e.from, e.index);
      },
      dim: (d) => {
        for (const name of this.#loopsIn([d])) on.add(name);
      },
    });
    return on;
  }

  /** The loops of the tile that index expressions mention. */
  #loopsIn(dims: readonly Dim[]): string[] {
    const names = dims.flatMap((d) => [...symbolsIn(d).keys()]);
    for (const name of names)
      if (this.#levels.some((l) => l.indices.some((s) => bindingOf(s)!.name === name)))
        refuse(`${plainName(name)} is used in the loop`);
    return names.filter((name) => this.#sizes.has(name));
  }

  /** Refuses loads that may lie outside where an edge has fewer iterations. */
  #checkEdge(from: string, index: Dim): void {
    for (const { loop } of this.#levels) {
      if (isStatic(loop.extent) || !symbolsIn(index).has(loop.name)) continue;
      const most = this.#sizes.get(loop.name)!;
      const first = substitute(index, new Map([...this.#steps, [loop.name, 0]]));
      // Runs of so many elements, of which one that begins inside ends inside.
      const size = this.#arrays.get(from);
      const runs = size !== undefined && modDim(first, most) === 0 && modDim(size, most) === 0;
      if (strideOf(index, loop.name) !== 1 || !runs)
        refuse(`${plainName(from)} may end before ${plainName(loop.name)} does`);
    }
  }

  /** All iterations of some loops of the tile. */
  #places(on: ReadonlySet<string>): Place[] {
    let places: Place[] = [new Map()];
    for (const [name, size] of this.#sizes)
      if (on.has(name))
        places = places.flatMap((p) =>
          Array.from({ length: size }, (_, i) => new Map([...p, [name, i] as const])),
        );
    return places;
  }

  #nameAt(name: string, place: Place): string {
    const on = this.#depends.get(name) ?? new Set();
    return name + [...this.#sizes.keys()].map((n) => (on.has(n) ? place.get(n) : "")).join("");
  }

  #copyAt(s: Stmt, place: Place): Stmt {
    const [copy] = mapStmts([s], {
      dim: (d) => substitute(d, place),
      expr: (e) => (e.kind === "ref" ? { ...e, name: this.#nameAt(e.name, place) } : e),
      stmt: (t) => ("name" in t ? { ...t, name: this.#nameAt(t.name, place) } : t),
    });
    return copy!;
  }

  #index(place: ReadonlyMap<string, Dim>): Dim {
    return offsetOf(
      [...this.#sizes.values()],
      [...this.#sizes.keys()].map((n) => place.get(n)!),
    );
  }

  /** What follows the loop has an accumulator from memory. */
  #element(e: Expr): Expr | undefined {
    const acc = e.kind === "ref" && this.#accs.find((a) => a.name === e.name);
    if (!acc) return undefined;
    const at = new Map(this.#levels.map(({ loop }) => [loop.name, variableOf(loop)] as const));
    return load(arrayOf(acc.name), acc.dtype, this.#index(at));
  }

  /** The same of one that is rounded to what memory holds. */
  #rounded(e: Expr): Expr | undefined {
    const [arg] = e.kind === "call" && e.op === "convert" && e.stored ? e.args : [];
    return arg?.dtype === e.dtype ? this.#element(arg) : undefined;
  }

  #read(e: Expr): Expr {
    const element = this.#element(e);
    if (element && isFloat(e.dtype)) refuse("what is read of a sum is not rounded");
    return element ?? e;
  }
}

/** Statements that may differ between iterations. */
const copied: ReadonlySet<Stmt["kind"]> = new Set(["acc", "let", "set", "accumulate", "fma"]);

const arrayOf = (acc: string): string => `${acc}s`;
