/**
 * A contraction on a GPU: a workgroup computes a tile of the result, 4×4 elements an invocation. Tiles of both operands are
 * brought to workgroup memory along k (prologues are evaluated there); edges are masked by guards. Sums run in the
 * order of k.
 */
import {
  addDim,
  type Condition,
  ceilDiv,
  type Dim,
  floorDiv,
  maxOfDim,
  modDim,
  mulDim,
  negDim,
  subDim,
} from "@kiln-ml/ir";
import type { ContractionOperand, Group, Loop } from "../fuse/group.ts";
import { makeLoop } from "../fuse/group.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { type Job, membersOf, openBlock, storeMember } from "../lower/job.ts";
import { decode, nest, totalOf } from "../lower/loops.ts";
import type { Scheduled } from "../lower/lower.ts";
import { call, choose, constant, load, ref } from "../lower/value.ts";
import { walkExpr } from "../lower/walk.ts";
import { storeSide } from "./side-sum.ts";
import { strideOf } from "./stride.ts";

/** Elements of the result an invocation computes in each direction. */
const thread = 4;
/** Steps of k between barriers. */
const depth = 16;

interface Tiling {
  readonly rows: number;
  readonly columns: number;
  readonly invocations: number;
}

/** 64×64 where the extents fill it, less where they do not. */
function tilingOf(m: Dim, n: Dim): Tiling {
  const fit = (d: Dim) => (maxOfDim(d) > 32 ? 64 : maxOfDim(d) > 16 ? 32 : 16);
  const [rows, columns] = [fit(m), fit(n)];
  return { rows, columns, invocations: (rows / thread) * (columns / thread) };
}

/** One operand's share of a workgroup's work. */
interface Side {
  readonly which: "a" | "b";
  readonly operand: ContractionOperand;
  readonly loops: readonly Loop[];
  /** Lines (rows of a, columns of b) in a tile, the first one, and how many there are. */
  readonly lines: number;
  readonly first: Dim;
  readonly limit: Dim;
  /** The first line of this invocation within the tile. */
  readonly own: Dim;
  readonly sums: Group["sideSums"];
}

export function gpuContraction(job: Job): Scheduled {
  const c = job.group.contraction!;
  const [m, n, k] = [totalOf(c.m), totalOf(c.n), totalOf(c.k)];
  const tiling = tilingOf(m, n);
  const { rows, columns, invocations } = tiling;
  const batch = makeLoop("batch", totalOf(c.batch));
  const tileRow = makeLoop("tileRow", ceilDiv(m, rows));
  const tileColumn = makeLoop("tileColumn", ceilDiv(n, columns));
  const me = makeLoop("me", invocations);
  const perRow = columns / thread;
  const own = {
    row: mulDim(floorDiv(me.at, perRow), thread),
    column: mulDim(modDim(me.at, perRow), thread),
  };
  const sideSums = (which: "a" | "b") => job.group.sideSums.filter((s) => s.side === which);
  const a: Side = {
    which: "a",
    operand: c.a,
    loops: c.m,
    lines: rows,
    first: mulDim(tileRow.at, rows),
    limit: m,
    own: own.row,
    sums: sideSums("a"),
  };
  const b: Side = {
    which: "b",
    operand: c.b,
    loops: c.n,
    lines: columns,
    first: mulDim(tileColumn.at, columns),
    limit: n,
    own: own.column,
    sums: sideSums("b"),
  };
  const step = makeLoop("step", ceilDiv(k, depth));
  const [loadA, loadB] = [a, b].map((s) => loadTile(job, s, step, invocations, me));
  const body: Stmt[] = [
    { kind: "letInvocation", name: me.name },
    ...decode(c.batch, batch.at),
    ...[loadA!, loadB!].map((t) => t.array),
    ...accumulators(job),
    ...sideAccs(job, a),
    ...sideAccs(job, b),
    ...nest([step], "serial", [
      ...loadA!.body,
      ...loadB!.body,
      { kind: "barrier" },
      ...multiply(job, a, loadA!.pitch, b, loadB!.pitch),
      { kind: "barrier" },
    ]),
    ...finishSide(job, a, tileColumn.at, own.column),
    ...finishSide(job, b, tileRow.at, own.row),
    ...epilogue(job, a, b),
  ];
  const grid = [batch, tileRow, tileColumn];
  return { body: nest(grid, "workgroup", body), workgroupSize: invocations };
}

const dtypeOf = (job: Job) => job.group.contraction!.a.operand.dtype;

/**
 * Brings a tile to workgroup memory as tile[k·pitch + line]. Neighbouring invocations take neighbouring elements in the
 * direction in which the operand's memory runs; across it the pitch is odd, so that writes do not meet in one bank.
 */
function loadTile(job: Job, side: Side, step: Loop, invocations: number, me: Loop) {
  const { k } = job.group.contraction!;
  const element = makeLoop("u", (side.lines * depth) / invocations);
  const flat = addDim(me.at, mulDim(element.at, invocations));
  const alongK = runsAlongK(job, side);
  const line = alongK ? floorDiv(flat, depth) : modDim(flat, side.lines);
  const within = alongK ? modDim(flat, depth) : floorDiv(flat, side.lines);
  const pitch = alongK ? side.lines + 1 : side.lines;
  const kk = addDim(mulDim(step.at, depth), within);
  const at = addDim(side.first, line);
  const values = openBlock(job);
  const guard: Condition[] = [
    { value: subDim(subDim(side.limit, 1), at), test: "nonnegative" },
    { value: subDim(subDim(totalOf(k), 1), kk), test: "nonnegative" },
    ...side.operand.when,
  ];
  const value = values.at(side.operand.operand, side.operand.coords, guard);
  const name = `tile${side.which.toUpperCase()}`;
  values.body.push({
    kind: "store",
    to: name,
    index: addDim(mulDim(within, pitch), line),
    value: choose(guard, value, constant(value.dtype, 0)),
  });
  const body = nest([element], "unrolled", [
    ...decode(side.loops, at),
    ...decode(k, kk),
    ...values.body,
  ]);
  const array: Stmt = {
    kind: "array",
    name,
    dtype: dtypeOf(job),
    size: pitch * depth,
    space: "shared",
  };
  return { body, array, pitch };
}

/** True if the operand's memory runs along the last loop of k rather than along the last of its own loops. */
function runsAlongK(job: Job, side: Side): boolean {
  const { k } = job.group.contraction!;
  const [own, inner] = [side.loops.at(-1), k.at(-1)];
  if (!inner) return false;
  if (!own) return true;
  let [alongOwn, alongK] = [0, 0];
  const value = openBlock(job).at(side.operand.operand, side.operand.coords);
  walkExpr(value, {
    expr: (e) => {
      if (e.kind !== "load") return;
      if (strideOf(e.index, own.name) === 1) alongOwn++;
      if (strideOf(e.index, inner.name) === 1) alongK++;
    },
  });
  return alongK > alongOwn;
}

const grid16 = Array.from({ length: thread * thread }, (_, q) => ({
  name: `c${Math.floor(q / thread)}${q % thread}`,
  r: Math.floor(q / thread),
  s: q % thread,
}));

const accumulators = (job: Job): Stmt[] =>
  grid16.map(({ name }) => ({
    kind: "acc",
    name,
    dtype: dtypeOf(job),
    init: constant(dtypeOf(job), 0),
    wide: true,
  }));

const sideName = (side: Side, i: number, line: number): string => `side${side.which}${i}_${line}`;

const sideAccs = (job: Job, side: Side): Stmt[] =>
  side.sums.flatMap((_, i) =>
    Array.from(
      { length: thread },
      (_, line): Stmt => ({
        kind: "acc",
        name: sideName(side, i, line),
        dtype: dtypeOf(job),
        init: constant(dtypeOf(job), 0),
        wide: true,
      }),
    ),
  );

/** The products of one step of k, from workgroup memory. */
function multiply(job: Job, a: Side, pitchA: number, b: Side, pitchB: number): Stmt[] {
  const dtype = dtypeOf(job);
  const kk = makeLoop("kk", depth);
  const element = (side: Side, pitch: number, i: number): Expr =>
    load(
      `tile${side.which.toUpperCase()}`,
      dtype,
      addDim(addDim(mulDim(kk.at, pitch), side.own), i),
    );
  const lines = Array.from({ length: thread }, (_, i) => i);
  return nest([kk], "serial", [
    ...lines.map((i): Stmt => ({ kind: "let", name: `a${i}`, value: element(a, pitchA, i) })),
    ...lines.map((i): Stmt => ({ kind: "let", name: `b${i}`, value: element(b, pitchB, i) })),
    ...grid16.map(
      ({ name, r, s }): Stmt => ({
        kind: "fma",
        name,
        a: ref(`a${r}`, dtype),
        b: ref(`b${s}`, dtype),
      }),
    ),
    ...[a, b].flatMap((side) =>
      side.sums.flatMap((_, i) =>
        lines.map(
          (line): Stmt => ({
            kind: "accumulate",
            name: sideName(side, i, line),
            reducer: "sum",
            value: ref(`${side.which}${line}`, dtype),
          }),
        ),
      ),
    ),
  ]);
}

/** Stores what depends on the sums of an operand's lines: the first workgroup across them does, an invocation a line. */
function finishSide(job: Job, side: Side, across: Dim, acrossOwn: Dim): Stmt[] {
  return side.sums.flatMap((s, i) =>
    Array.from({ length: thread }, (_, line): Stmt => {
      const at = addDim(addDim(side.first, side.own), line);
      const stores = storeSide(job, s, sideName(side, i, line));
      const when: Condition[] = [
        { value: negDim(across), test: "nonnegative" },
        { value: negDim(acrossOwn), test: "nonnegative" },
        { value: subDim(subDim(side.limit, 1), at), test: "nonnegative" },
      ];
      return { kind: "if", when, then: [...decode(side.loops, at), ...stores] };
    }),
  );
}

/** Stores the group's results for the invocation's elements that lie inside. */
function epilogue(job: Job, a: Side, b: Side): Stmt[] {
  const { group } = job;
  const dtype = dtypeOf(job);
  const anchor = group.anchor!;
  const [r, s] = [makeLoop("r", thread), makeLoop("s", thread)];
  const row = addDim(addDim(a.first, a.own), r.at);
  const column = addDim(addDim(b.first, b.own), s.at);
  const block = openBlock(job);
  const sum = load("sums", dtype, addDim(mulDim(r.at, thread), s.at));
  const value = anchor.dtype === dtype ? sum : call("convert", anchor.dtype, sum);
  block.bind(anchor, group.members.get(anchor)!.coords, value);
  for (const [node] of membersOf(group))
    if (job.stored.has(node)) block.body.push(storeMember(job, block, node, new Map()));
  const inside = (at: Dim, limit: Dim): Condition => ({
    value: subDim(subDim(limit, 1), at),
    test: "nonnegative",
  });
  const columns = nest([s], "serial", [
    {
      kind: "if",
      when: [inside(column, b.limit)],
      then: [...decode(b.loops, column), ...block.body],
    },
  ]);
  const rows: Stmt = {
    kind: "if",
    when: [inside(row, a.limit)],
    then: [...decode(a.loops, row), ...columns],
  };
  return [
    { kind: "array", name: "sums", dtype, size: thread * thread, space: "private" },
    ...grid16.map(
      ({ name }, q): Stmt => ({ kind: "store", to: "sums", index: q, value: ref(name, dtype) }),
    ),
    ...nest([r], "serial", [rows]),
  ];
}
