/**
 * The weights of an attention kernel's tile: the program's own expression for each, with what the
 * kernel knows put in its place. So masks, biases, factors and dropout need no list of their own.
 */
import { floorDiv, modDim, type Tensor } from "@kiln-ml/ir";
import { accesses } from "../../access.ts";
import { makeLoop } from "../../fuse/group.ts";
import { load } from "../../kernel/expr.ts";
import type { Stmt } from "../../kernel/kernel.ts";
import { openBlock } from "../../lower/context.ts";
import { nest } from "../../lower/loops.ts";
import { each, f32, linesEach, placeOf, type Tile, within } from "./attention-tile.ts";

export const weightName = (s: number, r: number, c: number): string => `w${s}_${r}_${c}`;

/** Tensors that are known of a row and a line, by the name of each. */
export type Known = (r: number, c: number) => readonly (readonly [Tensor, string])[];

/** The weights of this invocation's rows and lines, for each sum; 0 past the last line. */
export function weights(t: Tile, known: Known): Stmt[] {
  const inner = innerOf(t, new Set(known(0, 0).map(([node]) => node)));
  return [...inner].some((n) => n.op === "randomBits")
    ? weightsByNumber(t, known)
    : weightsRepeated(t, known, inner);
}

function weightsRepeated(t: Tile, known: Known, inner: ReadonlySet<Tensor>): Stmt[] {
  const { sums } = t.attention;
  const common = openBlock(t.context);
  const all = Array.from({ length: t.rows }, (_, r) =>
    Array.from({ length: linesEach }, (_, c) => placeOf(t, r, c)),
  );
  // What is the same for a row, or for a line, such as totals, is one expression.
  const ends = [...inner].filter((n) => n.op === "broadcastInDim");
  for (const at of all.flat())
    for (const end of ends)
      for (const { operand, coords } of accesses(end, at)) common.at(operand, coords);
  const body = each(t.rows, (r) =>
    each(linesEach, (c): Stmt[] => {
      const at = all[r]![c]!;
      const values = common.inner();
      for (const [node, name] of known(r, c)) values.bind(node, f32(name));
      const lets = sums.map((s, i): Stmt => {
        const value = within(t, c, values.at(s.weights, at), 0);
        return { kind: "let", name: weightName(i, r, c), value };
      });
      return [...values.body, ...lets];
    }),
  );
  return [...common.body, ...body];
}

/**
 * Through arrays in private memory: expressions so long, as random numbers are, stand once in the
 * text.
 */
function weightsByNumber(t: Tile, known: Known): Stmt[] {
  const { sums } = t.attention;
  const size = t.rows * linesEach;
  const n = makeLoop("weight", size);
  const [r, c] = [floorDiv(n.at, linesEach), modDim(n.at, linesEach)];
  const at = placeOf(t, r, c);
  const array = (name: string): Stmt => ({
    kind: "array",
    name,
    dtype: "f32",
    size,
    space: "private",
  });
  const nodes = known(0, 0).map(([node]) => node);
  const values = openBlock(t.context);
  for (const [i, node] of nodes.entries()) values.bind(node, load(`known${i}`, "f32", n.at));
  const stores = sums.map((s, i): Stmt => {
    const value = within(t, c, values.at(s.weights, at), 0);
    return { kind: "store", to: `weights${i}`, index: n.at, value };
  });
  const everywhere = (make: (r: number, c: number, place: number) => Stmt[]): Stmt[] =>
    each(t.rows, (i) => each(linesEach, (j) => make(i, j, i * linesEach + j)));
  return [
    ...nodes.map((_, i) => array(`known${i}`)),
    ...sums.map((_, i) => array(`weights${i}`)),
    ...everywhere((i, j, index) =>
      known(i, j).map(([, name], k): Stmt => {
        return { kind: "store", to: `known${k}`, index, value: f32(name) };
      }),
    ),
    ...nest([n], "serial", [...values.body, ...stores]),
    ...everywhere((i, j, index) =>
      sums.map((_, s): Stmt => {
        return { kind: "let", name: weightName(s, i, j), value: load(`weights${s}`, "f32", index) };
      }),
    ),
  ];
}

/** What the weights are made of in the kernel, but for what is known. */
function innerOf(t: Tile, known: ReadonlySet<Tensor>): Set<Tensor> {
  const found = new Set<Tensor>();
  const visit = (n: Tensor): void => {
    if (known.has(n) || found.has(n) || t.context.outside(n)) return;
    found.add(n);
    if (n.op !== "broadcastInDim") n.operands.forEach(visit);
  };
  for (const s of t.attention.sums) visit(s.weights);
  return found;
}
