/**
 * Sums of the lines of an operand that run in the kernel of a contraction (a bias gradient beside
 * a weight gradient), each as a phase of its own: over depth four terms at a time where memory
 * runs that way, else the lines of a cache line at a time, or four. In blocks of depth, as the
 * contraction's own sums. Why in this kernel: it is one launch less, and the product finds the
 * operand in cache where it fits. Why a phase and not a part of packing: work items that pack the
 * same lines would each add them up.
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
import { type Group, makeLoop } from "../../fuse/group.ts";
import { constant, ref } from "../../kernel/expr.ts";
import type { Expr, Stmt } from "../../kernel/kernel.ts";
import type { Rename } from "../../kernel/map.ts";
import { type LoweringContext, openBlock } from "../../lower/context.ts";
import { collapse, nest } from "../../lower/loops.ts";
import { sumDtype } from "../../lower/value.ts";
import { storeReduction, sumOf } from "../operand-reduction.ts";
import { isAffine, stepsBy } from "./affine.ts";
import { type Depth, depthOf, type Lines, linesOf, overBlocks } from "./lines.ts";
import type { Operand } from "./operand.ts";
import { either, lanes } from "./pack.ts";
import { blockSums } from "./sums.ts";

/** A phase for each operand that has sums. */
export function reductionPhases(
  context: LoweringContext,
  operands: { a: Operand; b: Operand },
): Stmt[][] {
  const c = context.group.contraction!;
  return (["a", "b"] as const).flatMap((which) => {
    const sums = context.group.operandReductions.filter((s) => s.operand === which);
    if (sums.length === 0) return [];
    const operand = operands[which];
    const loops = which === "a" ? c.m : c.n;
    const merged = collapse(loops, new Map(), () => []);
    const lines = linesOf(which, loops, operand, merged, false);
    const depth = depthOf(context, [operand], blockDepth);
    return [blockSums(phase({ context, lines, depth, sums }))];
  });
}

/** Vectors in a cache line, and lines from which on there are units enough with that many. */
const [vectorsOfLine, manyLines] = [4, 256];
/** Terms that are added before the next level takes over. */
const blockDepth = 256;

interface Sums {
  readonly context: LoweringContext;
  readonly lines: Lines;
  readonly depth: Depth;
  readonly sums: Group["operandReductions"];
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
  if (!isAffine(many, lane.name)) {
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
  if (!isAffine(body, last.name) || !stepsBy(body, last.name, 1)) return undefined;
  return nest([line], "parallel", sumsOf(s, [line.at], "simd"));
}

/** The sums of some lines, term by term together, and what is stored of them. */
function sumsOf(s: Sums, at: readonly Dim[], innermost: "serial" | "simd"): Stmt[] {
  const { context, lines, depth, sums } = s;
  const all = at.flatMap((line, l) =>
    sums.map((x, i) => ({ x, by: lines.at(line), l, own: l ? `${i}v${l}` : `${i}` })),
  );
  const declare = (name: string): Stmt[] =>
    all.map(({ x, own }) => {
      const dtype = keptOf(x);
      return { kind: "acc", name: `${name}${own}`, dtype, init: constant(dtype, 0), widened: true };
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
    const block = openBlock(context);
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
    storeReduction(context, placed(x, by), ref(`side${own}`, keptOf(x))),
  );
  return [...declare("side"), ...terms, ...stores];
}

const keptOf = ({ group }: Group["operandReductions"][number]): Dtype =>
  sumDtype(sumOf(group).dtype);

/** The sum with its places in terms of the line. */
const placed = (
  s: Group["operandReductions"][number],
  at: Rename,
): Group["operandReductions"][number] => ({
  ...s,
  rename: new Map([...s.rename].map(([name, d]) => [name, substitute(d, at)])),
});
