/**
 * Sums of the lines of an operand that run in the kernel of a contraction, each as a phase: over depth four terms at a time
 * where memory runs that way, else four lines at a time. In blocks of depth, as the contraction's own sums.
 */
import { addDim, ceilDiv, type Dim, mulDim, subDim, substitute } from "@kiln-ml/ir";
import { type Group, makeLoop } from "../fuse/group.ts";
import type { Stmt } from "../kernel/kernel.ts";
import { type Job, openBlock } from "../lower/job.ts";
import { collapse, nest, type Rename } from "../lower/loops.ts";
import { constant, ref } from "../lower/value.ts";
import { storeSide, sumOf } from "./side-sum.ts";
import { isEven, stepsBy } from "./simd-even.ts";
import { type Depth, depthOf, type Lines, linesOf, overBlocks } from "./simd-lines.ts";
import type { Operand } from "./simd-operand.ts";
import { either, lanes } from "./simd-pack.ts";

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
    return [phase({ job, lines, depth: depthOf(job, [operand], blockDepth), sums })];
  });
}

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
  const unit = makeLoop("unit", ceilDiv(lines.total, lanes));
  const first = mulDim(unit.at, lanes);
  const one = makeLoop("s", lanes);
  const lane = makeLoop("lane", lanes);
  const many = oneLine(s, addDim(first, lane.at), "serial");
  const each: Stmt = {
    kind: "loop",
    name: one.name,
    extent: subDim(lines.total, first),
    loop: "serial",
    body: oneLine(s, addDim(first, one.at), "serial"),
  };
  if (!isEven(many, lane.name)) {
    const line = makeLoop("line", lines.total);
    return nest([line], "parallel", oneLine(s, line.at, "serial"));
  }
  const left = subDim(lines.total, addDim(first, lanes));
  return nest([unit], "parallel", either(left, nest([lane], "vector", many), [each]));
}

/** One line at a time, if memory runs along depth. */
function alongDepth(s: Sums): Stmt[] | undefined {
  const line = makeLoop("line", s.lines.total);
  const last = s.depth.block(0).run.loops.at(-1)!;
  const body = oneLine(s, line.at, "serial");
  if (!isEven(body, last.name) || !stepsBy(body, last.name, 1)) return undefined;
  return nest([line], "parallel", oneLine(s, line.at, "simd"));
}

/** The sums of one line and what is stored of them. */
function oneLine(s: Sums, line: Dim, innermost: "serial" | "simd"): Stmt[] {
  const { job, lines, depth, sums } = s;
  const at = lines.at(line);
  const dtypes = sums.map((x) => sumOf(x.group).dtype);
  const declare = (name: string): Stmt[] =>
    dtypes.map((dtype, i) => {
      return { kind: "acc", name: `${name}${i}`, dtype, init: constant(dtype, 0), wide: true };
    });
  const add = (name: string, from: (i: number) => Stmt & { kind: "accumulate" }): Stmt[] =>
    dtypes.map((_, i) => ({ ...from(i), name: `${name}${i}` }));
  const terms = overBlocks(depth, ({ run }) => {
    const block = openBlock(job);
    const value = lines.value(block, new Map([...at, ...run.rename]));
    const name = depth.single ? "side" : "part";
    const last = run.loops.at(-1)!;
    const inner = nest([last], innermost, [
      ...block.body,
      ...add(name, () => ({ kind: "accumulate", name, reducer: "sum", value })),
    ]);
    const body = nest(run.loops.slice(0, -1), "serial", inner);
    if (depth.single) return body;
    const total = add("side", (i) => {
      return { kind: "accumulate", name: "", reducer: "sum", value: ref(`part${i}`, dtypes[i]!) };
    });
    return [...declare("part"), ...body, ...total];
  });
  const stores = sums.flatMap((x, i) => storeSide(job, placed(x, at), `side${i}`));
  return [...declare("side"), ...terms, ...stores];
}

/** The sum with its places in terms of the line. */
const placed = (s: Group["sideSums"][number], at: Rename): Group["sideSums"][number] => ({
  ...s,
  rename: new Map([...s.rename].map(([name, d]) => [name, substitute(d, at)])),
});
