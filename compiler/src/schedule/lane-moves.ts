/** Moves for the lanes of a vector. */
import { addDim, ceilDiv, type Dim, floorDiv, maxOfDim, modDim, mulDim, subDim } from "@kiln-ml/ir";
import { makeLoop } from "../fuse/group.ts";
import { either } from "../kernel/conditions.ts";
import type { Of, Stmt } from "../kernel/kernel.ts";
import { substituteIn } from "../kernel/map.ts";
import { decode, nest, totalOf } from "../lower/loops.ts";
import { freshLoop, loopLike, nestOf, refuse, replaceLoops, variableOf } from "./loop-moves.ts";

const lanes = 4;

/**
 * Runs the iterations of loops that stand directly in one another four at a time, one in each
 * lane, and those that are left one at a time. Without a name, that is the only iteration of the
 * whole.
 */
export function inLanes(body: readonly Stmt[], ...names: readonly string[]): readonly Stmt[] {
  const [first] = names;
  if (first === undefined) return fours(body, [], body);
  return replaceLoops(body, first, (l) => {
    const loops = nestOf(l, names);
    if (l.loop !== "parallel") refuse(`${first} is ${l.loop}, not parallel`);
    return fours(body, loops, loops.at(-1)!.body);
  });
}

/**
 * Runs a loop in steps of four iterations, one in each lane; all of its accesses that step by one
 * element are then to a vector. For loops of a multiple of four.
 */
export function vectorise(body: readonly Stmt[], name: string): readonly Stmt[] {
  return replaceLoops(body, name, (l) => {
    if (l.loop !== "parallel" && l.loop !== "simd") refuse(`${name} is ${l.loop}`);
    if (modDim(l.extent, lanes) !== 0) refuse(`${name} has no multiple of four iterations`);
    variableOf(l);
    const four = makeLoop(name, floorDiv(l.extent, lanes));
    const lane = freshLoop(body, "lane", lanes);
    const by = new Map([[l.name, addDim(mulDim(four.at, lanes), lane.at)]]);
    return nest([four], l.loop, nest([lane], "vector", substituteIn(l.body, by)));
  });
}

function fours(body: readonly Stmt[], loops: readonly Of<"loop">[], line: readonly Stmt[]): Stmt[] {
  const outer = loops.map(loopLike);
  const total = totalOf(outer);
  const block = freshLoop(body, "four", ceilDiv(total, lanes));
  const first = mulDim(block.at, lanes);
  const left = subDim(total, first);
  const at = (l: Dim): Stmt[] => [...decode(outer, addDim(first, l)), ...line];
  const lane = freshLoop(body, "lane", lanes);
  const rest = freshLoop(body, "rest", lanes - 1);
  const four = nest([lane], "vector", at(lane.at));
  if (modDim(total, lanes) === 0) return nest([block], "parallel", four);
  const some = nest([{ ...rest, extent: left }], "serial", at(rest.at));
  if (maxOfDim(total) < lanes) return nest([block], "parallel", some);
  return nest([block], "parallel", either(subDim(left, lanes), four, some));
}
