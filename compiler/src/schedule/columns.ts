/**
 * Reductions down the rows of a matrix: sums of many columns are kept at once, so that memory is
 * read in order. Only for groups of one phase that store nothing on the way.
 *
 * Why this shape: one column at a time reads a cache line for each element it uses. A block of
 * columns reads whole lines, in the order that the processor prefetches, and its accumulators stay
 * in L1. How wide a block is depends on the target, which says so: with lanes and threads wide
 * blocks are read faster, and few columns in narrow ones keep threads busy.
 */
import {
  addDim,
  type Dim,
  floorDiv,
  isFloat,
  maxOfDim,
  minDim,
  mulDim,
  opRecord,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import { load, ref } from "../kernel/expr.ts";
import type { Expr, LoopKind, Stmt } from "../kernel/kernel.ts";
import type { Rename } from "../kernel/map.ts";
import { type Named, walksByColumn } from "../kernel/stride.ts";
import {
  identityOf,
  type LoweringContext,
  membersOf,
  openBlock,
  reducedValue,
  storeMembers,
} from "../lower/context.ts";
import { nest, renamed, renamedAt, totalOf } from "../lower/loops.ts";
import { accName, phasesOf, rootReduces } from "../lower/rows.ts";
import { doubled, inDtype, sumDtype, type Values } from "../lower/value.ts";
import { addToElement } from "./compensate.ts";

export interface ColumnBlocks {
  /** Columns whose sums are kept at once. */
  readonly width: number;
  /** The kind of the loop over them. */
  readonly loop: LoopKind;
  /** Keep sums of f32 in double. */
  readonly double: boolean;
  /** Rows that are summed before their sum is added to the total; all of them if absent. */
  readonly rows?: number;
  /** Rows that are added at once to what is kept of a column; 1 if absent. */
  readonly together?: number;
}

/** The columns of one block. */
export interface Columns {
  /** The renaming under which the last outer loop is the block's start and a column of it. */
  readonly by: Rename;
  readonly column: Loop;
  /** The loop over the columns of the block, the last of which may have fewer. */
  each(body: readonly Stmt[]): Stmt[];
}

/** The statements of a block, and the arrays in which something is kept of each of its columns. */
export interface Block {
  readonly arrays: readonly Stmt[];
  readonly body: readonly Stmt[];
}

/** The outer loops, the last one in blocks. */
export function inBlocks(
  outer: readonly Loop[],
  rename: Rename,
  { width, loop }: ColumnBlocks,
  make: (columns: Columns) => Block,
): Stmt[] {
  const last = outer.at(-1)!;
  const start = makeLoop("block", last.extent);
  const column = makeLoop("c", width);
  const by = renamedAt(rename, new Map([[last.name, addDim(start.at, column.at)]]));
  const extent = minDim(width, subDim(last.extent, start.at));
  const each = (body: readonly Stmt[]): Stmt[] => nest([{ ...column, extent }], loop, body);
  const { arrays, body } = make({ by, column, each });
  const blocks: Stmt = {
    kind: "loop",
    name: start.name,
    extent: last.extent,
    step: width,
    loop: "parallel",
    body,
  };
  return [...arrays, ...nest(outer.slice(0, -1), "parallel", [blocks])];
}

/**
 * True if most loads step by one element along the last outer loop and not along the last inner
 * one.
 */
export function readsByColumn(
  context: LoweringContext,
  outer: readonly Named[],
  inner: readonly Named[],
  body: readonly Stmt[],
): boolean {
  const plain = phasesOf(context).length === 1 && phasesOf(context)[0]!.stores.length === 0;
  const [o, i] = [outer.at(-1), inner.at(-1)];
  if (!plain || !o || !i || rootReduces(context).length > 0) return false;
  if (membersOf(context.group).some(([t]) => t.op.startsWith("arg"))) return false;
  return walksByColumn(body, o, i);
}

/**
 * For each block of columns: start the sums, run down the rows adding a piece of a row at a time,
 * then finish each column. Without `rows` the order of additions within a column is that of the
 * plain loops.
 */
export function sumColumns(
  context: LoweringContext,
  outer: readonly Loop[],
  inner: readonly Loop[],
  rename: Rename,
  blocks: ColumnBlocks,
): Stmt[] {
  return inBlocks(outer, rename, blocks, (c) => blockOfSums(context, inner, blocks, c));
}

function blockOfSums(
  context: LoweringContext,
  inner: readonly Loop[],
  blocks: ColumnBlocks,
  { by, column, each }: Columns,
): Block {
  const sums = phasesOf(context)[0]!.reduces.map((r) => columnSum(context, r, blocks, column.at));
  const finish = openBlock(context);
  for (const { node, total } of sums) finish.bind(node, inDtype(total, node.dtype));
  storeMembers(context, finish, by);
  const body = [
    ...each(sums.flatMap((s) => [s.start(s.name), ...(isParted(s) ? [s.start(s.rest)] : [])])),
    ...runDown(context, inner, by, sums, each, blocks),
    ...each(finish.body),
  ];
  return { arrays: sums.flatMap((s) => s.arrays), body };
}

interface ColumnSum {
  readonly node: Tensor;
  readonly name: string;
  /** The array of the rows at hand: that of the totals, unless rows are summed in parts. */
  readonly part: string;
  /** The array of what is left over of the totals, if there are parts. */
  readonly rest: string;
  readonly arrays: readonly Stmt[];
  readonly total: Expr;
  /** Sets the column's sum in an array to the identity. */
  start(array: string): Stmt;
  /** array[c] = array[c] ⊕ the values, one after the other. */
  add(array: string, values: readonly Expr[]): Stmt[];
  /** Adds the sum of the rows at hand to the total. */
  addPart(): Stmt[];
}

function columnSum(
  context: LoweringContext,
  node: Tensor,
  blocks: ColumnBlocks,
  at: Dim,
): ColumnSum {
  const dtype = blocks.double ? doubled(node.dtype) : sumDtype(node.dtype);
  const [acc, name, reducer] = [
    accName(context, node),
    `${accName(context, node)}s`,
    opRecord(node.op).reducer!,
  ];
  const parted = blocks.rows !== undefined && reducer === "sum" && isFloat(dtype);
  const part = parted ? `${name}Part` : name;
  const rest = `${name}Left`;
  const array = (wanted: string): Stmt => ({
    kind: "array",
    name: wanted,
    dtype,
    size: blocks.width,
    space: "private",
  });
  return {
    node,
    name,
    part,
    rest,
    arrays: (parted ? [name, part, rest] : [name]).map(array),
    total: load(name, dtype, at),
    start: (to) => ({ kind: "store", to, index: at, value: inDtype(identityOf(node), dtype) }),
    addPart: () => addToElement(acc, dtype, at, load(part, dtype, at), { sums: name, rest }),
    add: (to, values) => [
      { kind: "acc", name: acc, dtype, init: load(to, dtype, at), widened: true },
      // Terms are of the dtype that a column is kept in.
      ...values.map(
        (v): Stmt => ({ kind: "accumulate", name: acc, reducer, value: inDtype(v, dtype) }),
      ),
      { kind: "store", to, index: at, value: ref(acc, dtype) },
    ],
  };
}

/**
 * The loops down the rows: those around the parts, the one that is cut, those of which a part has
 * all iterations.
 */
interface Down {
  readonly outer: readonly Loop[];
  readonly first: Loop;
  readonly rest: readonly Loop[];
  /** Iterations of `first` in a part, if rows are summed in parts. */
  readonly size: number | undefined;
}

function downOf(inner: readonly Loop[], rows: number | undefined): Down {
  let p = inner.length - 1;
  let below = 1;
  if (rows === undefined || maxOfDim(totalOf(inner)) <= rows) p = 0;
  for (; p > 0; p--) {
    const extent = maxOfDim(inner[p]!.extent);
    if (below * extent > rows!) break;
    below *= Math.max(1, extent);
  }
  const [outer, first, rest] = [inner.slice(0, p), inner[p]!, inner.slice(p + 1)];
  const size = rows === undefined ? undefined : Math.max(1, Math.floor(rows / below));
  const all = outer.length === 0 && size !== undefined && maxOfDim(first.extent) <= size;
  return { outer, first, rest, size: all ? undefined : size };
}

/**
 * The loops down the rows. Sums of a part of the rows are added to the totals when the part is
 * done.
 */
function runDown(
  context: LoweringContext,
  inner: readonly Loop[],
  by: Rename,
  sums: readonly ColumnSum[],
  each: (body: readonly Stmt[]) => Stmt[],
  { rows, together = 1 }: ColumnBlocks,
): Stmt[] {
  const { outer, first, rest: below, size } = downOf(inner, sums.some(isParted) ? rows : undefined);
  const chunk = makeLoop("part", first.extent);
  const extent = size === undefined ? first.extent : minDim(size, subDim(first.extent, chunk.at));
  const down = (at: readonly Dim[], loops: readonly Loop[]): Stmt[] => {
    const heres = at.map(
      (d) => new Map([[first.name, size === undefined ? d : addDim(chunk.at, d)]]),
    );
    const adds = openBlock(context);
    const values = heres.map((here) => rowOf(context, adds, sums, by, here));
    for (const [i, s] of sums.entries())
      adds.body.push(
        ...s.add(
          size === undefined ? s.name : s.part,
          values.map((v) => v[i]!),
        ),
      );
    return nest([...loops, ...below], "serial", each(adds.body));
  };
  // A row at a time where the other inner loops would come between rows.
  const some = below.length > 0 || maxOfDim(extent) < together ? 1 : together;
  const groups = size !== undefined || some > 1 ? makeLoop("r", floorDiv(extent, some)) : first;
  const several = Array.from({ length: some }, (_, i) => addDim(mulDim(groups.at, some), i));
  const done = mulDim(groups.extent, some);
  const rest = makeLoop("rest", subDim(extent, done));
  const body = [
    ...down(several, [groups]),
    ...(rest.extent === 0 ? [] : down([addDim(done, rest.at)], [rest])),
  ];
  if (size === undefined) return nest(outer, "serial", body);
  return nest(outer, "serial", inParts(chunk, size, sums.filter(isParted), each, body));
}

/** The rows in parts: the sums of each start anew and are added to the totals. */
function inParts(
  chunk: Loop,
  rows: number,
  sums: readonly ColumnSum[],
  each: (body: readonly Stmt[]) => Stmt[],
  body: readonly Stmt[],
): Stmt[] {
  return [
    {
      kind: "loop",
      name: chunk.name,
      extent: chunk.extent,
      step: rows,
      loop: "serial",
      body: [
        ...each(sums.map((s) => s.start(s.part))),
        ...body,
        ...each(sums.flatMap((s) => s.addPart())),
      ],
    },
  ];
}

/** What one row adds to each sum. */
function rowOf(
  context: LoweringContext,
  adds: Values,
  sums: readonly ColumnSum[],
  by: Rename,
  here: ReadonlyMap<string, Dim>,
): Expr[] {
  const renames = renamedAt(by, here);
  const vars = renamed(
    context.group.inner.map((l) => l.at),
    renames,
  );
  const coords = renamed(context.group.outerSpace.coords, renames);
  return sums.map((s) => reducedValue(adds, s.node, coords, vars));
}

const isParted = (s: ColumnSum): boolean => s.part !== s.name;
