/**
 * Sums of the lines of an operand that run in the kernel of a contraction, each as a phase: over depth four terms at a time
 * where memory runs that way, else the lines of a cache line at a time, or four. In blocks of depth, as the contraction's own sums.
 */
import {
  addDim,
  ceilDiv,
  type Dim,
  type Dtype,
  minOfDim,
  mulDim,
  subDim,
  substitute,
} from "@kiln-ml/ir";
import { type Group, makeLoop } from "../fuse/group.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { type Job, openBlock } from "../lower/job.ts";
import { collapse, nest, type Rename } from "../lower/loops.ts";
import { constant, ref, sumDtype } from "../lower/value.ts";
import { storeSide, sumOf } from "./side-sum.ts";
import { isEven, stepsBy } from "./simd-even.ts";
import { type Depth, depthOf, type Lines, linesOf, overBlocks } from "./simd-lines.ts";
import type { Operand } from "./simd-operand.ts";
import { either, lanes } from "./simd-pack.ts";
import { sumsInBlocks } from "./simd-sums.ts";

/** A phase for each operand that has sums. */
export function sidePhases(job: Job, operands: { a: Operand; b: Operand }): Stmt[][] {
  const c = job.group.contraction!;
  return (["a", "b"] as const).flatMap((which) => {
    const sums = job.group.sideSums.filter((s) => s.side === which);
    if (sums.length === 0) return [];
    const operand = operands[which];
    const loops = which === "a" ? c.m : c.n;
    const merged = collapse(loops, new Map(), () => []);
    const lines = linesOf(which, loops, operand, merged, false);
    const depth = depthOf(job, [operand], blockDepth);
    return [sumsInBlocks(phase({ job, lines, depth, sums }))];
  });
}

/** Vectors in a cache line, and lines from which on there are units enough with that many. */
const [vectorsOfLine, manyLines] = [4, 256];
/** Terms that are added before the next level takes over. */
const blockDepth = 256;

interface Sums {
  readonly job: Job;
  readonly lines: Lines;
  readonly depth: Depth;
  readonly sums: Group["sideSums"];
}

function phase(s: Sums): Stmt[] {
  const { lines } = s;
  const along = alongDepth(s);
  if (along) return along;
  const vectors = minOfDim(lines.total) >= manyLines ? vectorsOfLine : 1;
  const together = vectors * lanes;
  const unit = makeLoop("unit", ceilDiv(lines.total, together));
  const first = mulDim(unit.at, together);
  const one = makeLoop("s", together);
  const lane = makeLoop("lane", lanes);
  const at = Array.from({ length: vectors }, (_, v) => addDim(first, addDim(v * lanes, lane.at)));
  const many = sumsOf(s, at, "serial");
  const each: Stmt = {
    kind: "loop",
    name: one.name,
    extent: subDim(lines.total, first),
    loop: "serial",
    body: sumsOf(s, [addDim(first, one.at)], "serial"),
  };
  if (!isEven(many, lane.name)) {
    const line = makeLoop("line", lines.total);
    return nest([line], "parallel", sumsOf(s, [line.at], "serial"));
  }
  const left = subDim(lines.total, addDim(first, together));
  return nest([unit], "parallel", either(left, nest([lane], "vector", many), [each]));
}

/** One line at a time, if memory runs along depth. */
function alongDepth(s: Sums): Stmt[] | undefined {
  const line = makeLoop("line", s.lines.total);
  const last = s.depth.block(0).run.loops.at(-1)!;
  const body = sumsOf(s, [line.at], "serial");
  if (!isEven(body, last.name) || !stepsBy(body, last.name, 1)) return undefined;
  return nest([line], "parallel", sumsOf(s, [line.at], "simd"));
}

/** The sums of some lines, term by term together, and what is stored of them. */
function sumsOf(s: Sums, at: readonly Dim[], innermost: "serial" | "simd"): Stmt[] {
  const { job, lines, depth, sums } = s;
  const all = at.flatMap((line, l) =>
    sums.map((x, i) => ({ x, by: lines.at(line), l, own: l ? `${i}v${l}` : `${i}` })),
  );
  const declare = (name: string): Stmt[] =>
    all.map(({ x, own }) => {
      const dtype = keptOf(x);
      return { kind: "acc", name: `${name}${own}`, dtype, init: constant(dtype, 0), wide: true };
    });
  const add = (name: string, value: (of: (typeof all)[number]) => Expr): Stmt[] =>
    all.map((of): Stmt => {
      return {
        kind: "accumulate",
        name: `${name}${of.own}`,
        reducer: "sum",
        value: value(of),
      };
    });
  const terms = overBlocks(depth, ({ run }) => {
    const block = openBlock(job);
    const values = at.map((line) =>
      lines.value(block, new Map([...lines.at(line), ...run.rename])),
    );
    const name = depth.single ? "side" : "part";
    const added = add(name, ({ l }) => values[l]!);
    const inner = nest([run.loops.at(-1)!], innermost, [...block.body, ...added]);
    const body = nest(run.loops.slice(0, -1), "serial", inner);
    if (depth.single) return body;
    const total = add("side", ({ x, own }) => ref(`part${own}`, keptOf(x)));
    return [...declare("part"), ...body, ...total];
  });
  const stores = all.flatMap(({ x, by, own }) =>
    storeSide(job, placed(x, by), ref(`side${own}`, keptOf(x))),
  );
  return [...declare("side"), ...terms, ...stores];
}

const keptOf = ({ group }: Group["sideSums"][number]): Dtype => sumDtype(sumOf(group).dtype);

/** The sum with its places in terms of the line. */
const placed = (s: Group["sideSums"][number], at: Rename): Group["sideSums"][number] => ({
  ...s,
  rename: new Map([...s.rename].map(([name, d]) => [name, substitute(d, at)])),
});
