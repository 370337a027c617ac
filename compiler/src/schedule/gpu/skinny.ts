/**
 * A skinny contraction on a GPU (GEMV, tall-skinny GEMM): one operand has at most eight lines, so
 * the other is read once and memory bandwidth bounds the kernel. Where its memory runs along its
 * lines, a workgroup takes neighbouring lines and its invocations share out K; where it runs along
 * K, a workgroup takes one line. Every invocation holds a sum for each of the few lines; the sums
 * are joined at the end.
 *
 * Why not tiles: most of a tile's rows would be padding, and it would stage in workgroup memory
 * what is used at most eight times. Runs of 128 bytes keep loads coalesced, four steps of K in
 * flight hide their latency. Sums of at most 49 terms (windows) are one invocation's, with nothing
 * to join.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  type Dtype,
  floorDiv,
  maxOfDim,
  modDim,
  mulDim,
  substitute,
} from "@kiln-ml/ir";
import { skinnyLines } from "../../fuse/contraction.ts";
import type { ContractionOperand, Loop } from "../../fuse/group.ts";
import { makeLoop } from "../../fuse/group.ts";
import { isBelow, isFirst } from "../../kernel/conditions.ts";
import { constant, load, ref } from "../../kernel/expr.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { strideOf } from "../../kernel/stride.ts";
import { walkExpr } from "../../kernel/walk.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { decode, nest, renamed, totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { choose, sumDtype } from "../../lower/value.ts";
import { skinny as limits } from "../../machine/products.ts";
import { vectorisedParams } from "../vector.ts";
import { decoded, decodedQuads, range } from "./lines.ts";
import { results, zeroed } from "./tile-store.ts";

/** How a workgroup cuts its work. */
interface Cut {
  /** Invocations of a workgroup that takes one line. */
  readonly size: number;
  /** Lines a workgroup takes where memory runs along them. */
  readonly run: number;
  /** Steps of k of an invocation that are on their way together. */
  readonly together: number;
}

const { invocations } = limits;
const [size, ...sizes] = limits.sizes as [number, ...number[]];
const [run, ...runs] = limits.runs as [number, ...number[]];
const [together, more] = limits.together;
const usual: Cut = { size, run, together };
const otherCuts: readonly Cut[] = [
  ...sizes.map((s) => ({ ...usual, size: s })),
  ...runs.map((r) => ({ ...usual, run: r })),
  { ...usual, together: more },
  { ...usual, run: 2 * run, together: more },
];

interface Skinny {
  readonly context: LoweringContext;
  readonly few: Side;
  /** The operand with many lines, of each product of the few. */
  readonly many: readonly [Side, ...Side[]];
  readonly k: readonly Loop[];
  readonly length: Dim;
  readonly lane: Loop;
  readonly cut: Cut;
}

interface Side {
  readonly operand: ContractionOperand;
  readonly loops: readonly Loop[];
}

const isShort = ({ length }: Skinny): boolean =>
  typeof length === "number" && length <= limits.shortLength;

/**
 * Alternative work splits of a skinny contraction, by name; only those that matter for the layout
 * of the large operand are listed.
 */
export function otherSkinny(context: LoweringContext): [string, () => Scheduled][] {
  const found = new Map<string, () => Scheduled>();
  for (const cut of otherCuts) {
    const s = skinnyOf(context, cut);
    if (!s || isShort(s)) return [];
    if (runsAlongK(s) ? cut.size === usual.size : cut.size !== usual.size) continue;
    const name = runsAlongK(s)
      ? `few lines, ${cut.size} invocations`
      : `few lines, ${cut.run} and ${cut.together}`;
    found.set(name, () => gpuSkinny(context, false, cut)!);
  }
  return [...found];
}

/**
 * Undefined where no operand has few lines, or tiles are better, which does not matter where the
 * kernel is `shared` with other products: a launch is worth more.
 */
export function gpuSkinny(
  context: LoweringContext,
  shared = false,
  cut = usual,
): Scheduled | undefined {
  const s = skinnyOf(context, cut, shared);
  if (!s) return undefined;
  const { batch } = context.group.contraction!;
  const [count, lines] = [totalOf(s.few.loops) as number, totalOf(s.many[0].loops)];
  const number = makeLoop("batch", totalOf(batch));
  const scheduled = runsAlongK(s) ? alongK(s, count) : alongLines(s, count, lines);
  const body = [...decode(batch, number.at), ...scheduled.body];
  return {
    body: nest([number, scheduled.group], "workgroup", body),
    workgroupSize: scheduled.size,
    vectorised: vectorisedParams(body, s.lane.name),
  };
}

function skinnyOf(context: LoweringContext, cut: Cut, shared = false): Skinny | undefined {
  const { m, n, k, a, b } = context.group.contraction!;
  const { operandReductions, siblings } = context.group;
  if (operandReductions.length > 0) return undefined;
  const [rows, columns] = [totalOf(m), totalOf(n)];
  const [left, right] = [
    { operand: a, loops: m },
    { operand: b, loops: n },
  ];
  const aFew = siblings.length > 0 || maxOfDim(rows) <= maxOfDim(columns);
  const [few, one] = aFew ? [left, right] : [right, left];
  const others = siblings.map((s) => ({ operand: s.b, loops: n }));
  const many: Skinny["many"] = [one, ...others];
  const [count, lines] = aFew ? [rows, columns] : [columns, rows];
  const length = totalOf(k);
  if (typeof count !== "number" || count === 0 || count > skinnyLines) return undefined;
  if (maxOfDim(length) === 0 || maxOfDim(lines) < limits.leastLines) return undefined;
  const s: Skinny = { context, few, many, k, length, lane: makeLoop("lane", 4), cut };
  if (!runsAlongK(s)) return many.every((side) => !runsAlongK(s, side)) ? s : undefined;
  if (!many.every((side) => runsAlongK(s, side))) return undefined;
  return !shared && maxOfDim(length) < limits.leastAlongK ? undefined : s;
}

interface Part {
  readonly group: Loop;
  readonly size: number;
  readonly body: readonly Stmt[];
}

/** Of one of the few lines with one of the products. */
const sumOf = (i: number, product = 0): string => (product === 0 ? `c${i}` : `c${i}_${product}`);

/** The sums of one of the few lines, of all products. */
const sumsAt = (s: Skinny, i: number): string[] => s.many.map((_, p) => sumOf(i, p));
const lastOf = (loops: readonly Loop[]): Loop | undefined =>
  loops.filter((l) => l.extent !== 1).at(-1);

/** True if the memory of an operand with many lines runs along k. */
function runsAlongK(s: Skinny, side = s.many[0]): boolean {
  const [own, inner] = [lastOf(side.loops), lastOf(s.k)];
  if (!own || !inner) return own === undefined;
  let votes = 0;
  const { operand, coords } = side.operand;
  walkExpr(openBlock(s.context).at(operand, coords), {
    expr: (e) => {
      if (e.kind !== "load") return;
      if (strideOf(e.index, inner.name) === 1) votes++;
      if (strideOf(e.index, own.name) === 1) votes--;
    },
  });
  return votes > 0;
}

function elementOf(s: Skinny, side: Side, by: Rename, inside: readonly Condition[]) {
  const { operand, coords, when } = side.operand;
  const guard = [...inside, ...when.map((c) => ({ ...c, value: substitute(c.value, by) }))];
  const block = openBlock(s.context);
  const value = block.at(operand, renamed(coords, by), guard);
  return { body: block.body, value: choose(guard, value, constant(value.dtype, 0)) };
}

/**
 * The products at one place of k, or at four: one of the operand with many lines with each of the
 * few.
 */
function products(
  s: Skinny,
  count: number,
  tag: number,
  at: Rename,
  line: Rename,
  inside: readonly Condition[],
) {
  const { dtype } = s.few.operand.operand;
  const isShared = s.many.length > 1;
  const nameOf = (p: number): string => (p === 0 ? `m${tag}` : `m${tag}_${p}`);
  return [
    ...s.many.flatMap((side, p): Stmt[] => {
      const { body, value } = elementOf(s, side, new Map([...at, ...line]), inside);
      return [...body, { kind: "let", name: nameOf(p), value }];
    }),
    ...range(count).flatMap((i): Stmt[] => {
      const few = elementOf(s, s.few, new Map([...at, ...decoded(s.few.loops, i)]), inside);
      const name = `f${tag}_${i}`;
      const a = isShared ? ref(name, dtype) : few.value;
      return [
        ...few.body,
        ...(isShared ? [{ kind: "let", name, value: few.value } as const] : []),
        ...s.many.map((_, p): Stmt => {
          return { kind: "fma", name: sumOf(i, p), a, b: ref(nameOf(p), dtype) };
        }),
      ];
    }),
  ];
}

/** A workgroup takes one line; its invocations take fours of k, or single places, in turn. */
function alongK(s: Skinny, count: number, fours = comeInFours(s.k)): Part {
  const { size } = s.cut;
  const me = makeLoop("me", size);
  const { loops } = s.many[0];
  const group = makeLoop("line", totalOf(loops));
  const line = decoded(loops, group.at);
  const places = fours ? floorDiv(s.length, 4) : s.length;
  const step = makeLoop("step", ceilDiv(places, size));
  const place = addDim(mulDim(step.at, size), me.at);
  const at = fours ? decodedQuads(s.k, place, s.lane.at) : decoded(s.k, place);
  const body = products(s, count, 0, at, line, [isBelow(place, places)]);
  if (fours && isDynamic(body)) return alongK(s, count, false);
  const names = range(count).flatMap((i) => sumsAt(s, i));
  return {
    group,
    size,
    body: [
      { kind: "letInvocation", name: me.name },
      ...names.map((name) => zeroed(name, dtypeOf(s))),
      ...nest([step], "serial", fours ? nest([s.lane], "vector", body) : body),
      { kind: "combine", names, reducers: names.map(() => "sum" as const) },
      {
        kind: "if",
        when: [isFirst(me.at)],
        then: range(count).flatMap((i) =>
          results(
            s.context,
            new Map([...decoded(s.few.loops, i), ...line]),
            ...sumsAt(s, i).map((name) => ref(name, dtypeOf(s))),
          ),
        ),
      },
    ],
  };
}

const dtypeOf = (s: Skinny) => s.few.operand.operand.dtype;

/** What differs from lane to lane cannot be an index. */
const isDynamic = (body: readonly Stmt[]): boolean => body.some((t) => t.kind === "letDynamic");

function comeInFours(loops: readonly Loop[]): boolean {
  const last = loops.at(-1);
  return last !== undefined && modDim(last.extent, 4) === 0;
}

/**
 * A workgroup takes a run of lines, four to an invocation where they come in fours; its other
 * invocations share out k.
 */
function alongLines(
  s: Skinny,
  count: number,
  lines: Dim,
  fours = comeInFours(s.many[0].loops),
): Part {
  const { loops } = s.many[0];
  const short = isShort(s);
  // A half's parts are not rounded before they are joined.
  const dtype = short ? dtypeOf(s) : sumDtype(dtypeOf(s));
  const { run, together: steps } = s.cut;
  const per = short ? invocations : fours ? run / 4 : run;
  const slices = invocations / per;
  const together = short ? (s.length as number) : steps;
  const me = makeLoop("me", invocations);
  const units = fours ? floorDiv(lines, 4) : lines;
  const group = makeLoop("lines", ceilDiv(units, per));
  const [place, slice] = [modDim(me.at, per), floorDiv(me.at, per)];
  const unit = addDim(mulDim(group.at, per), place);
  const line = fours ? decodedQuads(loops, unit, s.lane.at) : decoded(loops, unit);
  const step = makeLoop("step", ceilDiv(s.length, slices * together));
  const inner = range(together).flatMap((u) => {
    const place = addDim(mulDim(addDim(mulDim(step.at, together), u), slices), slice);
    const inside = [isBelow(unit, units), isBelow(place, s.length)];
    return products(s, count, u, decoded(s.k, place), line, inside);
  });
  const join = short
    ? range(count).map((i) => ({
        keep: undefined,
        finish: results(
          s.context,
          new Map([...decoded(s.few.loops, i), ...line]),
          ...sumsAt(s, i).map((name) => ref(name, dtype)),
        ),
      }))
    : joinSlices(s, count, { dtype, fours, per, slices, me: me.at, place, line });
  const finish = join.flatMap(({ keep, finish }): Stmt[] => {
    const then: Stmt = {
      kind: "if",
      when: [isFirst(slice), isBelow(unit, units)],
      then: finish,
    };
    return keep ? [...keep, { kind: "barrier" }, then, { kind: "barrier" }] : [then];
  });
  const body: Stmt[] = [
    ...range(count).flatMap((i) => sumsAt(s, i).map((name) => zeroed(name, dtype))),
    ...nest([step], "serial", inner),
    ...finish,
  ];
  if (fours && (isDynamic(inner) || join.some((j) => isDynamic(j.finish))))
    return alongLines(s, count, lines, false);
  const partial: Stmt = {
    kind: "array",
    name: "partial",
    dtype,
    size: s.many.length * invocations * (fours ? 4 : 1),
    space: "shared",
    width: fours ? 4 : 1,
  };
  const own: Stmt = { kind: "letInvocation", name: me.name };
  return {
    group,
    size: invocations,
    body: [own, ...(short ? [] : [partial]), ...(fours ? nest([s.lane], "vector", body) : body)],
  };
}

interface Slices {
  readonly dtype: Dtype;
  readonly fours: boolean;
  readonly per: number;
  readonly slices: number;
  readonly me: Dim;
  readonly place: Dim;
  readonly line: Rename;
}

/**
 * For each of the few lines, what an invocation keeps for the others, and what the first of them
 * does with it.
 */
function joinSlices(s: Skinny, count: number, t: Slices): { keep: Stmt[]; finish: Stmt[] }[] {
  const { dtype } = t;
  const at = (d: Dim, product: number): Dim => {
    const place = addDim(d, product * invocations);
    return t.fours ? addDim(mulDim(place, 4), s.lane.at) : place;
  };
  return range(count).map((i) => {
    const names = s.many.map((_, p) => (p === 0 ? `sum${i}` : `sum${i}_${p}`));
    const other = makeLoop("slice", t.slices);
    const from = addDim(mulDim(other.at, t.per), t.place);
    const by = new Map([...decoded(s.few.loops, i), ...t.line]);
    return {
      keep: sumsAt(s, i).map((name, p): Stmt => {
        return { kind: "store", to: "partial", index: at(t.me, p), value: ref(name, dtype) };
      }),
      finish: [
        ...names.map((name) => zeroed(name, dtype)),
        ...nest(
          [other],
          "serial",
          names.map((name, p): Stmt => {
            const value = load("partial", dtype, at(from, p));
            return { kind: "accumulate", name, reducer: "sum", value };
          }),
        ),
        ...results(s.context, by, ...names.map((name) => ref(name, dtype))),
      ],
    };
  });
}
