/**
 * Attention, FlexAttention and RotaryEmbedding of the standard.
 */
import {
  concat,
  convert,
  type Dim,
  dimValue,
  expandDims,
  iota,
  reshape,
  select,
  softmax,
  stack,
  type Tensor,
  take,
  transpose,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { dtypeOf, elementTypeOf } from "../element.ts";
import { type Row, row } from "../row.ts";
import { asTensorValue, typed } from "../value.ts";
import {
  capped,
  causalMask,
  headsOf,
  joinedHeads,
  masked,
  mixed,
  scoresOf,
  usualScale,
} from "./attention-core.ts";
import { elementTypeAt } from "./cast.ts";
import { widened } from "./operands.ts";

/** Input `i` as [B, H, S, D]; flat ones are [B, S, H·D] and need the number of heads. */
const headed = (n: NodeContext, i: number, heads: string): Tensor => {
  const x = n.tensor(i);
  return x.rank === 3 ? headsOf(x, n.int(heads)) : x;
};

const scaleOf = (n: NodeContext, q: Tensor) =>
  n.hasAttribute("scale") ? n.float("scale") : usualScale(q);

/** The lengths at input 6 beside scores [B, H, S, T]. */
const lengthsOf = (n: NodeContext, scores: Tensor): Tensor =>
  reshape(n.tensor(6), [scores.shape[0]!, 1, 1, 1]);

/** Places below the lengths. */
const lengthMask = (n: NodeContext, scores: Tensor): Tensor =>
  iota([1, 1, 1, scores.shape[3]!], 3).less(lengthsOf(n, scores));

/** Keys before the first query: those of the past, or, of a cache outside, the valid ones that are not the queries' own. */
function before(n: NodeContext, scores: Tensor): Dim | Tensor {
  if (n.has(4)) return n.tensor(4).shape[2]!;
  return n.has(6) ? lengthsOf(n, scores).sub(dimValue(scores.shape[2]!)) : 0;
}

/** What `qk_matmul_output_mode` numbers. */
interface Stages {
  readonly raw: Tensor;
  readonly capped: Tensor;
  readonly masked: Tensor;
  readonly weights: Tensor;
  /** The weights with 0 where a query sees no key at all. */
  readonly used: Tensor;
}

function stagesOf(n: NodeContext, q: Tensor, k: Tensor): Stages {
  const raw = scoresOf(q, k, scaleOf(n, q));
  const soft = capped(raw, n.float("softcap", 0));
  let seen = n.has(3) ? masked(soft, n.tensor(3)) : soft;
  if (n.flag("is_causal")) seen = masked(seen, causalMask(seen, before(n, seen)));
  if (n.has(6)) seen = masked(seen, lengthMask(n, seen));
  const precision = n.int("softmax_precision", 0);
  const wanted = precision ? dtypeOf(elementTypeAt(n, precision)) : seen.dtype;
  const inner = wanted === "f64" ? convert(seen, "f64") : seen;
  const weights = convert(softmax(inner, -1), raw.dtype);
  const blind = seen.max(-1, { keepDims: true, empty: "identity" }).equal(Number.NEGATIVE_INFINITY);
  const used = n.has(3) || n.has(6) ? select(blind, 0, weights) : weights;
  return { raw, capped: soft, masked: seen, weights, used };
}

function attention(n: NodeContext): Result {
  const q = headed(n, 0, "q_num_heads");
  const [newK, newV] = [headed(n, 1, "kv_num_heads"), headed(n, 2, "kv_num_heads")];
  const k = n.has(4) ? concat([n.tensor(4), newK], 2) : newK;
  const v = n.has(5) ? concat([n.tensor(5), newV], 2) : newV;
  const stages = stagesOf(n, q, k);
  const y = mixed(stages.used, v);
  const mode = n.int("qk_matmul_output_mode", 0);
  const shown = [stages.raw, stages.capped, stages.masked, stages.weights][mode];
  if (!shown) return n.fail(`qk_matmul_output_mode is ${mode}, not 0 to 3`);
  const type = n.type(0);
  return [
    typed(n.tensor(0).rank === 3 ? joinedHeads(y) : y, type),
    typed(k, n.type(1)),
    typed(v, n.type(2)),
    typed(convert(shown, q.dtype), type),
  ];
}

/** Scores, or probabilities, changed by a subgraph; they are f32, or f64 where the inputs are. */
function modified(n: NodeContext, name: string, x: Tensor): Tensor {
  if (!n.hasAttribute(name)) return x;
  const [y] = n.run(n.graph(name), [typed(x, elementTypeOf(x.dtype))]);
  return y ? asTensorValue(y, name).tensor : n.fail(`${name} gives nothing`);
}

function flexAttention(n: NodeContext): Tensor {
  const [q, k, v] = [n.tensor(0), n.tensor(1), n.tensor(2)];
  const scores = modified(n, "score_mod", scoresOf(q, k, scaleOf(n, q)));
  return mixed(modified(n, "prob_mod", softmax(scores, -1)), v);
}

/** Angles for x[B, S, H, D]: [B, S, 1, R/2] from a table by position, or given for each position. */
function angles(table: Tensor, positions: Tensor | undefined, half: Dim): Tensor {
  const picked = positions ? take(table, positions) : table;
  return expandDims(widened(picked).sliceAxis(2, 0, half), 2);
}

/** Pairs rotated by angles: halves of the last axis, or neighbours if interleaved. */
export function rotated(x: Tensor, cos: Tensor, sin: Tensor, interleaved: boolean): Tensor {
  const half = (x.shape[x.rank - 1] as number) / 2;
  const pairs = reshape(x, [...x.shape.slice(0, -1), half, 2]);
  const at = (i: number) =>
    interleaved
      ? reshape(pairs.sliceAxis(-1, i, i + 1), pairs.shape.slice(0, -1))
      : x.sliceAxis(-1, i * half, (i + 1) * half);
  const [a, b] = [at(0), at(1)];
  const [real, imaginary] = [a.mul(cos).sub(b.mul(sin)), a.mul(sin).add(b.mul(cos))];
  if (!interleaved) return concat([real, imaginary], -1);
  return reshape(stack([real, imaginary], -1), x.shape);
}

/** The first `size` of the last axis of x[B, S, H, D] rotated. */
function rotatedPart(
  n: NodeContext,
  x: Tensor,
  tables: readonly [Tensor, Tensor],
  positions: Tensor | undefined,
): Tensor {
  const width = x.shape[3]!;
  const size = n.int("rotary_embedding_dim", 0) || width;
  if (typeof size !== "number" || typeof width !== "number")
    return n.fail("the head size must be a number");
  const [cos, sin] = tables.map((t) => angles(t, positions, size / 2)) as [Tensor, Tensor];
  const turned = rotated(widened(x.sliceAxis(3, 0, size)), cos, sin, n.flag("interleaved"));
  const own = convert(turned, x.dtype);
  return size === width ? own : concat([own, x.sliceAxis(3, size, width)], 3);
}

/** x as [B, S, H, D] and back. Flat inputs are [B, S, H·D]. */
function onHeads(n: NodeContext, heads: number, f: (x: Tensor) => Tensor): Tensor {
  const x = n.tensor(0);
  if (x.rank === 4) return transpose(f(transpose(x, [0, 2, 1, 3])), [0, 2, 1, 3]);
  const split = transpose(headsOf(x, heads), [0, 2, 1, 3]);
  return reshape(f(split), x.shape);
}

const rotaryEmbedding = (n: NodeContext): Tensor =>
  onHeads(n, n.int("num_heads", 0) || 1, (x) =>
    rotatedPart(n, x, [n.tensor(1), n.tensor(2)], n.maybe(3)),
  );

export const attentionRows: readonly Row[] = [
  row("Attention", attention),
  row("FlexAttention", flexAttention, { domain: "ai.onnx.preview" }),
  row("RotaryEmbedding", rotaryEmbedding),
];
