/**
 * Intra-block split-K: invocations of a tile that have the same results and share out the steps of
 * K. Says which steps are whose, and how their sums become one, in the order of the slices. For
 * tiles of so few results that the number of steps is all the time they take.
 */
import { addDim, type Dim, type Dtype, floorDiv, modDim, mulDim } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { isFirst } from "../../kernel/conditions.ts";
import { load, ref } from "../../kernel/expr.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import { nest } from "../../lower/loops.ts";
import { type Lines, range, sumName } from "./lines.ts";
import type { Loader, Tile } from "./tile-load.ts";

export interface KSlices {
  readonly count: number;
  /** Which of them the invocation is in, and its place there. */
  readonly own: Dim;
  readonly place: Dim;
  /** Invocations of a slice. */
  readonly size: number;
}

export function kSlicesOf(me: Dim, invocations: number, count: number): KSlices {
  const size = invocations / count;
  return { count, own: floorDiv(me, size), place: modDim(me, size), size };
}

/** Statements of the first slice, which has all sums in the end. */
export const ofFirst = ({ count, own }: KSlices, then: readonly Stmt[]): Stmt[] =>
  count === 1 || then.length === 0 ? [...then] : [{ kind: "if", when: [isFirst(own)], then }];

/**
 * With lanes, once the last step is done, so that the tile of the operand with more lines has room
 * for sums of `dtype`.
 */
export function joinKSlices(
  t: Tile,
  [rows, columns]: readonly [Lines, Lines],
  [a, b]: readonly [Loader, Loader],
  slices: KSlices,
  dtype: Dtype,
): Stmt[] {
  if (slices.count === 1) return [];
  const to = (rows.count > columns.count ? a : b).name;
  const at = (invocation: Dim): Dim => addDim(mulDim(invocation, 4), t.lane.at);
  const other = makeLoop("slice", slices.count - 1);
  const theirs = addDim(mulDim(addDim(other.at, 1), slices.size), slices.place);
  return range(rows.own).flatMap((i) =>
    range(columns.own / 4).flatMap((j): Stmt[] => {
      const name = sumName(i, j);
      const value = load(to, dtype, at(theirs));
      return [
        { kind: "store", to, index: at(t.me), value: ref(name, dtype) },
        { kind: "barrier" },
        ...ofFirst(
          slices,
          nest([other], "serial", [{ kind: "accumulate", name, reducer: "sum", value }]),
        ),
        { kind: "barrier" },
      ];
    }),
  );
}
