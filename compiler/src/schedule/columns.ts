/**
 * Blocks of neighbouring columns, taken together down the rows so that memory is walked in order. What is kept of each column
 * lies in an array of one block's extent.
 */
import { addDim, minDim, subDim, substitute } from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import type { Stmt } from "../kernel/kernel.ts";
import { nest, type Rename } from "../lower/loops.ts";

/** Columns that are taken at once: two cache lines of f32, or of sums in double four. */
const columnBlock = 32;

export interface Columns {
  /** The renaming under which the last outer loop is a block's start and a column of the block. */
  readonly by: Rename;
  readonly column: Loop;
  /** The loop over the columns of a block, the last of which may have fewer. */
  each(body: readonly Stmt[]): Stmt[];
}

/** `outer` with its last loop in blocks; `make` gives the arrays and the statements of one block. */
export function columnBlocks(
  outer: readonly Loop[],
  rename: Rename,
  make: (columns: Columns) => { readonly arrays: readonly Stmt[]; readonly body: readonly Stmt[] },
): Stmt[] {
  const last = outer.at(-1)!;
  const start = makeLoop("block", last.extent);
  const column = makeLoop("c", columnBlock);
  const here = new Map([[last.name, addDim(start.at, column.at)]]);
  const by = new Map([...here, ...[...rename].map(([n, d]) => [n, substitute(d, here)] as const)]);
  const extent = minDim(columnBlock, subDim(last.extent, start.at));
  const each = (body: readonly Stmt[]): Stmt[] => nest([{ ...column, extent }], "serial", body);
  const { arrays, body } = make({ by, column, each });
  const blocks: Stmt = {
    kind: "loop",
    name: start.name,
    extent: last.extent,
    step: columnBlock,
    loop: "parallel",
    body,
  };
  return [...arrays, ...nest(outer.slice(0, -1), "parallel", [blocks])];
}
