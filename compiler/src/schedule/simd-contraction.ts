/**
 * A contraction on a CPU with vectors and threads. One operand is packed by rows of the result in a phase of its own;
 * then units of work, blocks of rows and columns, pack the other operand's columns for themselves, run register tiles
 * over blocks of depth, and compute the group's results from the finished sums. Columns are the direction in which the
 * results lie in memory. No sum depends on how the units are shared out.
 */
import {
  addDim,
  ceilDiv,
  type Dim,
  isStatic,
  maxOfDim,
  minDim,
  minOfDim,
  mulDim,
  offsetOf,
  subDim,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import type { Stmt } from "../kernel/kernel.ts";
import type { Job } from "../lower/job.ts";
import { decode, nest, type Rename, totalOf } from "../lower/loops.ts";
import { load } from "../lower/value.ts";
import { dimsIn } from "../lower/walk.ts";
import { isEven } from "./simd-even.ts";
import { type Depth, depthOf, type Lines, linesOf, overBlocks } from "./simd-lines.ts";
import { type Operand, operandsOf } from "./simd-operand.ts";
import { packPanel } from "./simd-pack.ts";
import { sidePhases } from "./simd-side.ts";
import { inBlock, results, type Tile, tileSums, widthOf } from "./simd-tile.ts";
import { strideOf } from "./stride.ts";

/** What the parts of one kernel share. */
interface Plan {
  readonly job: Job;
  readonly rows: Lines;
  readonly columns: Lines;
  readonly depth: Depth;
  readonly tile: Tile;
  /** Rows and columns of a unit. */
  readonly block: { readonly rows: number; readonly columns: number };
}

export function simdContraction(job: Job): Stmt[] {
  const operands = operandsOf(job);
  const { rows, columns } = orient(job, operands);
  const depth = depthOf(job, [operands.a, operands.b]);
  const tile = tileOf(rows.total, columns.total);
  const batch = job.group.contraction!.batch;
  const block = blockOf(tile, rows.total, columns.total, [...batch, ...columns.spread], depth);
  const plan: Plan = { job, rows, columns, depth, tile, block };
  const before = [operands.a.before, operands.b.before, ...sidePhases(job, operands)];
  return [...before, ...phasesOf(plan)]
    .filter((phase) => phase.length > 0)
    .flatMap((phase, i) => (i === 0 ? phase : [{ kind: "barrier" }, ...phase]));
}

const dtypeOf = (job: Job) => job.group.contraction!.a.operand.dtype;

/** Which operand's lines are the columns: those along which most stores step by one element; b's where neither's do. */
function orient(job: Job, operands: { a: Operand; b: Operand }): { rows: Lines; columns: Lines } {
  const c = job.group.contraction!;
  const sum = load("sums", dtypeOf(job), 0);
  const indices = (rename: Rename) => dimsIn(results(job, rename, sum));
  const of = (which: "a" | "b", spread: boolean) =>
    linesOf(which, which === "a" ? c.m : c.n, operands[which], indices, spread);
  const stores = (which: "a" | "b"): number => {
    const line = makeLoop("q", of(which, true).total);
    return results(job, of(which, true).at(line.at), sum).filter(
      (s) => s.kind === "store" && line.at !== 0 && strideOf(s.index, line.name) === 1,
    ).length;
  };
  const [a, b] = [stores("a"), stores("b")];
  const narrow = a === b && maxOfDim(totalOf(c.n)) < 4 && minOfDim(totalOf(c.m)) >= 4;
  return a > b || narrow
    ? { rows: of("b", false), columns: of("a", true) }
    : { rows: of("a", false), columns: of("b", true) };
}

/** Eight vector sums, or as many as the extents have use for. */
function tileOf(m: Dim, n: Dim): Tile {
  const [rows, columns] = [Math.max(1, maxOfDim(m)), Math.max(1, maxOfDim(n))];
  const wanted = rows >= 4 ? (columns > 4 ? 2 : 1) : rows === 1 ? 8 : rows === 2 ? 4 : 2;
  return { rows: Math.min(4, rows), vectors: Math.min(wanted, Math.ceil(columns / 4)) };
}

/** Units that a kernel should have at least, to keep some threads busy. */
const leastUnits = 16;
/** Shallow products do little with a block of sums, so that it should stay in the first cache. */
const shallow = 32;

const roundUp = (n: number, to: number): number => Math.ceil(n / to) * to;

/** A block of a's panels of 256 rows and 256 steps is 256 KB: it stays in the second cache. */
function blockOf(tile: Tile, m: Dim, n: Dim, around: readonly Loop[], depth: Depth) {
  const width = widthOf(tile);
  const parallel = Math.max(1, minOfDim(totalOf(around)));
  const fit = (extent: Dim, most: number, to: number): number => {
    const count = Math.max(1, Math.ceil(maxOfDim(extent) / most));
    return Number.isFinite(count)
      ? Math.max(to, roundUp(Math.ceil(maxOfDim(extent) / count), to))
      : most;
  };
  let [mostRows, mostColumns] = [maxOfDim(depth.total) <= shallow ? 64 : 256, 64];
  if (parallel >= leastUnits) mostColumns = 128;
  const size = () => ({ rows: fit(m, mostRows, tile.rows), columns: fit(n, mostColumns, width) });
  const count = () => {
    const { rows, columns } = size();
    const blocks = (extent: Dim, by: number) => Math.max(1, Math.ceil(usual(extent) / by));
    return parallel * blocks(m, rows) * blocks(n, columns);
  };
  while (count() < leastUnits && (mostRows > 64 || mostColumns > 32))
    if (mostRows > 64) mostRows /= 2;
    else mostColumns /= 2;
  return size();
}

/** The extent, or a usual one where it is not known. */
const usual = (extent: Dim): number =>
  isStatic(extent) ? extent : Math.max(256, minOfDim(extent));

/** Panels of rows that lie in a unit's private memory if they have at most this many elements. */
const privateRows = 1 << 16;

function phasesOf(plan: Plan): Stmt[][] {
  const { job, rows, columns, tile, block, depth } = plan;
  const c = job.group.contraction!;
  const row = makeLoop("rowBlock", ceilDiv(rows.total, block.rows));
  const column = makeLoop("columnBlock", ceilDiv(columns.total, block.columns));
  const around = [...c.batch, ...columns.spread].filter((l) => l.extent !== 1);
  const loops = [...around, row, column];
  const unit = makeLoop("unit", totalOf(loops));
  const panels = ceilDiv(rows.total, tile.rows);
  const size = mulDim(mulDim(block.rows, depth.total), 1);
  const alone =
    row.extent === 1 &&
    column.extent === 1 &&
    columns.spread.length === 0 &&
    isStatic(size) &&
    size <= privateRows;
  const batch = c.batch.filter((l) => l.extent !== 1);
  const flat = offsetOf(
    batch.map((l) => l.extent),
    batch.map((l) => l.at),
  );
  const panelSize = mulDim(depth.total, tile.rows);
  const name = alone
    ? "packedRows"
    : job.buffers.scratch(
        "packedRows",
        dtypeOf(job),
        mulDim(mulDim(totalOf(batch), panels), panelSize),
      );
  const panel = makeLoop("panel", panels);
  const base = (p: Dim): Dim => mulDim(alone ? p : addDim(mulDim(flat, panels), p), panelSize);
  const pack = (): Stmt[] =>
    packPanel(
      job,
      rows,
      { name, width: tile.rows, first: mulDim(panel.at, tile.rows), base: base(panel.at) },
      depth.whole,
    );
  const packLoops = [...batch, panel];
  const packUnit = makeLoop("unit", totalOf(packLoops));
  const packPhase: Stmt[] = [
    { kind: "comment", text: "pack by rows" },
    ...nest([packUnit], "parallel", [...decode(packLoops, packUnit.at), ...pack()]),
  ];
  const array = (n: string, elements: Dim): Stmt => ({
    kind: "array",
    name: n,
    dtype: dtypeOf(job),
    size: elements,
    space: "private",
  });
  const body: Stmt[] = [
    array("sums", block.rows * block.columns),
    array("packedColumns", block.columns * depth.most),
    ...(alone ? [array(name, size)] : []),
    ...decode(loops, unit.at),
    ...(alone ? nest([panel], "serial", pack()) : []),
    ...unitBody(plan, {
      row: mulDim(row.at, block.rows),
      column: mulDim(column.at, block.columns),
      rowPanel: (p, from) => addDim(base(p), mulDim(from, tile.rows)),
      packed: name,
    }),
  ];
  const tiles: Stmt[] = nest([unit], "parallel", body);
  return alone ? [tiles] : [packPhase, tiles];
}

/** Where a unit stands: its first row and column, and the packed rows it reads. */
interface Unit {
  readonly row: Dim;
  readonly column: Dim;
  /** The place of a panel of rows, from a step of depth on. */
  readonly rowPanel: (panel: Dim, from: Dim) => Dim;
  readonly packed: string;
}

function unitBody(plan: Plan, unit: Unit): Stmt[] {
  const { job, rows, columns, depth, tile, block } = plan;
  const dtype = dtypeOf(job);
  const width = widthOf(tile);
  const height = within(block.rows, rows.total, unit.row);
  const breadth = within(block.columns, columns.total, unit.column);
  const rp = makeLoop("p", ceilDiv(height, tile.rows));
  const cp = makeLoop("q", ceilDiv(breadth, width));
  const firstPanel = divided(unit.row, tile.rows);
  const zero = makeLoop("z", block.rows * block.columns);
  const clear: Stmt[] = nest([zero], "simd", [
    { kind: "store", to: "sums", index: zero.at, value: { kind: "const", dtype, value: 0 } },
  ]);
  const blocks = overBlocks(depth, ({ run, length, from }) => {
    const columnBase = mulDim(cp.at, depth.most * width);
    const panel = {
      name: "packedColumns",
      width,
      first: addDim(unit.column, mulDim(cp.at, width)),
      base: columnBase,
    };
    const rowBase = unit.rowPanel(addDim(firstPanel, rp.at), from);
    const sums = tileSums(tile, dtype, length, {
      row: (step, r) =>
        load(unit.packed, dtype, addDim(addDim(rowBase, mulDim(step, tile.rows)), r)),
      column: (step, s) =>
        load("packedColumns", dtype, addDim(addDim(columnBase, mulDim(step, width)), s)),
      sums: "sums",
      base: inBlock(mulDim(rp.at, tile.rows), mulDim(cp.at, width), block.columns),
      pitch: block.columns,
      add: !depth.single,
    });
    return nest([cp], "serial", [
      ...packPanel(job, columns, panel, run),
      ...nest([rp], "serial", sums),
    ]);
  });
  return [...(depth.single ? [] : clear), ...blocks, ...finish(plan, unit, height, breadth)];
}

/** How many of `most` lines from `first` on exist. */
const within = (most: number, total: Dim, first: Dim): Dim =>
  isStatic(total) && total % most === 0 ? most : minDim(most, subDim(total, first));

/** A multiple of `by`, divided. */
const divided = (d: Dim, by: number): Dim => (by === 1 ? d : ceilDiv(d, by));

/** The group's results for the elements of a unit. */
function finish(plan: Plan, unit: Unit, height: Dim, breadth: Dim): Stmt[] {
  const { job, rows, columns, block } = plan;
  const r = makeLoop("r", block.rows);
  const s = makeLoop("s", block.columns);
  const sum = load("sums", dtypeOf(job), inBlock(r.at, s.at, block.columns));
  const row = makeLoop("row", rows.total);
  const rename = new Map([...rows.at(row.at), ...columns.at(addDim(unit.column, s.at))]);
  const body = results(job, rename, sum);
  const inner = nest([{ ...s, extent: breadth }], isEven(body, s.name) ? "simd" : "serial", body);
  return nest([{ ...r, extent: height }], "serial", [
    { kind: "letIndex", name: row.name, value: addDim(unit.row, r.at) },
    ...inner,
  ]);
}
