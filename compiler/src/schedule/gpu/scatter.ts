/**
 * Lowers a scatter on a GPU without atomics: WGSL has none for f32, and they would add in any
 * order. A workgroup has some rows of the result, and some columns of each, and walks all indices;
 * what lands in its rows is listed in the order of the updates, and each invocation takes its own
 * rows' of the list in. A row is read and written once for some thousand updates, whatever their
 * number.
 *
 *   8192 rows of 768 columns, 4096 updates: 1024 · 3 workgroups of 8 rows, which read 50 MB of
 *   indices, from a cache, beside the 63 MB of rows and updates.
 *
 * Few updates of what may lie in place are walked by every invocation instead, which then touches
 * no other row.
 */
import {
  addDim,
  anyInteger,
  ceilDiv,
  type Dim,
  floorDiv,
  maxOfDim,
  modDim,
  mulDim,
  offsetOf,
  subDim,
} from "@kiln-ml/ir";
import { makeLoop } from "../../fuse/group.ts";
import { isAtLeast0, isBelow, onlyIf } from "../../kernel/conditions.ts";
import { call, constant, load, ref } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import { indexName } from "../../kernel/names.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { decode, nest, totalOf } from "../../lower/loops.ts";
import type { Scheduled } from "../../lower/lower.ts";
import { fromIndex } from "../../lower/value.ts";
import { rows, scatters } from "../../machine/webgpu.ts";
import {
  combined,
  copyOf,
  finishOf,
  landingOf,
  type ScatterPlace,
  scatterParts,
  scatterPlace,
  updateOf,
} from "../scatter.ts";
import { groupSize, perInvocation, within } from "./gpu.ts";

export function gpuScatter(context: LoweringContext): Scheduled {
  const place = scatterPlace(context);
  return isShort(place) ? walked(context) : listed(context, place);
}

/** Whether an invocation that walks everything, the target too where it is copied, is soon done. */
function isShort({ node, indexed, positions }: ScatterPlace): boolean {
  const isMade = node.operands[0]!.operands.length > 0 || node.operands[0]!.op === "constant";
  const copied = isMade ? maxOfDim(totalOf(indexed)) : 0;
  return maxOfDim(totalOf(positions)) + 2 * copied <= scatters.walked;
}

/** One invocation for each coordinate that is not indexed; it walks all the others in order. */
function walked(context: LoweringContext): Scheduled {
  const p = scatterParts(context);
  const body = [
    ...nest(p.indexed, "serial", p.copy),
    ...nest(p.positions, "serial", p.combine),
    ...(p.finish.length ? nest(p.indexed, "serial", p.finish) : []),
  ];
  return { body: perInvocation(p.rest, rows.group, body), workgroupSize: rows.group };
}

/** How a workgroup's share is cut. */
interface Share {
  /** Columns, side by side; as many teams as fit have rows in turn. */
  readonly columns: number;
  readonly teams: number;
  readonly rowsEach: number;
  /** Updates that are listed at a time. */
  readonly tile: number;
}

/** An extent, or what is usual of one that has no bound. */
const usual = (d: Dim): number => Math.min(maxOfDim(d), scatters.usual);

function shareOf({ indexed, rest, positions }: ScatterPlace): Share {
  const [down, across, updates] = [indexed, rest, positions].map((l) => usual(totalOf(l)));
  const columns = columnsFor(across!);
  const teams = groupSize / columns;
  const chunks = Math.ceil(across! / columns);
  const groups = (each: number): number => Math.ceil(down! / (teams * each)) * chunks;
  const moved = (2 * down! + updates!) * across!;
  let rowsEach = 1;
  while (groups(rowsEach) * updates! > moved && groups(2 * rowsEach) >= scatters.leastGroups)
    rowsEach *= 2;
  const most = Math.ceil(updates! / scatters.run) * scatters.run;
  return { columns, teams, rowsEach, tile: Math.max(scatters.run, Math.min(scatters.tile, most)) };
}

/** Columns of a workgroup: few stand idle, and a memory access takes whole sectors. */
function columnsFor(across: number): number {
  if (across < scatters.leastColumns) return 2 ** Math.ceil(Math.log2(Math.max(1, across)));
  let best = groupSize;
  const waste = (by: number): number => Math.ceil(across / by) * by;
  for (let by = groupSize; by >= scatters.leastColumns; by /= 2)
    if (waste(by) < waste(best)) best = by;
  return best;
}

const i32 = (op: string, ...args: Expr[]): Expr => call(op, "i32", ...args);
const int = (value: number): Expr => constant("i32", value);

/** The index variable that has the length of the list. */
const listLength = indexName("listed");

/** Rows of `hits` that are none of the workgroup's. */
const nowhere = -1;

function listed(context: LoweringContext, place: ScatterPlace): Scheduled {
  const share = shareOf(place);
  const { columns, teams, rowsEach, tile } = share;
  const [down, across, updates] = [place.indexed, place.rest, place.positions].map(totalOf) as [
    Dim,
    Dim,
    Dim,
  ];
  const own = teams * rowsEach;
  const chunks = ceilDiv(across, columns);
  const group = makeLoop("block", mulDim(ceilDiv(down, own), chunks));
  const lid = makeLoop("lid", groupSize);
  const base = mulDim(floorDiv(group.at, chunks), own);
  const column = addDim(mulDim(modDim(group.at, chunks), columns), modDim(lid.at, columns));
  const each = makeLoop("own", rowsEach);
  const local = addDim(mulDim(each.at, teams), floorDiv(lid.at, columns));
  const row = addDim(base, local);
  // Of each own row: what `body` does at its coordinates.
  const perRow = (body: readonly Stmt[]): Stmt[] => {
    if (body.length === 0) return [];
    const found = [...decode(place.rest, column), ...decode(place.indexed, row), ...body];
    const exists = [...within(row, down, own), ...within(column, across, columns)];
    return nest([each], "serial", onlyIf(exists, found));
  };
  const array = (name: string, size: number): Stmt => ({
    kind: "array",
    name,
    dtype: "i32",
    size,
    space: "shared",
  });
  const step = makeLoop("tile", ceilDiv(updates, tile));
  const first = mulDim(step.at, tile);
  const body: Stmt[] = [
    { kind: "letInvocation", name: lid.name },
    array("hits", tile),
    array("counts", tile / scatters.run),
    array("list", tile),
    ...perRow(copyOf(context, place)),
    ...nest([step], "serial", [
      ...listing(context, place, { base, own, first, tile, updates }),
      { kind: "barrier" },
      ...counting(tile),
      ...perRow(takingIn(context, place, { local, own, first, tile, updates })),
      { kind: "barrier" },
    ]),
    ...perRow(finishOf(context, place)),
  ];
  return { body: nest([group], "workgroup", body), workgroupSize: groupSize };
}

/** A tile of updates, and the rows of the workgroup. */
interface Tile {
  readonly first: Dim;
  readonly tile: number;
  readonly updates: Dim;
  readonly own: number;
}

/** Lists the updates of a tile that land in the workgroup's rows, in their order. */
function listing(
  context: LoweringContext,
  place: ScatterPlace,
  { base, own, first, tile, updates }: Tile & { readonly base: Dim },
): Stmt[] {
  const k = makeLoop("k", tile);
  const block = openBlock(context);
  const { at, inRange } = landingOf(block, place);
  const landed = subDim(
    offsetOf(
      place.indexed.map((l) => l.extent),
      at,
    ),
    base,
  );
  const put = (value: Expr): Stmt => ({ kind: "store", to: "hits", index: k.at, value });
  const hit: Stmt = {
    kind: "if",
    when: [...inRange, isAtLeast0(landed), isBelow(landed, own)],
    then: [put(fromIndex(landed, "i32"))],
  };
  const flat = addDim(first, k.at);
  const look = [...decode(place.positions, flat), ...block.body, hit];
  const { run } = scatters;
  const [g, j] = [makeLoop("g", tile / run), makeLoop("j", run)];
  const isHit = (index: Dim): Expr =>
    i32("select", call("greaterEqual", "bool", load("hits", "i32", index), int(0)), int(1), int(0));
  const counted = (name: string, value: Expr): Stmt => ({
    kind: "accumulate",
    name,
    reducer: "sum",
    value,
  });
  const zero = (name: string): Stmt => ({
    kind: "acc",
    name,
    dtype: "i32",
    init: int(0),
    widened: false,
  });
  const [before, rank] = [makeLoop("before", floorDiv(k.at, run)), indexName("rank")];
  const within16 = { ...j, extent: modDim(k.at, run) };
  const found = anyInteger(indexName("hit"));
  return [
    ...nest([k], "local", [put(int(nowhere)), ...onlyIf(within(flat, updates, tile), look)]),
    { kind: "barrier" },
    ...nest([g], "local", [
      zero("count"),
      ...nest([j], "serial", [counted("count", isHit(addDim(mulDim(g.at, run), j.at)))]),
      { kind: "store", to: "counts", index: g.at, value: ref("count", "i32") },
    ]),
    { kind: "barrier" },
    ...nest([k], "local", [
      { kind: "letDynamic", name: indexName("hit"), value: load("hits", "i32", k.at) },
      ...onlyIf(
        [isAtLeast0(found)],
        [
          zero("earlier"),
          ...nest([before], "serial", [counted("earlier", load("counts", "i32", before.at))]),
          ...nest([within16], "serial", [
            counted("earlier", isHit(addDim(mulDim(floorDiv(k.at, run), run), j.at))),
          ]),
          { kind: "letDynamic", name: rank, value: inTile(ref("earlier", "i32"), tile) },
          {
            kind: "store",
            to: "list",
            index: anyInteger(rank, 0, tile - 1),
            value: fromIndex(k.at, "i32"),
          },
        ],
      ),
    ]),
  ];
}

const inTile = (value: Expr, tile: number): Expr =>
  i32("maximum", i32("minimum", value, int(tile - 1)), int(0));

/** Binds the number of updates that are listed. */
function counting(tile: number): Stmt[] {
  const g = makeLoop("g", tile / scatters.run);
  const value = load("counts", "i32", g.at);
  const most = i32("maximum", i32("minimum", ref("total", "i32"), int(tile)), int(0));
  return [
    { kind: "acc", name: "total", dtype: "i32", init: int(0), widened: false },
    ...nest([g], "serial", [{ kind: "accumulate", name: "total", reducer: "sum", value }]),
    { kind: "letDynamic", name: listLength, value: most },
  ];
}

/** Takes those updates of the list in that land in one row. */
function takingIn(
  context: LoweringContext,
  place: ScatterPlace,
  { local, first, tile, updates }: Tile & { readonly local: Dim },
): Stmt[] {
  const { node, to, here } = place;
  const [at, lands, begun] = ["at", "lands", "begun"].map(indexName) as [string, string, string];
  const j = makeLoop("j", anyInteger(listLength, 0, tile));
  const last = fromIndex(subDim(subDim(updates, 1), first), "i32");
  const listedAt = i32("minimum", load("list", "i32", j.at), last);
  const k = anyInteger(at, 0, tile - 1);
  const block = openBlock(context);
  const update = updateOf(block, place);
  const sum = ref("sum", node.dtype);
  const set = (name: string, value: Expr): Stmt => ({ kind: "set", name, value });
  const isNew = { value: anyInteger(begun, 0, 1), test: "zero" } as const;
  return [
    { kind: "acc", name: "sum", dtype: node.dtype, init: constant(node.dtype, 0), widened: false },
    { kind: "acc", name: "taken", dtype: "i32", init: int(0), widened: false },
    ...nest([j], "serial", [
      { kind: "letDynamic", name: at, value: inTile(listedAt, tile) },
      { kind: "letDynamic", name: lands, value: load("hits", "i32", k) },
      {
        kind: "if",
        when: [{ value: subDim(anyInteger(lands), local), test: "zero" }],
        then: [
          { kind: "letDynamic", name: begun, value: ref("taken", "i32") },
          { kind: "if", when: [isNew], then: [set("sum", load(to, node.dtype, here))] },
          set("taken", int(1)),
          ...decode(place.positions, addDim(first, k)),
          ...block.body,
          set("sum", combined(node, sum, update)),
        ],
      },
    ]),
    { kind: "letDynamic", name: begun, value: ref("taken", "i32") },
    {
      kind: "if",
      when: [isAtLeast0(subDim(anyInteger(begun, 0, 1), 1))],
      then: [{ kind: "store", to, index: here, value: sum }],
    },
  ];
}
