/**
 * Stages an operand's share of a step of K in workgroup memory, as tile[k·lines + line].
 * Neighbouring invocations take neighbouring elements in the direction in which the operand's
 * memory runs, so that loads are coalesced, four at a time where every load can; what is fused
 * into the operand is computed on the way. Lines beyond the last are loaded as well: they are
 * other elements of the buffer, which the device keeps every access within, and nothing reads what
 * comes of them.
 *
 * Why lines rotate: banks bound the writes. Across the memory's direction the lines are rotated by
 * two from one four of K to the next, at no cost in memory; an operand that comes one element at a
 * time has four words between its steps instead, which makes sixteen banks of eight and every
 * index a constant away from one address. Where workgroup memory is full, lines rotate there too.
 */
import {
  addDim,
  type Condition,
  type Dim,
  floorDiv,
  isFloat,
  minDim,
  modDim,
  mulDim,
  subDim,
  substitute,
  symbolsIn,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { isBelow } from "../../kernel/conditions.ts";
import { call, constant, ref } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { strideOf } from "../../kernel/stride.ts";
import { walkExpr } from "../../kernel/walk.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { nest, renamed } from "../../lower/loops.ts";
import { choose } from "../../lower/value.ts";
import { tileLoops } from "../../machine/products.ts";
import type { KOrder } from "./k-order.ts";
import { decoded, decodedQuads, type Lines, lineOf, quadOf } from "./lines.ts";
import { hasNativeHalf } from "./workgroup-limits.ts";

/** What loads and reads of tiles share. */
export interface Tile {
  readonly context: LoweringContext;
  readonly lane: { readonly name: string; readonly at: Dim };
  readonly me: Dim;
  readonly invocations: number;
  readonly depth: number;
  /** Whether workgroup memory has room for lines that stand apart. */
  readonly room: boolean;
  readonly walk: KOrder;
}

/**
 * A tile as matrices want it: in parts of so many lines, each plain, a line after the other or a
 * step of k.
 */
export interface Plain {
  readonly lines: number;
  /**
   * Elements between the ends of neighbouring lines or steps, so that they meet different banks.
   */
  readonly pad: number;
}

/**
 * Elements of a part, of `depth` steps: those of neighbouring parts meet different banks as well.
 */
export function partSize({ lines, pad }: Plain, depth: number, alongK: boolean): number {
  if (alongK) return lines * (depth + pad);
  return depth * (lines + pad) + (lines < tileLoops.bankedLines ? lines : 0);
}

/** Elements between the lines of one place of k and those of the next, where they stand apart. */
export const apart = 4;

export interface Loader {
  readonly name: string;
  /**
   * Whether the operand's memory runs along k; a plain tile then has a line after the other, else a
   * step of k.
   */
  readonly alongK: boolean;
  /** Elements between those, in a plain tile. */
  readonly stride: number;
  /** Lines of a part of a plain tile. */
  readonly lines: number;
  /** Where an element of a plain tile stands: the part, the line in it, and the step of k. */
  plain(part: Dim, line: Dim, k: Dim): Dim;
  readonly array: Stmt;
  /** Whether elements are brought four at a time, as lanes. */
  readonly wide: boolean;
  /** Variables that hold the elements on their way. */
  readonly held: readonly Stmt[];
  bring(step: Dim): Stmt[];
  readonly put: readonly Stmt[];
  /**
   * Where element `within` of four at `quad`, a four of lines, stands at the step `kQuad`·4 + `k`
   * of the tile.
   */
  index(quad: Dim, within: Dim, kQuad: Dim, k: number): Dim;
}

export function loaderOf(t: Tile, lines: Lines, plainly?: Plain): Loader {
  const { context } = t;
  const { dtype } = lines.operand.operand;
  const name = `tile${lines.which.toUpperCase()}`;
  const alongK = runsAlongK(t, lines);
  const wide = fitsLanes(t, lines, alongK);
  // Sixteen steps of a line meet in four banks, whatever the rotation, and in eight where steps
  // stand four words apart.
  const isApart = alongK && !wide && t.room;
  const spacing = lines.count + (isApart ? apart : 0);
  const placesOf = (run: number): Place[] =>
    wide ? widePlaces(t, lines, alongK, run) : singlePlaces(t, lines, alongK, spacing);
  // What is converted on its way is held as it comes: a conversion at once would wait for the load.
  const brought = (p: Place, step: Dim) => {
    const { body, value } = valueAt(context, lines, p.at(step), p.guard(step));
    return { body, value: hasNativeHalf(context, dtype) ? unconverted(value) : value };
  };
  const kept = brought(placesOf(1)[0]!, t.walk.usual).value.dtype;
  // Halves come in eights, two neighbouring fours to an invocation.
  const inEights = hasNativeHalf(context, kept) && fitsEights(t, lines, alongK);
  const places = placesOf(inEights ? 2 : 1);
  const heldName = (u: number): string => `${lines.which}Next${u}`;
  const stride = plainly ? (alongK ? t.depth : plainly.lines) + plainly.pad : 0;
  const part = plainly ? partSize(plainly, t.depth, alongK) : 0;
  const parts = plainly ? lines.count / plainly.lines : 1;
  const plain: Loader["plain"] = (number, line, k) =>
    addDim(
      mulDim(number, part),
      alongK ? addDim(mulDim(line, stride), k) : addDim(mulDim(k, stride), line),
    );
  const rotated = (quad: Dim, kQuad: Dim): Dim =>
    alongK && !isApart ? modDim(addDim(quad, mulDim(kQuad, 2)), lines.count / 4) : quad;
  const index: Loader["index"] = (quad, within, kQuad, k) =>
    addDim(
      mulDim(addDim(mulDim(kQuad, 4), k), spacing),
      addDim(mulDim(rotated(quad, kQuad), 4), within),
    );
  return {
    name,
    alongK,
    stride,
    lines: plainly?.lines ?? lines.count,
    plain,
    array: {
      kind: "array",
      name,
      dtype,
      size: plainly ? parts * part : spacing * t.depth,
      space: "shared",
      width: 4,
      // A plain tile is for matrix units, which take halves.
      ...(plainly ? { narrow: true, parts } : {}),
    },
    wide,
    held: places.map((_, u) => ({
      kind: "acc",
      name: heldName(u),
      dtype: kept,
      init: constant(kept, 0),
      widened: false,
      narrow: true,
    })),
    bring: (step) =>
      places.flatMap((p, u): Stmt[] => {
        const { body, value } = brought(p, step);
        // Where the first step lacks an element, its zero was never to be converted.
        const kind = value.kind === "const" ? constant(kept, value.value) : value;
        return busy(p, [...body, { kind: "set", name: heldName(u), value: kind }]);
      }),
    put: places.flatMap((p, u): Stmt[] => {
      const held = ref(heldName(u), kept);
      const value = kept === dtype ? held : call("convert", dtype, held);
      const at = plainly ? p.plain(plain, plainly.lines) : p.to(index);
      return busy(p, [{ kind: "store", to: name, index: at, value }]);
    }),
    index,
  };
}

/** All steps of k, each brought while `multiply` has the one before it in workgroup memory. */
export function stepped(
  { walk: { steps } }: Tile,
  loaders: readonly Loader[],
  multiply: readonly Stmt[],
): Stmt[] {
  const step = makeLoop("step", steps);
  const before = makeLoop("before", subDim(steps, 1));
  // The last step fetches its own elements again: that costs less than a test. `before` is the step
  // before the next.
  const next: Stmt[] =
    steps === 1
      ? []
      : [
          { kind: "letIndex", name: before.name, value: minDim(step.at, subDim(steps, 2)) },
          ...loaders.flatMap((l) => l.bring(addDim(before.at, 1))),
        ];
  return [
    ...loaders.flatMap((l) => l.bring(0)),
    ...nest([step], "serial", [
      ...loaders.flatMap((l) => l.put),
      { kind: "barrier" },
      ...next,
      ...multiply,
      { kind: "barrier" },
    ]),
  ];
}

/** What a conversion of a float, or a guarded one, converts; else the value itself. */
function unconverted(e: Expr): Expr {
  if (e.kind !== "call") return e;
  const [first, yes, no] = e.args;
  if (e.op === "convert" && isFloat(first!.dtype)) return first!;
  if (e.op !== "select" || no!.kind !== "const" || no!.value !== 0) return e;
  const value = unconverted(yes!);
  return value === yes ? e : call("select", value.dtype, first!, value, constant(value.dtype, 0));
}

/** Statements of the invocations that bring something. */
const busy = ({ some }: Place, then: readonly Stmt[]): Stmt[] =>
  some ? [{ kind: "if", when: [some], then }] : [...then];

/** An element, or four, that an invocation brings. */
interface Place {
  /** Which invocations do, where there is not one for each. */
  readonly some: Condition | undefined;
  at(step: Dim): Rename;
  guard(step: Dim): Condition[];
  to(index: Loader["index"]): Dim;
  /** Where it goes in a plain tile of parts of so many lines. */
  plain(at: Loader["plain"], lines: number): Dim;
}

/** How many of `things` an invocation has, and which invocations have one where there are fewer. */
const sharedOut = ({ me, invocations }: Tile, things: number) => ({
  count: Math.ceil(things / invocations),
  some: things < invocations ? isBelow(me, things) : undefined,
});

/** Fours, of which `run` neighbours are an invocation's. */
function widePlaces(t: Tile, lines: Lines, alongK: boolean, run = 1): Place[] {
  const perLine = t.depth / 4;
  const quads = lines.count / 4;
  const { count, some } = sharedOut(t, (lines.count * t.depth) / 4);
  return Array.from({ length: count }, (_, u): Place => {
    const runs = addDim(t.me, Math.floor(u / run) * t.invocations);
    const flat = addDim(mulDim(runs, run), u % run);
    if (alongK) {
      const [quad, line] = [modDim(flat, perLine), floorDiv(flat, perLine)];
      const at = lineOf(lines, line);
      return {
        some,
        // Counted from the first of the run: where that lies before k begins, so does all of it.
        at: (step) =>
          new Map([
            ...decoded(lines.loops, at),
            ...t.walk.atQuad(step, subDim(quad, u % run), addDim(t.lane.at, 4 * (u % run))),
          ]),
        guard: (step) => [t.walk.inside(step, mulDim(quad, 4))],
        to: (index) => laneAlongK(t, index, quad, line),
        plain: (to, size) =>
          to(floorDiv(line, size), modDim(line, size), addDim(mulDim(quad, 4), t.lane.at)),
      };
    }
    const [k, quad] = [floorDiv(flat, quads), modDim(flat, quads)];
    const at = quadOf(lines, quad);
    return {
      some,
      at: (step) => new Map([...decodedQuads(lines.loops, at, t.lane.at), ...t.walk.at(step, k)]),
      guard: (step) => [t.walk.inside(step, k)],
      to: () => addDim(mulDim(flat, 4), t.lane.at),
      plain: (to, size) => {
        const within = addDim(mulDim(modDim(quad, size / 4), 4), t.lane.at);
        return to(floorDiv(quad, size / 4), within, k);
      },
    };
  });
}

/** Lane by lane along k: each lane's element stands a row of the tile further. */
function laneAlongK(t: Tile, index: Loader["index"], quad: Dim, line: Dim): Dim {
  const [zero, one] = [0, 1].map((k) => index(floorDiv(line, 4), modDim(line, 4), quad, k));
  return addDim(zero!, mulDim(t.lane.at, addDim(one!, mulDim(zero!, -1))));
}

function singlePlaces(t: Tile, lines: Lines, alongK: boolean, spacing: number): Place[] {
  const { count, some } = sharedOut(t, lines.count * t.depth);
  return Array.from({ length: count }, (_, u): Place => {
    const flat = addDim(t.me, u * t.invocations);
    const k = alongK ? modDim(flat, t.depth) : floorDiv(flat, lines.count);
    const line = alongK ? floorDiv(flat, t.depth) : modDim(flat, lines.count);
    const at = lineOf(lines, line);
    return {
      some,
      at: (step) => new Map([...decoded(lines.loops, at), ...t.walk.at(step, k)]),
      guard: (step) => [t.walk.inside(step, k)],
      to: (index) => {
        if (!alongK) return flat;
        const quad = index(floorDiv(line, 4), modDim(line, 4), floorDiv(k, 4), 0);
        return addDim(quad, mulDim(modDim(k, 4), spacing));
      },
      plain: (to, size) => to(floorDiv(line, size), modDim(line, size), k),
    };
  });
}

function valueAt(context: LoweringContext, lines: Lines, at: Rename, inside: readonly Condition[]) {
  const { operand, coords, when } = lines.operand;
  const guard = [...inside, ...when.map((c) => ({ ...c, value: substitute(c.value, at) }))];
  const block = openBlock(context);
  const value = block.at(operand, renamed(coords, at), guard);
  return { body: block.body, value: choose(guard, value, constant(value.dtype, 0)) };
}

/** True if the operand's memory runs along k rather than along its lines. */
export function runsAlongK(t: Tile, lines: Lines): boolean {
  const own = lines.loops.filter((l) => l.extent !== 1).at(-1);
  const inner = t.walk.innermost;
  if (!inner || inner.extent === 1) return false;
  if (!own) return true;
  const { operand, coords } = lines.operand;
  let votes = 0;
  walkExpr(openBlock(t.context).at(operand, coords), {
    expr: (e) => {
      if (e.kind !== "load") return;
      const [k, line] = [inner, own].map((l) => Math.abs(strideAlong(e.index, l) || Infinity));
      votes += Math.sign(line! - k!);
    },
  });
  return votes > 0 || (votes === 0 && longer(inner.extent, own.extent));
}

/** Elements from one iteration to the next, in any case within aligned fours of them. */
function strideAlong(index: Dim, loop: Loop): number | undefined {
  const stride = strideOf(index, loop.name);
  if (stride !== undefined || modDim(loop.extent, 4) !== 0) return stride;
  const [four, lane] = [makeLoop("four", floorDiv(loop.extent, 4)), makeLoop("within", 4)];
  const at = addDim(mulDim(four.at, 4), lane.at);
  return strideOf(substitute(index, new Map([[loop.name, at]])), lane.name);
}

function fitsEights(t: Tile, lines: Lines, alongK: boolean): boolean {
  const inner = alongK ? t.walk.innermost : lines.loops.at(-1);
  if (inner === undefined || modDim(inner.extent, 8) !== 0) return false;
  return t.depth % 8 === 0 && ((lines.count * t.depth) / 8) % t.invocations === 0;
}

const longer = (a: Dim, b: Dim): boolean => typeof a === "number" && typeof b === "number" && a > b;

/** Whether an operand can be brought four elements at a time. */
export const comesInFours = (t: Tile, lines: Lines): boolean =>
  fitsLanes(t, lines, runsAlongK(t, lines));

/**
 * Whether every load can take four neighbours at a time, or one for all four, and some load does.
 */
function fitsLanes(t: Tile, lines: Lines, alongK: boolean): boolean {
  if (!(alongK ? t.walk.inFours : lines.inFours)) return false;
  const fours = (lines.count * t.depth) / 4;
  if (fours > t.invocations && fours % t.invocations !== 0) return false;
  const [place] = widePlaces(t, lines, alongK);
  const { body, value } = valueAt(
    t.context,
    lines,
    place!.at(t.walk.usual),
    place!.guard(t.walk.usual),
  );
  if (body.length > 0) return false;
  let [fits, some] = [true, false];
  const even = (d: Dim): boolean => modDim(substitute(d, new Map([[t.lane.name, 0]])), 4) === 0;
  walkExpr(value, {
    expr: (e: Expr) => {
      if (e.kind !== "load") return;
      const stride = strideOf(e.index, t.lane.name);
      if (stride === 1 && even(e.index)) some = true;
      else if (stride !== 0) fits = false;
      if (e.guard.some((c) => symbolsIn(c.value).has(t.lane.name))) fits = false;
    },
  });
  return fits && some;
}
