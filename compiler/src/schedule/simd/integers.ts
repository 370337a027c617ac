/**
 * The terms of a product in blocks where both operands are integers of few bits in words: products
 * of 16 bits, eight at a time, added up as integers, which is exact; both scales are applied to the
 * sum of a block. Rows are split into halves once a unit, since every column reads them.
 *
 * Why 16 bits: the product of bytes that relaxed SIMD has takes one operand of 7 bits, and is no
 * part of the plain instructions.
 */
import { addDim, type Dim, mulDim } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { call, constant, load, ref } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import { nest } from "../../lower/loops.ts";
import {
  columnsOf,
  type InBlocks,
  inLanes,
  pairs,
  productsIn,
  range,
  sharedLoads,
  stepsAt,
  type Terms,
  zero,
} from "./in-blocks.ts";
import type { Lines } from "./lines.ts";
import { type Field, fieldOf } from "./steps.ts";

/** Vectors of four that a chunk has, and those that share words of 8 bits. */
const [places, apart] = [8, 4];

const i32 = (v: number): Expr => constant("i32", v);
const halves = (w: Expr, left: number, right: number): Expr =>
  call("halves", "i32", w, i32(left), i32(right));
const asSigned = (w: Expr): Expr => call("bitcast", "i32", w);

/** Steps of a chunk in words, if that is where they lie: byte u mod 4, of which half u div 4. */
function wordsAt(plan: InBlocks, lines: Lines, line: Dim): Field[] | undefined {
  const found = range(places).map((u) => {
    const s = stepsAt(plan, lines, line, u);
    return s?.scale && fieldOf(s.step);
  });
  const { bits } = found[0] ?? { bits: 0 };
  const lies = (f: Field | undefined, u: number): boolean =>
    f?.bits === bits && f.first === 8 * (u % apart) + (bits === 4 ? 4 * Math.floor(u / apart) : 0);
  if ((bits !== 4 && bits !== 8) || !found.every(lies)) return undefined;
  const words = found as Field[];
  // A word is read once for all of its fields.
  const isShared = words.every((f, u) => {
    const first = words[bits === 4 ? 0 : u - (u % apart)]!;
    return placeOf(f) !== undefined && placeOf(f) === placeOf(first);
  });
  if (!isShared) return undefined;
  const body = words.map(({ word }): Stmt => ({ kind: "let", name: "w", value: word }));
  return inLanes(body, plan.cut) ? words : undefined;
}

const placeOf = ({ word }: Field): string | undefined =>
  word.kind === "load" && word.guard.length === 0 ? `${word.from}[${word.index}]` : undefined;

/** Fields of a word in the order of the halves of rows that they meet: group and parity. */
function fieldsOf(words: readonly Field[], shared: (e: Expr) => Expr): Expr[] {
  const word = (u: number): Expr => asSigned(shared(words[u]!.word));
  if (words[0]!.bits === 4) return [12, 4, 8, 0].map((left) => halves(word(0), left, 12));
  return [0, apart].flatMap((u) => [halves(word(u), 8, 8), halves(word(u), 0, 8)]);
}

export function integerTerms(plan: InBlocks): Terms | undefined {
  const { sides, cut, tile } = plan;
  const line = makeLoop("line", sides.columns.total).at;
  const rows = range(tile.rows).map((r) => wordsAt(plan, sides.rows, r));
  const bytes = rows.every((w) => w?.[0]?.bits === 8);
  const products = productsIn(sides);
  if (!bytes || !products.every((p) => wordsAt(plan, p, line))) return undefined;
  // Rows may be joined of several tensors, of which each has scales and offsets of its own.
  if (rows.some((_, r) => stepsAt(plan, sides.rows, r, 0)!.offset)) return undefined;
  const hasOffset = products.some((p) => stepsAt(plan, p, line, 0)!.offset !== undefined);
  const all = pairs(plan);
  const half = mulDim(cut.b.extent, cut.size / 2);
  const staged = (r: number, which: number): Dim => {
    const chunk = addDim(mulDim(cut.b.at, cut.size / 2), mulDim(cut.t.at, 16));
    return addDim(addDim(mulDim(half, r), chunk), addDim(4 * which, cut.lane.at));
  };
  return {
    arrays: [
      {
        kind: "array",
        name: "bytes",
        dtype: "i32",
        size: mulDim(half, tile.rows),
        space: "private",
      },
    ],
    before: stagedRows(plan, rows as Field[][], staged),
    open: [
      ...all.map(({ r, j }) => zero(`q${r}${j}`, "i32")),
      ...(hasOffset ? range(tile.rows).map((r) => zero(`x${r}Sum`, "i32")) : []),
    ],
    chunk: (lines) => [
      ...range(tile.rows).flatMap((r): Stmt[] =>
        range(4).flatMap((i): Stmt[] => [
          { kind: "let", name: `x${r}${i}`, value: load("bytes", "i32", staged(r, i)) },
          ...(hasOffset ? [added(`x${r}Sum`, [ref(`x${r}${i}`, "i32")], [i32(0x10001)])] : []),
        ]),
      ),
      ...lines.flatMap((line, j): Stmt[] => {
        const { shared, take } = sharedLoads(`word${j}At`);
        const fields = fieldsOf(wordsAt(plan, columnsOf(plan, j), line)!, shared);
        return [
          ...take(),
          ...fields.map((value, i): Stmt => ({ kind: "let", name: `w${j}${i}`, value })),
          ...range(tile.rows).map((r) =>
            added(
              `q${r}${j}`,
              range(4).map((i) => ref(`x${r}${i}`, "i32")),
              range(4).map((i) => ref(`w${j}${i}`, "i32")),
            ),
          ),
        ];
      }),
    ],
    close: (lines) => range(tile.rows).flatMap((r) => closed(plan, r, lines)),
  };
}

/** A sum of products of halves, added to an accumulator. */
function added(name: string, a: readonly Expr[], b: readonly Expr[]): Stmt {
  const value = a
    .map((x, i): Expr => call("dotHalves", "i32", x, b[i]!))
    .reduce((sum, x) => call("add", "i32", sum, x));
  return { kind: "accumulate", name, reducer: "sum", value };
}

/** The bytes of rows as halves: of each sixteen those at even places of a word, then the odd. */
function stagedRows(
  { cut }: InBlocks,
  rows: readonly (readonly Field[])[],
  at: (r: number, which: number) => Dim,
): Stmt[] {
  const { shared, take } = sharedLoads("word");
  const stores = rows.flatMap((words, r): Stmt[] => {
    const values = fieldsOf(words, shared);
    return [
      ...take(),
      ...values.map((value, i): Stmt => ({ kind: "store", to: "bytes", index: at(r, i), value })),
    ];
  });
  return nest([cut.b, cut.t], "serial", nest([cut.lane], "vector", stores));
}

/** What a block adds: c += q · (scale of the row · scale of the column), and the offset's part. */
function closed(plan: InBlocks, r: number, lines: readonly Dim[]): Stmt[] {
  const { sides } = plan;
  const row = stepsAt(plan, sides.rows, r, 0)!.scale!;
  const name = `x${r}Scale`;
  const float = (acc: string): Expr => call("convert", "f32", ref(acc, "i32"));
  const by = (e: Expr): Expr => call("mul", "f32", ref(name, "f32"), e);
  return [
    { kind: "let", name, value: row },
    ...lines.flatMap((line, j): Stmt[] => {
      const { scale, offset } = stepsAt(plan, columnsOf(plan, j), line, 0)!;
      const to = `c${r}${j}`;
      const sum: Stmt = { kind: "fma", name: to, a: float(`q${r}${j}`), b: by(scale!) };
      if (!offset) return [sum];
      return [sum, { kind: "fma", name: to, a: float(`x${r}Sum`), b: by(offset) }];
    }),
  ];
}
