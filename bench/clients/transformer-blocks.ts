/** Parts of transformers as graphs: norms, layers, attention with a cache, and its biases. */
import type { Graph } from "./graph.ts";

export interface Size {
  readonly hidden: number;
  readonly heads: number;
  readonly layers: number;
}

export const norm = (g: Graph, x: string, n: number): string =>
  g.op("LayerNormalization", [x, g.weight([n], 0.05, 1), g.weight([n], 0.05)], {
    axis: -1,
    epsilon: 1e-5,
  });

export const dense = (g: Graph, x: string, from: number, to: number): string =>
  g.op("Add", [
    g.op("MatMul", [x, g.weight([from, to], 0.7 / Math.sqrt(from))]),
    g.weight([to], 0.02),
  ]);

/** x · Φ(x), as exporters write it for opset 18. */
function gelu(g: Graph, x: string): string {
  const erf = g.op("Erf", [g.op("Div", [x, g.float(Math.SQRT2)])]);
  return g.op("Mul", [g.op("Mul", [x, g.op("Add", [erf, g.float(1)])]), g.float(0.5)]);
}

const heads = (g: Graph, x: string, { hidden, heads: n }: Size): string =>
  g.op("Transpose", [g.op("Reshape", [x, g.ints([0, -1, n, hidden / n])])], { perm: [0, 2, 1, 3] });

export interface Attended {
  readonly y: string;
  readonly key: string;
  readonly value: string;
}

/**
 * Attention over x, or over what `of` is, and over what came before it; `bias` is added to the
 * scores.
 */
export function attention(
  g: Graph,
  x: string,
  size: Size,
  bias: string | undefined,
  past?: readonly [string, string],
  of = x,
): Attended {
  const { hidden } = size;
  const [q, k, v] = [x, of, of].map((from) => heads(g, dense(g, from, hidden, hidden), size)) as [
    string,
    string,
    string,
  ];
  const key = past ? g.op("Concat", [past[0], k], { axis: 2 }) : k;
  const value = past ? g.op("Concat", [past[1], v], { axis: 2 }) : v;
  const turned = g.op("Transpose", [key], { perm: [0, 1, 3, 2] });
  const scale = g.float(1 / Math.sqrt(hidden / size.heads));
  const scores = g.op("Mul", [g.op("MatMul", [q, turned]), scale]);
  const biased = bias ? g.op("Add", [scores, bias]) : scores;
  const mixed = g.op("MatMul", [g.op("Softmax", [biased], { axis: -1 }), value]);
  const rows = g.op("Transpose", [mixed], { perm: [0, 2, 1, 3] });
  const flat = g.op("Reshape", [rows, g.ints([0, -1, hidden])]);
  return { y: dense(g, flat, hidden, hidden), key, value };
}

export const mlp = (g: Graph, x: string, n: number): string =>
  dense(g, gelu(g, dense(g, x, n, 4 * n)), 4 * n, n);

/** 0 where a token is, −10⁴ where none is: [batch, 1, 1, length]. */
export function maskBias(g: Graph, mask: string): string {
  const wide = g.op("Unsqueeze", [g.op("Cast", [mask], { to: 1 }), g.ints([1, 2])]);
  return g.op("Mul", [g.op("Sub", [g.float(1), wide]), g.float(-1e4)]);
}

/** −10⁴ above the diagonal of the last rows: [1, 1, length, past + length]. */
export function causalBias(g: Graph, ids: string, mask: string): string {
  const extent = (x: string, axis: number): string =>
    g.op("Gather", [g.op("Shape", [x]), g.ints([axis], [])], { axis: 0 });
  const [length, all] = [extent(ids, 1), extent(mask, 1)];
  const range = (from: string, to: string): string => g.op("Range", [from, to, g.ints([1], [])]);
  const rows = g.op("Unsqueeze", [range(g.op("Sub", [all, length]), all), g.ints([1])]);
  const columns = g.op("Unsqueeze", [range(g.ints([0], []), all), g.ints([0])]);
  const later = g.op("Cast", [g.op("Greater", [columns, rows])], { to: 1 });
  const bias = g.op("Mul", [later, g.float(-1e4)]);
  return g.op("Add", [g.op("Unsqueeze", [bias, g.ints([0, 1])]), maskBias(g, mask)]);
}
