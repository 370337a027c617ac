/**
 * Sequence ops with a state in place of a cache of keys: LinearAttention and CausalConvWithState. The state is kept in f32 where the
 * inputs are half floats.
 */
import {
  concat,
  convert,
  type Dim,
  expandDims,
  floorDiv,
  isStatic,
  matmul,
  pad,
  reshape,
  scan,
  silu,
  stack,
  subDim,
  type Tensor,
  transpose,
  windows,
  zeros,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { microsoft, type Row, row } from "../row.ts";
import { typed } from "../value.ts";
import { usualScale } from "./attention-core.ts";
import { widened } from "./operands.ts";

const rules = ["linear", "gated", "delta", "gated_delta"];

/** What one step reads: query, key, value, and the decay and the strength of the update where the rule has them. */
interface StepInputs {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly decay: Tensor | undefined;
  readonly beta: Tensor | undefined;
}

/** The state S[B, H, K, V] after a step: e^decay·S + k·(v, or beta·(v − Sᵀk))ᵀ. */
function updated(state: Tensor, { k, v, decay, beta }: StepInputs): Tensor {
  const column = expandDims(k, 3);
  const kept = decay ? state.mul(expandDims(decay.exp(), 3)) : state;
  const written = beta ? beta.mul(v.sub(kept.mul(column).sum(2))) : v;
  return kept.add(column.mul(expandDims(written, 2)));
}

/** What the queries q[B, G·H, K] read from the state: [B, G·H, V]. */
function read(state: Tensor, q: Tensor): Tensor {
  const [b, h, k, v] = state.shape as [Dim, number, Dim, Dim];
  const heads = q.shape[1] as number;
  const grouped = reshape(q, [b, h, heads / h, k]);
  return reshape(matmul(grouped, state), [b, heads, v]);
}

/** x[B, T, H·D] → [T, B, H, D], in f32. */
function stepwise(x: Tensor, heads: number): Tensor {
  const [b, t, width] = x.shape as [Dim, Dim, Dim];
  return transpose(reshape(widened(x), [b, t, heads, floorDiv(width, heads)]), [1, 0, 2, 3]);
}

/** Steps that are written out one by one; more are a loop. */
const fewSteps = 4;

type Step = (
  carry: readonly Tensor[],
  xs: readonly Tensor[],
) => { readonly carry: readonly Tensor[]; readonly ys: readonly Tensor[] };

function stepped(init: readonly Tensor[], xs: readonly Tensor[], step: Step): ReturnType<Step> {
  const count = xs[0]!.shape[0]!;
  if (!isStatic(count) || count > fewSteps || count === 0) return scan(init, xs, step);
  let carry = init;
  const shown: Tensor[] = [];
  for (let t = 0; t < count; t++) {
    const now = xs.map((x) => reshape(x.sliceAxis(0, t, t + 1), x.shape.slice(1)));
    const next = step(carry, now);
    carry = next.carry;
    shown.push(next.ys[0]!);
  }
  return { carry, ys: [stack(shown)] };
}

function linearAttention(n: NodeContext): Result {
  const rule = n.string("update_rule", "gated_delta");
  if (!rules.includes(rule)) return n.fail(`update_rule is "${rule}", not ${rules.join(", ")}`);
  const [queries, heads] = [n.int("q_num_heads"), n.int("kv_num_heads")];
  const q = stepwise(n.tensor(0), queries);
  const [k, v] = [stepwise(n.tensor(1), heads), stepwise(n.tensor(2), heads)];
  const gated = rule.startsWith("gated") ? [stepwise(n.tensor(4), heads)] : [];
  const beta = rule.endsWith("delta") ? n.tensor(5) : undefined;
  const strengths = beta ? [transpose(expandDims(widened(beta), 3), [1, 0, 2, 3])] : [];
  const [b, dk, dv] = [q.shape[1]!, k.shape[3]!, v.shape[3]!];
  const start = n.has(3) ? widened(n.tensor(3)) : zeros([b, heads, dk, dv], q.dtype);
  const step = ([state]: readonly Tensor[], xs: readonly Tensor[]) => {
    const [qt, kt, vt, ...rest] = xs as [Tensor, Tensor, Tensor, ...Tensor[]];
    const decay = gated.length ? rest[0] : undefined;
    const inputs = { q: qt, k: kt, v: vt, decay, beta: beta && rest[gated.length] };
    const next = updated(state!, inputs);
    return { carry: [next], ys: [read(next, qt)] };
  };
  const { carry, ys } = stepped([start], [q, k, v, ...gated, ...strengths], step);
  const scale = n.float("scale", 0) || usualScale(q);
  const y = reshape(transpose(ys[0]!.mul(scale), [1, 0, 2, 3]), [
    ...n.tensor(0).shape.slice(0, 2),
    -1,
  ]);
  const own = (t: Tensor) => typed(convert(t, n.tensor(0).dtype), n.type(0));
  return [own(y), own(carry[0]!)];
}

/** A convolution of each channel with what came before; the last places are the state of the next call. */
function causalConv(n: NodeContext): Result {
  const [own, weight] = [n.tensor(0), widened(n.tensor(1))];
  const size = weight.shape[2]!;
  const x = widened(own);
  const before = subDim(size, 1);
  const long = n.has(3)
    ? concat([widened(n.tensor(3)), x], 2)
    : pad(x, 0, [0, 0, before], [0, 0, 0]);
  const sums = windows(long, { size }).mul(weight).sum(-1);
  const biased = n.has(2) ? sums.add(expandDims(widened(n.tensor(2)), 1)) : sums;
  const activation = n.string("activation", "none");
  if (!["none", "silu", "swish", ""].includes(activation))
    return n.fail(`activation is "${activation}", not none, silu or swish`);
  const y = activation.startsWith("s") ? silu(biased) : biased;
  const state = long.sliceAxis(2, subDim(long.shape[2]!, before), long.shape[2]!);
  return [convert(y, own.dtype), convert(state, own.dtype)].map((t) => typed(t, n.type(0)));
}

export const linearAttentionRows: readonly Row[] = [
  row("LinearAttention", linearAttention),
  row("CausalConvWithState", causalConv),
  microsoft("LinearAttention", linearAttention),
  microsoft("CausalConvWithState", causalConv),
];
