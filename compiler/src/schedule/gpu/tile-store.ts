/**
 * The epilogue of a tiled contraction: what an invocation computes of its sums, and the stores,
 * four columns at a time where the columns come in fours, else one by one. Also the operand
 * reductions that run beside it. An odd number of columns goes through an array in private memory:
 * stores straight from registers were 5 % slower at 1025.
 */
import { addDim, type Condition, type Dim, type Dtype, mulDim } from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { isFirst } from "../../kernel/conditions.ts";
import { call, constant, load, ref } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import {
  isReduceOp,
  type LoweringContext,
  membersOf,
  openBlock,
  storeMember,
  storeMembers,
} from "../../lower/context.ts";
import { decode, nest } from "../../lower/loops.ts";
import { productsOf } from "../../lower/naive.ts";
import { inDtype, sumDtype } from "../../lower/value.ts";
import {
  acrossOf,
  decoded,
  decodedQuads,
  insideLines,
  type Lines,
  lineOf,
  quadOf,
  range,
  sideName,
  sumName,
} from "./lines.ts";
import type { Tile } from "./tile-load.ts";

export interface Block {
  /** Arrays for sums whose number is known at run time only. */
  readonly arrays: readonly Stmt[];
  /** Accumulators: of rows alone, and those with lanes. */
  readonly rowSums: readonly Stmt[];
  readonly sums: readonly Stmt[];
  /** With lanes: sums into arrays, and the stores of fours. */
  readonly keep: readonly Stmt[];
  readonly inLanes: readonly Stmt[];
  /** Without lanes. */
  readonly after: readonly Stmt[];
}

/** Blocks of more members than this are a loop, whose text is short, and not repeated. */
const mostRepeated = 6;

/** Sums are of `dtype`. */
export function blockOf(t: Tile, rows: Lines, columns: Lines, dtype: Dtype): Block {
  const quads = columns.own / 4;
  const each = range(rows.own).flatMap((i) => range(quads).map((j) => ({ i, j })));
  const size = rows.own * columns.own;
  const lanes = columns.inFours ? storesInLanes(t, rows, columns, dtype) : undefined;
  const byNumber = lanes?.byNumber ?? true;
  const sums: Stmt = { kind: "array", name: "sums", dtype, size, space: "private", width: 4 };
  const sideArray = (s: number): string => `side${columns.which}${s}`;
  return {
    arrays: [
      ...(byNumber ? [sums] : []),
      ...columns.sums.map(
        (_, s): Stmt => ({
          kind: "array",
          name: sideArray(s),
          dtype: sumDtype(dtype),
          size: columns.own,
          space: "private",
        }),
      ),
    ],
    rowSums: rows.sums.flatMap((_, s) =>
      range(rows.own).map((i) => zeroed(sideName(rows, s, i), sumDtype(dtype))),
    ),
    sums: [
      ...each.map(({ i, j }) => zeroed(sumName(i, j), dtype)),
      ...columns.sums.flatMap((_, s) =>
        range(quads).map((j) => zeroed(sideName(columns, s, j), sumDtype(dtype))),
      ),
    ],
    keep: [
      ...(byNumber ? each : []).map(({ i, j }) =>
        keep("sums", (i * quads + j) * 4, t.lane.at, ref(sumName(i, j), dtype)),
      ),
      ...columns.sums.flatMap((_, s) =>
        range(quads).map((j) =>
          keep(sideArray(s), j * 4, t.lane.at, ref(sideName(columns, s, j), sumDtype(dtype))),
        ),
      ),
    ],
    inLanes: lanes?.body ?? [],
    after: [
      ...(lanes ? [] : storesOneByOne(t, rows, columns, dtype)),
      ...finishRows(t.context, rows, columns),
      ...finishColumns(t.context, rows, columns, sideArray),
    ],
  };
}

export const zeroed = (name: string, dtype: Dtype): Stmt => ({
  kind: "acc",
  name,
  dtype,
  init: constant(dtype, 0),
  widened: true,
});

const keep = (to: string, first: number, lane: Dim, value: Expr): Stmt => ({
  kind: "store",
  to,
  index: addDim(lane, first),
  value,
});

/** The statements that store the group's results for one sum of each product, or four of them. */
export function results(context: LoweringContext, by: Rename, ...sums: readonly Expr[]): Stmt[] {
  const { group } = context;
  const block = openBlock(context);
  for (const [i, t] of productsOf(context).entries()) block.bind(t, inDtype(sums[i]!, t.dtype));
  for (const [node] of membersOf(group))
    if (context.stored.has(node)) block.body.push(storeMember(context, block, node, by));
  return block.body;
}

const when = (condition: Condition, then: readonly Stmt[]): Stmt => ({
  kind: "if",
  when: [condition],
  then,
});

interface Stores {
  readonly body: readonly Stmt[];
  /** Whether the sums are read from the array, by number. */
  readonly byNumber: boolean;
}

/** Undefined where an index is known at run time only, which lanes do not share. */
function storesInLanes(t: Tile, rows: Lines, columns: Lines, dtype: Dtype): Stores | undefined {
  const byNumber = t.context.group.members.size > mostRepeated;
  const quads = columns.own / 4;
  const one = (r: Dim, q: Dim, sum: Expr): { row: Dim; quad: Dim; body: Stmt[] } => {
    const row = lineOf(rows, addDim(mulDim(rows.place, rows.own), r));
    const quad = quadOf(columns, addDim(columns.place, mulDim(q, acrossOf(columns))));
    const by = new Map([
      ...decoded(rows.loops, row),
      ...decodedQuads(columns.loops, quad, t.lane.at),
    ]);
    const body = [when(insideLines(columns, mulDim(quad, 4)), results(t.context, by, sum))];
    return { row, quad, body };
  };
  if (!byNumber) {
    const body = range(rows.own).map((i): Stmt => {
      const each = range(quads).map((j) => one(i, j, ref(sumName(i, j), dtype)));
      return when(
        insideLines(rows, each[0]!.row),
        each.flatMap((e) => e.body),
      );
    });
    return isDynamic(body) ? undefined : { body, byNumber };
  }
  const [r, q] = [makeLoop("r", rows.own), makeLoop("q", quads)];
  const at = addDim(mulDim(r.at, columns.own), addDim(mulDim(q.at, 4), t.lane.at));
  const { row, body } = one(r.at, q.at, load("sums", dtype, at));
  if (isDynamic(body)) return undefined;
  const inside = when(insideLines(rows, row), nest([q], "serial", body));
  return { body: nest([r], "serial", [inside]), byNumber };
}

/** Whether an index is known at run time only. */
export const isDynamic = (body: readonly Stmt[]): boolean =>
  body.some((s) => s.kind === "letDynamic" || (s.kind === "if" && isDynamic(s.then)));

function storesOneByOne(t: Tile, rows: Lines, columns: Lines, dtype: Dtype): Stmt[] {
  const [r, q, s] = [makeLoop("r", rows.own), makeLoop("q", columns.own / 4), makeLoop("s", 4)];
  const row = lineOf(rows, addDim(mulDim(rows.place, rows.own), r.at));
  const quad = quadOf(columns, addDim(columns.place, mulDim(q.at, acrossOf(columns))));
  const column = addDim(mulDim(quad, 4), s.at);
  const at = addDim(mulDim(r.at, columns.own), addDim(mulDim(q.at, 4), s.at));
  const body = results(t.context, new Map(), load("sums", dtype, at));
  const inside = when(insideLines(columns, column), [...decode(columns.loops, column), ...body]);
  const across = [...decode(rows.loops, row), ...nest([q, s], "serial", [inside])];
  return nest([r], "serial", [when(insideLines(rows, row), across)]);
}

/** What a step adds to the sums of an operand's lines. */
export const addReductions = (
  l: Lines,
  own: readonly number[],
  value: (i: number) => Expr,
): Stmt[] =>
  l.sums.flatMap((_, s) =>
    own.map((i): Stmt => {
      const name = sideName(l, s, i);
      const dtype = sumDtype(l.operand.operand.dtype);
      const term = value(i);
      const wide = term.dtype === dtype ? term : call("convert", dtype, term);
      return { kind: "set", name, value: call("add", dtype, ref(name, dtype), wide) };
    }),
  );

interface Finished {
  /** Which of the operand's sums. */
  readonly s: number;
  readonly line: Dim;
  readonly sum: Expr;
  /** What the kernel calls it. */
  readonly name: string;
  /** The invocations that have it. */
  readonly when: readonly Condition[];
}

/** Stores what depends on the sum of a line. */
export function finishReduction(
  context: LoweringContext,
  l: Lines,
  { s, line, sum, name, when }: Finished,
): Stmt {
  const { dtype } = l.operand.operand;
  const { group, rename } = l.sums[s]!;
  const part: LoweringContext = { ...context, group };
  const block = openBlock(part);
  const reduction = [...group.members.keys()].find(isReduceOp)!;
  block.bind(reduction, inDtype(ref(name, dtype), reduction.dtype));
  storeMembers(part, block, rename);
  return {
    kind: "if",
    when: [...when, insideLines(l, line)],
    then: [
      { kind: "let", name, value: inDtype(sum, dtype) },
      ...decode(l.loops, line),
      ...block.body,
    ],
  };
}

/** Of rows: the first workgroup and invocation across have them. */
const finishRows = (context: LoweringContext, rows: Lines, columns: Lines): Stmt[] =>
  rows.sums.flatMap((_, s) =>
    range(rows.own).map((i) => {
      const line = lineOf(rows, addDim(mulDim(rows.place, rows.own), i));
      const held = sideName(rows, s, i);
      const sum = ref(held, sumDtype(rows.operand.operand.dtype));
      const when = [isFirst(columns.tile), isFirst(columns.place)];
      return finishReduction(context, rows, { s, line, sum, name: `${held}Sum`, when });
    }),
  );

const finishColumns = (
  context: LoweringContext,
  rows: Lines,
  columns: Lines,
  arrayOf: (s: number) => string,
): Stmt[] =>
  columns.sums.flatMap((_, s) =>
    range(columns.own).map((i) => {
      const quad = addDim(columns.place, Math.floor(i / 4) * acrossOf(columns));
      const line = addDim(mulDim(quadOf(columns, quad), 4), i % 4);
      const sum = load(arrayOf(s), sumDtype(columns.operand.operand.dtype), i);
      const when = [isFirst(rows.tile), isFirst(rows.place)];
      return finishReduction(context, columns, { s, line, sum, name: `${arrayOf(s)}_${i}`, when });
    }),
  );
