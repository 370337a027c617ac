/**
 * A contraction of up to four rows with an operand in blocks: weights of few bits with a scale for
 * each block of depth. Depth is two loops, over blocks and over what is in one, so that scales are
 * read and applied once a block; the lanes lie along the block, where four neighbours are the same
 * field of four words. Words are loaded once and their fields taken in registers.
 *
 * Why not the plain dot: a scale whose index divides by the block keeps the loop over depth out of
 * lanes, and as many multiplications go to scales as to terms. Where the other operand is in
 * blocks of integers too, products are of 16 bits, eight at a time (`integers.ts`).
 */
import { addDim, type Dim, isStatic, minDim, mulDim, subDim } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { call, constant, load, ref } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import type { LoweringContext } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import { inBlocks as limits } from "../../machine/wasm.ts";
import type { Sides } from "./contraction.ts";
import {
  chunk,
  columnsOf,
  type DepthInBlocks,
  depthIn,
  elementOf,
  type InBlocks,
  inLanes,
  pairs,
  productsIn,
  range,
  sharedLoads,
  stepsAt,
  type Terms,
  within,
  zero,
} from "./in-blocks.ts";
import { integerTerms } from "./integers.ts";
import type { Lines } from "./lines.ts";
import { callsIn, divisorsOf, folded, isSmallStep, stepsOf } from "./steps.ts";
import { type Block, blockOf, dtypeOf, finish, inBlock, overWorkItems } from "./work-items.ts";

const mostRows = 4;

/** Depth cut where most of an element is the same within a block. */
function cutOf(context: LoweringContext, columns: Lines): DepthInBlocks | undefined {
  const loops = context.group.contraction!.k.filter((l) => l.extent !== 1);
  const [k] = loops;
  if (loops.length !== 1 || !isStatic(k!.extent) || k!.extent % chunk !== 0) return undefined;
  const line = makeLoop("line", columns.total).at;
  const whole = elementOf(context, columns, line, new Map());
  if (!whole) return undefined;
  const depth = k!.extent;
  const sizes = [...divisorsOf(whole, k!.name), depth, ...evenParts(depth)]
    .filter((n) => n % chunk === 0 && depth % n === 0 && n <= limits.mostInBlock)
    .sort((a, b) => b - a);
  const found = sizes.flatMap((size) => {
    const cut = depthIn(k!.name, depth, size);
    const value = elementOf(context, columns, line, cut.at(cut.u.at));
    if (!value || depth / size > limits.mostBlocks) return [];
    const { step, scale, offset } = stepsOf(value, within(cut));
    return (scale || offset) && isSmallStep(folded(step)) ? [{ cut, calls: callsIn(step) }] : [];
  });
  const least = Math.min(...found.map((f) => f.calls));
  return found.find((f) => f.calls === least)?.cut;
}

/** The longest blocks that a lane may add up, for scales of whole lines. */
const evenParts = (depth: number): number[] => {
  const parts = Math.ceil(depth / limits.mostInBlock);
  return depth % parts === 0 ? [depth / parts] : [];
};

export function blockPhases(context: LoweringContext, sides: Sides): Stmt[][] | undefined {
  const { rows } = sides;
  if (dtypeOf(context) !== "f32" || !isStatic(rows.total)) return undefined;
  if (rows.total > mostRows || rows.total === 0) return undefined;
  const products = productsIn(sides);
  const cuts = products.map((p) => cutOf(context, p));
  const [cut] = cuts;
  if (!cut || cuts.some((c) => c?.size !== cut.size)) return undefined;
  const each = Math.max(1, Math.floor(4 / (rows.total * products.length)));
  const tile = { rows: rows.total, columns: each * products.length };
  const plan = { context, sides, cut, tile };
  const terms = integerTerms(plan) ?? floatTerms(plan);
  if (!terms) return undefined;
  const own = { rows: tile.rows, columns: each };
  const block = blockOf(context, sides, own, { rows: tile.rows, columns: limits.columns });
  const size = tile.rows * tile.columns;
  const array = (name: string, size: Dim): Stmt => {
    return { kind: "array", name, dtype: "f32", size, space: "private" };
  };
  return [
    overWorkItems(context, sides, block, (unit) => ({
      arrays: [
        array("sums", products.length * block.rows * block.columns),
        array("laneSums", 4 * size),
        ...terms.arrays,
      ],
      body: [
        ...terms.before,
        ...sumsOf(plan, terms, block, unit),
        ...finish(context, sides, block, unit),
      ],
    })),
  ];
}

type Unit = Parameters<Parameters<typeof overWorkItems>[3]>[0];

/** The sums of a unit, some columns at once. */
function sumsOf(plan: InBlocks, terms: Terms, block: Block, unit: Unit): Stmt[] {
  const { cut, tile, sides } = plan;
  const { total } = sides.columns;
  const products = 1 + sides.others.length;
  const each = tile.columns / products;
  const q = makeLoop("q", block.columns);
  const whole = isStatic(total) && total % each === 0;
  const lines = range(each).map((j) => makeLoop(`line${j}`, total));
  const bind = lines.map(({ name }, j): Stmt => {
    const line = addDim(addDim(unit.column, q.at), j);
    return { kind: "letIndex", name, value: whole ? line : minDim(line, subDim(total, 1)) };
  });
  const at = range(products).flatMap(() => lines.map((l) => l.at));
  const inner = [...terms.open, ...nest([cut.t], "serial", terms.chunk(at)), ...terms.close(at)];
  const place = ({ r, j }: { r: number; j: number }): number => 4 * (r * tile.columns + j);
  const all = pairs(plan);
  const vectors = nest([cut.lane], "vector", [
    ...all.map(({ r, j }) => zero(`c${r}${j}`)),
    ...nest([cut.b], "serial", inner),
    ...all.map((p): Stmt => {
      const index = addDim(place(p), cut.lane.at);
      return { kind: "store", to: "laneSums", index, value: ref(`c${p.r}${p.j}`, "f32") };
    }),
  ]);
  const joined = all.map((p): Stmt => {
    const [a, b, c, d] = range(4).map((i) => load("laneSums", "f32", place(p) + i));
    const sum = call("add", "f32", call("add", "f32", a!, b!), call("add", "f32", c!, d!));
    const column = addDim(q.at, p.j % each);
    const index = inBlock(p.r, column, block, Math.floor(p.j / each));
    return { kind: "store", to: "sums", index, value: sum };
  });
  return [
    {
      kind: "loop",
      name: q.name,
      extent: unit.breadth,
      step: each,
      loop: "serial",
      body: [...bind, ...vectors, ...joined],
    },
  ];
}

/** Terms in floats: a step of each column times the element of each row. */
function floatTerms(plan: InBlocks): Terms | undefined {
  const { sides, cut } = plan;
  const test = makeLoop("line", sides.columns.total).at;
  const found = productsIn(sides).flatMap((p) =>
    range(chunk / 4).map((u) => stepsAt(plan, p, test, u)),
  );
  if (found.some((s) => !s || !inLanes([{ kind: "let", name: "w", value: s.step }], cut)))
    return undefined;
  const x = rowsOf(plan);
  if (!x) return undefined;
  const hasOffset = found.some((s) => s!.offset !== undefined);
  const all = pairs(plan);
  return {
    arrays: x.arrays,
    before: x.before,
    open: [
      ...all.map(({ r, j }) => zero(`q${r}${j}`)),
      ...(hasOffset ? range(plan.tile.rows).map((r) => zero(`x${r}Sum`)) : []),
    ],
    chunk: (lines) => {
      const { shared, take } = sharedLoads("word");
      return range(chunk / 4).flatMap((u): Stmt[] => {
        const rows = range(plan.tile.rows).flatMap((r): Stmt[] => [
          { kind: "let", name: `x${r}At${u}`, value: x.at(r, u) },
          ...(hasOffset
            ? [
                {
                  kind: "accumulate",
                  name: `x${r}Sum`,
                  reducer: "sum",
                  value: ref(`x${r}At${u}`, "f32"),
                } as const,
              ]
            : []),
        ]);
        const own = lines.flatMap((line, j): Stmt[] => {
          const value = shared(stepsAt(plan, columnsOf(plan, j), line, u)!.step);
          const name = `w${j}At${u}`;
          return [
            ...take(),
            { kind: "let", name, value },
            ...range(plan.tile.rows).map((r): Stmt => {
              const [a, b] = [ref(`x${r}At${u}`, "f32"), ref(name, "f32")];
              return { kind: "fma", name: `q${r}${j}`, a, b };
            }),
          ];
        });
        return [...rows, ...own];
      });
    },
    close: (lines) =>
      lines.flatMap((line, j): Stmt[] => {
        const { scale, offset } = stepsAt(plan, columnsOf(plan, j), line, 0)!;
        const term = (name: string, from: string, by: Expr): Stmt => {
          return { kind: "fma", name, a: ref(from, "f32"), b: by };
        };
        return range(plan.tile.rows).flatMap((r) => [
          term(`c${r}${j}`, `q${r}${j}`, scale ?? constant("f32", 1)),
          ...(offset ? [term(`c${r}${j}`, `x${r}Sum`, offset)] : []),
        ]);
      }),
  };
}

interface Rows {
  readonly arrays: readonly Stmt[];
  readonly before: readonly Stmt[];
  at(r: number, u: number): Expr;
}

/**
 * Rows as they lie, or computed once a unit where one of them takes more than a load; undefined
 * where one takes statements to find.
 */
function rowsOf({ context, sides, cut, tile }: InBlocks): Rows | undefined {
  const element = (r: number, u: Dim) => elementOf(context, sides.rows, r, cut.at(u));
  const all = range(tile.rows).map((r) => element(r, cut.u.at));
  if (all.some((e) => e === undefined)) return undefined;
  const lies = (e: Expr): boolean =>
    e.kind === "load" && e.dtype === "f32" && inLanes([{ kind: "let", name: "x", value: e }], cut);
  if (all.every((e) => lies(e!))) return { arrays: [], before: [], at: (r, u) => element(r, u)! };
  const depth = mulDim(cut.b.extent, cut.size);
  const place = (r: number, u: Dim): Dim => addDim(mulDim(depth, r), cut.at(u).get(cut.name)!);
  const stores = range(tile.rows).flatMap((r) =>
    range(chunk / 4).map((u): Stmt => {
      return { kind: "store", to: "rows", index: place(r, u), value: folded(element(r, u)!) };
    }),
  );
  const filled = nest([cut.b, cut.t], "serial", nest([cut.lane], "vector", stores));
  return {
    arrays: [
      {
        kind: "array",
        name: "rows",
        dtype: "f32",
        size: mulDim(depth, tile.rows),
        space: "private",
      },
    ],
    before: filled,
    at: (r, u) => load("rows", "f32", place(r, u)),
  };
}
