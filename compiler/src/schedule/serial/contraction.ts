/**
 * A contraction on one thread, in scalar JavaScript. Both operands are packed into panels, a
 * register tile of 4×2 sums runs over all of K, and the tile's epilogue stores. Sums run in the
 * order of K, so that js keeps the reference's bits. Why this shape: registers bound it. An engine
 * loads all that a step of K needs before it adds, and 4×2 sums with their six operands just fit
 * in 16 registers; more sums spill to memory and take longer. A prologue is evaluated where an
 * element is packed, once and not once a tile. Panels of f32 hold f64: the conversion then happens
 * once an element, and not in every tile, which is an eighth of the time. B is packed 64 columns
 * at a time, 256 KB at K = 1024, so that it stays in L2 while rows pass.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  type Dtype,
  isStatic,
  maxOfDim,
  minDim,
  mulDim,
  negDim,
  offsetOf,
  subDim,
} from "@kiln-ml/ir";
import { type Contraction, type Loop, makeLoop } from "../../fuse/group.ts";
import { call, constant, load, ref } from "../../kernel/expr.ts";
import type { Expr, LoopKind, Stmt } from "../../kernel/kernel.ts";
import { strideOf } from "../../kernel/stride.ts";
import { type LoweringContext, openBlock, storeMembers } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import { choose, doubled } from "../../lower/value.ts";
import { storeReduction, sumOf } from "../operand-reduction.ts";

/** Columns of b packed at once: 64 columns of 1,024 elements are 256 KB, the usual L2. */
const columnBlock = 64;
/**
 * All of a is packed once if it has at most this many elements; otherwise 4 rows at a time, again
 * for each block.
 */
const wholeLimit = 1 << 22;

interface Tile {
  readonly rows: number;
  readonly columns: number;
}

/**
 * The register tile: 4×2, or less where an extent is smaller. Engines load all a step needs before
 * they add any of it, so that 4×2 sums with what is loaded for them just fit in 16 registers; more
 * sums are kept in memory and take longer.
 */
const tileOf = (m: Dim, n: Dim): Tile => ({
  rows: Math.min(4, Math.max(1, maxOfDim(m))),
  columns: Math.min(2, Math.max(1, maxOfDim(n))),
});

export function serialContraction(context: LoweringContext): Stmt[] {
  const c = context.group.contraction!;
  const [m, n, k] = [totalOf(c.m), totalOf(c.n), totalOf(c.k)];
  const tile = tileOf(m, n);
  const rows = makeLoop("i", m);
  const columns = makeLoop("j", n);
  const whole = isStatic(m) && isStatic(k) && m * k <= wholeLimit;
  const height = whole ? mulDim(ceilDiv(m, tile.rows), tile.rows) : tile.rows;
  const block = isStatic(n)
    ? Math.min(columnBlock, Math.ceil(n / tile.columns) * tile.columns)
    : columnBlock;
  const panel = (name: string, lines: Dim, width: number): Panel => {
    return { name: context.buffers.scratch(name, doubled(dtypeOf(c)), mulDim(k, lines)), width };
  };
  const [a, b] = [panel("packedA", height, tile.rows), panel("packedB", block, tile.columns)];
  const packB = packPanel(context, b, "b", { from: columns.at, count: block, once: [] });
  const packA = packPanel(context, a, "a", {
    from: whole ? 0 : rows.at,
    count: height,
    once: whole ? [] : [{ value: negDim(columns.at), test: "nonnegative" }],
  });
  const inBlock = makeLoop("jj", block);
  const here = { row: rows.at, column: addDim(columns.at, inBlock.at) };
  const breadth = { ...inBlock, extent: minDim(block, subDim(n, columns.at)) };
  const body = tileBody(context, tile, here, [a, whole ? rows.at : 0], [b, inBlock.at]);
  const tiles = stepping(breadth, tile.columns, "serial", body);
  const down = stepping(rows, tile.rows, "serial", whole ? [tiles] : [...packA, tiles]);
  const across = [comment("pack columns of the right operand"), ...packB, down];
  return [
    sumsOf(tile, dtypeOf(c)),
    ...nest(c.batch, "parallel", [
      ...(whole ? [comment("pack the left operand"), ...packA] : []),
      stepping(columns, block, "parallel", across),
    ]),
  ];
}

/** The array of the sums of one tile. */
const sumsOf = ({ rows, columns }: Tile, dtype: Dtype): Stmt => ({
  kind: "array",
  name: "tile",
  dtype,
  size: rows * columns,
  space: "private",
});

const comment = (text: string): Stmt => ({ kind: "comment", text });

/** A loop of which each iteration stands for `step` of them. */
const stepping = (l: Loop, step: number, loop: LoopKind, body: readonly Stmt[]): Stmt => ({
  kind: "loop",
  name: l.name,
  extent: l.extent,
  step,
  loop,
  body,
});

const dtypeOf = (c: Contraction) => c.a.operand.dtype;

interface Panel {
  readonly name: string;
  /** Elements of a slice of the panel: the tile's rows or columns. */
  readonly width: number;
}

interface Packing {
  /** The first row or column packed, and how many. */
  readonly from: Dim;
  readonly count: Dim;
  /** When the finished sums are stored, if the same lines are packed several times. */
  readonly once: readonly Condition[];
}

/** packed[(p·K + k)·width + s] = operand at row p·width + s, zero past the last row. */
function packPanel(context: LoweringContext, panel: Panel, which: "a" | "b", p: Packing): Stmt[] {
  const c = context.group.contraction!;
  const [operand, loops] = [c[which], which === "a" ? c.m : c.n];
  const limit = totalOf(loops);
  const slice = makeLoop("p", ceilDiv(p.count, panel.width));
  const within = makeLoop("s", panel.width);
  const line = addDim(addDim(p.from, mulDim(slice.at, panel.width)), within.at);
  const values = openBlock(context);
  // Whole slices have no line past the last: every panel starts at a multiple of its width.
  const whole = isStatic(limit) && limit % panel.width === 0;
  const past: Condition = { value: subDim(subDim(limit, 1), line), test: "nonnegative" };
  const inside = whole ? [] : [past];
  const guard = [...inside, ...operand.when];
  const value = values.at(operand.operand, operand.coords, guard);
  const kk = offsetOf(
    c.k.map((l) => l.extent),
    c.k.map((l) => l.at),
  );
  const index = addDim(mulDim(addDim(mulDim(slice.at, totalOf(c.k)), kk), panel.width), within.at);
  const packed = choose(guard, value, constant(value.dtype, 0));
  values.body.push({ kind: "store", to: panel.name, index, value: packed });
  const sides = context.group.operandReductions.filter((s) => s.operand === which);
  const sums = sides.map((side, i) => ({ side, name: `side${i}`, dtype: sumOf(side.group).dtype }));
  for (const { name } of sums)
    values.body.push({ kind: "accumulate", name, reducer: "sum", value: packed });
  const body: Stmt[] = [
    ...sums.map(({ name, dtype }): Stmt => {
      return { kind: "acc", name, dtype, init: constant(dtype, 0), widened: true };
    }),
    ...decode(loops, line),
    ...nest(c.k, "serial", values.body),
  ];
  const finish = sums.flatMap(({ side, name }) =>
    storeReduction(context, side, ref(name, sumOf(side.group).dtype)),
  );
  const once = [...inside, ...p.once];
  if (finish.length && once.length) body.push({ kind: "if", when: once, then: finish });
  else body.push(...finish);
  const extent = ceilDiv(minDim(p.count, subDim(limit, p.from)), panel.width);
  return nest([{ ...slice, extent }, within], "serial", body);
}

/** The sums of one tile over all of k, and its epilogue. */
function tileBody(
  context: LoweringContext,
  tile: Tile,
  here: { row: Dim; column: Dim },
  [a, aLine]: readonly [Panel, Dim],
  [b, bLine]: readonly [Panel, Dim],
): Stmt[] {
  const c = context.group.contraction!;
  const [k, dtype] = [makeLoop("k", totalOf(c.k)), dtypeOf(c)];
  const grid = Array.from({ length: tile.rows * tile.columns }, (_, q) => {
    const [r, s] = [Math.floor(q / tile.columns), q % tile.columns];
    return { name: `c${r}${s}`, r, s };
  });
  // A slice of the panel starts at line·K, since a slice is `width` lines of K.
  const element = (panel: Panel, line: Dim, i: number): Expr => {
    const start = mulDim(line, totalOf(c.k));
    return load(panel.name, dtype, addDim(addDim(start, mulDim(k.at, panel.width)), i));
  };
  const lets = (name: string, count: number, panel: Panel, line: Dim): Stmt[] =>
    Array.from({ length: count }, (_, i): Stmt => {
      return { kind: "let", name: `${name}${i}`, value: element(panel, line, i) };
    });
  const inner: Stmt[] = [
    ...lets("a", tile.rows, a, aLine),
    ...lets("b", tile.columns, b, bLine),
    ...grid.map(({ name, r, s }): Stmt => {
      return { kind: "fma", name, a: ref(`a${r}`, dtype), b: ref(`b${s}`, dtype) };
    }),
  ];
  return [
    ...grid.map(
      ({ name }): Stmt => ({ kind: "acc", name, dtype, init: constant(dtype, 0), widened: true }),
    ),
    ...nest([k], "serial", inner),
    ...grid.map(
      ({ name }, q): Stmt => ({ kind: "store", to: "tile", index: q, value: ref(name, dtype) }),
    ),
    ...epilogue(context, tile, here),
  ];
}

/** Stores the group's results for the elements of the tile that lie inside. */
function epilogue(context: LoweringContext, tile: Tile, here: { row: Dim; column: Dim }): Stmt[] {
  const { group } = context;
  const c = group.contraction!;
  const [m, n] = [totalOf(c.m), totalOf(c.n)];
  const r = makeLoop("r", tile.rows);
  const s = makeLoop("s", tile.columns);
  const block = openBlock(context);
  const anchor = group.anchor!;
  const sum = load("tile", dtypeOf(c), addDim(mulDim(r.at, tile.columns), s.at));
  const value = anchor.dtype === sum.dtype ? sum : call("convert", anchor.dtype, sum);
  block.bind(anchor, value);
  storeMembers(context, block, new Map());
  const along = (l: Loop, most: number, total: Dim, from: Dim, body: readonly Stmt[]): Stmt => ({
    kind: "loop",
    name: l.name,
    extent: isStatic(total) && total % most === 0 ? most : minDim(most, subDim(total, from)),
    loop: "serial",
    body,
  });
  const rows = decode(c.m, addDim(here.row, r.at));
  const columns = decode(c.n, addDim(here.column, s.at));
  const byRow = (body: readonly Stmt[]) => along(r, tile.rows, m, here.row, body);
  const byColumn = (body: readonly Stmt[]) => along(s, tile.columns, n, here.column, body);
  return rowsInside(c, block.body)
    ? [byColumn([...columns, byRow([...rows, ...block.body])])]
    : [byRow([...rows, byColumn([...columns, ...block.body])])];
}

/**
 * True if stores step by one element along the rows, or if columns take divisions to find and rows
 * do not.
 */
function rowsInside(c: Contraction, body: readonly Stmt[]): boolean {
  if (c.m.length === 1 && c.n.length > 1) return true;
  const [m, n] = [c.m.at(-1), c.n.at(-1)];
  if (!m || !n) return false;
  const stores = body.filter((s) => s.kind === "store");
  const along = (l: Loop) => stores.filter((s) => strideOf(s.index, l.name) === 1).length;
  return along(m) > along(n);
}
