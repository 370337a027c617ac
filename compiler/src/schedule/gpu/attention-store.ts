/**
 * The epilogue of an attention kernel: an invocation's sums go through an array in private memory,
 * so that the program's other ops on them stand once in the text and not once a sum, and are
 * stored.
 */
import { addDim, mulDim } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../../fuse/group.ts";
import { isBelow } from "../../kernel/conditions.ts";
import { load } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import { membersOf, openBlock, storeMember } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import type { Values } from "../../lower/value.ts";
import { each, offset, rowAt, type Tile } from "./attention-tile.ts";

/** `bindRow` says what else is known of a row by its number. */
export function storeSums(
  t: Tile,
  sumOf: (s: number, r: number, c: number) => Expr,
  bindRow: (values: Values, r: Loop) => void = () => {},
): Stmt[] {
  const { rows, columns } = t;
  const [r, c] = [makeLoop("r", rows), makeLoop("c", columns)];
  const row = rowAt(t, r.at);
  const column = addDim(mulDim(t.team, 4), offset(c.at));
  return [
    ...t.attention.sums.flatMap((_, s) => kept(t, arrayOf(s), (i, j) => sumOf(s, i, j))),
    ...nest([r, c], "unrolled", [
      {
        kind: "if",
        when: [isBelow(row, t.row.extent), isBelow(column, t.column.extent)],
        then: [
          { kind: "letIndex", name: t.row.name, value: row },
          { kind: "letIndex", name: t.column.name, value: column },
          ...stores(t, r, c, bindRow),
        ],
      },
    ]),
  ];
}

const arrayOf = (s: number): string => `results${s}`;

/** An array with a number for each of this invocation's rows and columns. */
const kept = (
  { rows, columns }: Tile,
  name: string,
  of: (r: number, c: number) => Expr,
): Stmt[] => [
  { kind: "array", name, dtype: "f32", size: rows * columns, space: "private" },
  ...each(rows, (i) =>
    each(columns, (j): Stmt[] => [
      { kind: "store", to: name, index: i * columns + j, value: of(i, j) },
    ]),
  ),
];

/**
 * Stores what is asked for of the sums, and of what the program makes of them, at a row and column.
 */
function stores(t: Tile, r: Loop, c: Loop, bindRow: (values: Values, r: Loop) => void): Stmt[] {
  const { context, attention } = t;
  const block = openBlock(context);
  bindRow(block, r);
  const at = addDim(mulDim(r.at, t.columns), c.at);
  for (const [s, { result }] of attention.sums.entries())
    block.bind(result, load(arrayOf(s), "f32", at));
  const ofRows = new Set([attention.softmax?.max, attention.softmax?.total]);
  for (const [node] of membersOf(context.group))
    if (context.stored.has(node) && !ofRows.has(node))
      block.body.push(storeMember(context, block, node));
  return block.body;
}
