/**
 * What an invocation of an attention kernel does with its sums: they go through an array in private memory, so that the program's
 * other ops on them stand once in the text, and are stored.
 */
import { addDim, floorDiv, modDim, mulDim } from "@kiln-ml/ir";
import { makeLoop } from "../fuse/group.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { membersOf, openBlock, storeMember } from "../lower/job.ts";
import { nest } from "../lower/loops.ts";
import { load, type Values } from "../lower/value.ts";
import { below, each, type Tile, teams } from "./gpu-attention-tile.ts";

/** `bindRow` says what else is known of a row by its number. */
export function storeSums(
  t: Tile,
  sumOf: (s: number, r: number, c: number) => Expr,
  bindRow: (values: Values, r: ReturnType<typeof makeLoop>) => void = () => {},
): Stmt[] {
  const { job, rows, columns, attention } = t;
  const [r, c] = [makeLoop("r", rows), makeLoop("c", columns)];
  const array = (s: number): string => `results${s}`;
  const row = addDim(t.row0.at, r.at);
  const column = addDim(
    addDim(mulDim(floorDiv(c.at, 4), 4 * teams), mulDim(t.team, 4)),
    modDim(c.at, 4),
  );
  const block = openBlock(job);
  bindRow(block, r);
  for (const [s, { result }] of attention.sums.entries()) {
    const value = load(array(s), "f32", addDim(mulDim(r.at, columns), c.at));
    block.bind(result, value);
  }
  const ofRows = new Set([attention.softmax?.max, attention.softmax?.total]);
  for (const [node] of membersOf(job.group)) {
    if (!job.stored.has(node) || ofRows.has(node)) continue;
    block.body.push(storeMember(job, block, node, new Map()));
  }
  return [
    ...attention.sums.flatMap((_, s): Stmt[] => [
      {
        kind: "array",
        name: array(s),
        dtype: "f32",
        size: rows * columns,
        space: "private",
      },
      ...each(rows, (i) =>
        each(columns, (j): Stmt[] => [
          { kind: "store", to: array(s), index: i * columns + j, value: sumOf(s, i, j) },
        ]),
      ),
    ]),
    ...nest([r, c], "unrolled", [
      {
        kind: "if",
        when: [below(row, t.row.extent), below(column, t.column.extent)],
        then: [
          { kind: "letIndex", name: t.row.name, value: row },
          { kind: "letIndex", name: t.column.name, value: column },
          ...block.body,
        ],
      },
    ]),
  ];
}
