/**
 * The attentions of ONNX Runtime: Attention, MultiHeadAttention, GroupQueryAttention and RotaryEmbedding. Past and present are
 * tensors of their own: a present is as long as ONNX Runtime makes it, but never written into the past's memory.
 */
import {
  addDim,
  broadcastInDim,
  concat,
  constant,
  convert,
  type Dim,
  dimValue,
  exactQuotient,
  expandDims,
  floorDiv,
  iota,
  isStatic,
  maskedSoftmax,
  matmul,
  maxDim,
  mulDim,
  pad,
  reshape,
  sameDim,
  scatter,
  select,
  stack,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { elementTypeOf } from "../element.ts";
import { microsoft, type Row } from "../row.ts";
import { typed } from "../value.ts";
import { rotated } from "./attention.ts";
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
import { range, widened } from "./operands.ts";
import { integerProduct } from "./quantized-product.ts";
import { flat } from "./shape.ts";

const scaleOf = (n: NodeContext, q: Tensor) => n.float("scale", 0) || usualScale(q);

/** Whether a key is seen, from what runtimes call a mask: lengths, ends and starts, or 0 and 1 for each key. */
function seenKeys(n: NodeContext, mask: Tensor, scores: Tensor): Tensor {
  const [batch, , s, t] = scores.shape as [Dim, Dim, Dim, Dim];
  const keys = iota([1, 1, 1, t], 3);
  const each = (v: Tensor) => reshape(v, [batch, 1, 1, 1]);
  if (mask.rank === 1 && sameDim(mask.shape[0]!, batch)) return keys.less(each(mask));
  if (mask.rank === 1 && sameDim(mask.shape[0]!, mulDim(batch, 2)))
    return keys
      .less(each(mask.sliceAxis(0, 0, batch)))
      .and(keys.greaterEqual(each(mask.sliceAxis(0, batch, mulDim(batch, 2)))));
  const seen = mask.notEqual(0);
  if (mask.rank === 2) return reshape(seen, [mask.shape[0]!, 1, 1, mask.shape[1]!]);
  if (mask.rank === 3) return expandDims(seen, 1);
  if (mask.rank !== 4) return n.fail(`a mask of rank ${mask.rank} is not supported`);
  // A square for the longest sequence: the rows of the queries at hand are the last before t.
  return seen.sliceAxis(2, subDim(t, s), t).sliceAxis(3, 0, t);
}

interface Inputs {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly mask: Tensor | undefined;
  readonly bias: Tensor | undefined;
  readonly past: Dim;
}

/** Attention on heads, joined: [B, S, H·D]. Hidden keys get `mask_filter_value` added, as exporters expect. */
function attended(n: NodeContext, { q, k, v, mask, bias, past }: Inputs): Tensor {
  let scores = scoresOf(q, k, scaleOf(n, q));
  if (mask) {
    const hidden = n.float("mask_filter_value", -10000);
    scores = scores.add(select(seenKeys(n, mask, scores), 0, hidden));
  }
  if (bias) scores = scores.add(widened(bias));
  if (n.flag("unidirectional")) scores = masked(scores, causalMask(scores, past));
  return joinedHeads(mixed(maskedSoftmax(scores, -1), v));
}

const half = (t: Tensor, i: number): Tensor => reshape(t.sliceAxis(0, i, i + 1), t.shape.slice(1));

/** Where the inputs of an attention on one product of the input stand. */
interface Places {
  readonly mask: number;
  readonly past: number;
  readonly bias: number | undefined;
}

/** Q, K and V are parts of `all`, [B, S, 3·H·D]. */
function attention(n: NodeContext, all: Tensor, at: Places): Result {
  if (n.flag("do_rotary")) return n.fail("do_rotary is not supported");
  if (n.flag("past_present_share_buffer")) return n.fail("a shared buffer is not supported");
  const heads = n.int("num_heads");
  const third = exactQuotient(all.shape[2]!, 3) ?? floorDiv(all.shape[2]!, 3);
  const sizes = n.ints("qkv_hidden_sizes", []);
  const parts = all.split(sizes.length === 3 ? sizes : [third, third, third], 2);
  const [q, newK, newV] = parts.map((x) => headsOf(x, heads)) as [Tensor, Tensor, Tensor];
  const past = n.maybe(at.past);
  const k = past ? concat([half(past, 0), newK], 2) : newK;
  const v = past ? concat([half(past, 1), newV], 2) : newV;
  const before = past ? past.shape[3]! : 0;
  const bias = at.bias === undefined ? undefined : n.maybe(at.bias);
  const y = typed(
    attended(n, { q, k, v, mask: n.maybe(at.mask), bias, past: before }),
    floatType(q),
  );
  return n.wants(1) ? [y, typed(stack([k, v]), floatType(q))] : [y];
}

const floatType = (t: Tensor) => elementTypeOf(t.dtype);

function plainAttention(n: NodeContext): Result {
  const product = matmul(n.tensor(0), n.tensor(1));
  return attention(n, n.has(2) ? product.add(n.tensor(2)) : product, { mask: 3, past: 4, bias: 5 });
}

/** Input and weights are integers, with scales for each or for each column of the weights. */
function quantizedAttention(n: NodeContext): Result {
  const scale = widened(n.tensor(3)).mul(widened(n.tensor(4)));
  const sums = integerProduct(n.tensor(0), n.maybe(6), n.tensor(1), n.maybe(7));
  return attention(n, widened(sums).mul(scale).add(n.tensor(2)), {
    mask: 5,
    past: 8,
    bias: undefined,
  });
}

/** Slice `i` of the packed axis of [B, S, H, count, D], with the heads in front. */
const unpackedHeads = (x: Tensor, i: number): Tensor =>
  reshape(x.sliceAxis(3, i, i + 1), [...x.shape.slice(0, 3), x.shape[4]!]).transpose([0, 2, 1, 3]);

/** Queries, keys and values of MultiHeadAttention in any of their layouts, with their biases. */
function multiHeads(n: NodeContext, heads: number): [Tensor, Tensor, Tensor] {
  const first = n.tensor(0);
  if (first.rank === 5)
    return range(3).map((i) => unpackedHeads(first, i)) as [Tensor, Tensor, Tensor];
  const bias = n.maybe(3);
  const width = first.shape[2]!;
  const part = (x: Tensor, from: Dim) =>
    headsOf(bias ? x.add(bias.sliceAxis(0, from, addDim(from, x.shape[2]!))) : x, heads);
  const q = part(first, 0);
  const key = n.tensor(1);
  if (key.rank === 5) return [q, unpackedHeads(key, 0), unpackedHeads(key, 1)];
  // Keys and values of another sequence may have been split into heads before.
  if (key.rank === 4) return [q, key, n.tensor(2)];
  return [q, part(key, width), part(n.tensor(2), mulDim(width, 2))];
}

function multiHeadAttention(n: NodeContext): Result {
  const [q, newK, newV] = multiHeads(n, n.int("num_heads"));
  if (n.has(8) || n.has(9)) return n.fail("a shared buffer or beams are not supported");
  const before = n.has(6) ? n.tensor(6).shape[2]! : 0;
  const k = n.has(6) ? concat([n.tensor(6), newK], 2) : newK;
  const v = n.has(7) ? concat([n.tensor(7), newV], 2) : newV;
  const y = attended(n, { q, k, v, mask: n.maybe(4), bias: n.maybe(5), past: before });
  return [y, k, v].map((t) => typed(t, n.type(0)));
}

/** The angles of positions, [B or 1, 1, S, R/2], beside heads [B, H, S, D]. */
const anglesAt = (table: Tensor, positions: Tensor): Tensor =>
  expandDims(widened(table).take(positions), 1);

/** x[B, H, S, D] rotated by position; the part behind the table's width stays. */
function rotatedHeads(
  n: NodeContext,
  x: Tensor,
  tables: readonly [Tensor, Tensor],
  positions: Tensor,
  interleaved: boolean,
): Tensor {
  const [width, angles] = [x.shape[3]!, tables[0].shape[1]!];
  if (!isStatic(width) || !isStatic(angles)) return n.fail("the head size must be a number");
  const size = Math.min(width, 2 * angles);
  const [cos, sin] = tables.map((t) => anglesAt(t, positions)) as [Tensor, Tensor];
  const turned = rotated(widened(x.sliceAxis(3, 0, size)), cos, sin, interleaved);
  const own = convert(turned, x.dtype);
  return size === width ? own : concat([own, x.sliceAxis(3, size, width)], 3);
}

/** Positions from 0, or those after `past`, [1, S]; of starts [B, 1], [B, S]. */
const positionsAfter = (past: Tensor, s: Dim): Tensor => iota([1, s], 1).add(past);

function groupHeads(n: NodeContext): [Tensor, Tensor, Tensor] {
  const [heads, groups] = [n.int("num_heads"), n.int("kv_num_heads")];
  if (n.has(1)) {
    const [k, v] = [n.tensor(1), n.tensor(2)];
    return [headsOf(n.tensor(0), heads), headsOf(k, groups), headsOf(v, groups)];
  }
  const all = headsOf(n.tensor(0), heads + 2 * groups);
  return [
    all.sliceAxis(1, 0, heads),
    all.sliceAxis(1, heads, heads + groups),
    all.sliceAxis(1, heads + groups, heads + 2 * groups),
  ];
}

/** e^s / Σ e^s with one more score for each head that takes weight and gives nothing. */
function sinkSoftmax(scores: Tensor, sink: Tensor): Tensor {
  const most = scores.max(-1, { keepDims: true, empty: "identity" }).maximum(sink).stopGradient();
  const e = scores.sub(most).exp();
  return e.div(e.sum(-1, { keepDims: true }).add(sink.sub(most).exp()));
}

function groupWeights(n: NodeContext, q: Tensor, k: Tensor, starts: Tensor): Tensor {
  let scores = capped(scoresOf(q, k, scaleOf(n, q)), n.float("softcap", 0));
  if (n.has(10)) scores = scores.add(widened(n.tensor(10)));
  const [s, t] = scores.shape.slice(2) as [Dim, Dim];
  const places = iota([1, 1, s, t], 2).add(reshape(starts, [starts.shape[0]!, 1, 1, 1]));
  const keys = iota([1, 1, s, t], 3);
  let seen = places.greaterEqual(keys);
  const window = n.int("local_window_size", -1);
  if (window > 0) seen = seen.and(keys.greater(places.sub(window)));
  scores = masked(scores, seen);
  const sink = n.has(11)
    ? reshape(widened(n.tensor(11)), [1, n.int("num_heads"), 1, 1])
    : undefined;
  if (sink) return sinkSoftmax(scores, sink);
  return n.flag("smooth_softmax")
    ? sinkSoftmax(scores, constant(0, scores.dtype))
    : maskedSoftmax(scores, -1);
}

/** Where the new keys of each sequence begin, [B, 1]: behind as many as its length leaves. */
function startsOf(n: NodeContext, past: Dim, s: Dim): Tensor {
  const [lengths, total] = [flat(n.tensor(5)), n.has(6) ? n.dims(6)[0]! : addDim(past, s)];
  const one = sameDim(lengths.shape[0]!, 1) && sameDim(total, addDim(past, s));
  if (one || !n.has(3)) return broadcastInDim(dimValue(past), [lengths.shape[0]!, 1], []);
  return expandDims(convert(lengths, "i32").add(1).sub(dimValue(s)).maximum(0), 1);
}

/**
 * The past with the new keys behind it. Where one sequence fills the past they are joined; else each sequence's are written where it
 * ends, into a buffer as long as the past or the total, whichever is longer, that is 0 behind.
 */
function joinedPast(n: NodeContext, i: number, fresh: Tensor, starts: Tensor): Tensor {
  if (!n.has(i)) return fresh;
  const old = n.tensor(i);
  const [batch, , past] = old.shape as [Dim, Dim, Dim];
  const s = fresh.shape[2]!;
  const total = n.has(6) ? n.dims(6)[0]! : addDim(past, s);
  if (sameDim(batch, 1) && sameDim(total, addDim(past, s))) return concat([old, fresh], 2);
  const more = subDim(maxDim(past, total), past);
  const kept = iota([batch, 1, past, 1], 2).less(reshape(starts, [batch, 1, 1, 1]));
  const buffer = pad(select(kept, old, 0), 0, [0, 0, 0, 0], [0, 0, more, 0]);
  const place = starts.add(iota([batch, s], 1));
  const rows = fresh.transpose([0, 2, 1, 3]);
  return scatter(buffer, rows, [iota([batch, s], 0), place], [0, 2], "set");
}

function groupQueryAttention(n: NodeContext): Result {
  let [q, newK, newV] = groupHeads(n);
  const [s, past] = [q.shape[2]!, n.has(3) ? n.tensor(3).shape[2]! : 0];
  const starts = startsOf(n, past, s);
  if (n.flag("do_rotary")) {
    const tables = [n.tensor(7), n.tensor(8)] as const;
    const positions = n.maybe(9) ?? positionsAfter(starts, s);
    const turn = (x: Tensor) => rotatedHeads(n, x, tables, positions, n.flag("rotary_interleaved"));
    [q, newK] = [turn(q), turn(newK)];
  }
  const k = joinedPast(n, 3, newK, starts);
  const v = joinedPast(n, 4, newV, starts);
  const y = joinedHeads(mixed(groupWeights(n, q, k, starts), v));
  return [y, k, v].map((t) => typed(t, n.type(0)));
}

/** Flat inputs have as many heads as the attribute says, or as the table's width leaves. */
function rotaryEmbedding(n: NodeContext): Tensor {
  const [x, table] = [n.tensor(0), n.tensor(2)];
  const width = x.shape[x.rank - 1]!;
  if (!isStatic(width) || !isStatic(table.shape[1]!))
    return n.fail("the head size must be a number");
  const heads = n.int("num_heads", 0) || width / (2 * table.shape[1]!);
  const split = x.rank === 3 ? headsOf(x, heads) : x;
  const given = n.tensor(1);
  const s = split.shape[2]!;
  const positions = given.rank === 2 ? given : positionsAfter(reshape(given, []), s);
  const y = rotatedHeads(n, split, [table, n.tensor(3)], positions, n.flag("interleaved"));
  return x.rank === 3 ? joinedHeads(y) : y;
}

export const microsoftAttentionRows: readonly Row[] = [
  microsoft("Attention", plainAttention, { note: "Without rotary positions and shared buffers." }),
  microsoft("QAttention", quantizedAttention, { note: "As Attention." }),
  microsoft("MultiHeadAttention", multiHeadAttention, {
    note: "Without packed sequences, shared buffers and beams.",
  }),
  microsoft("GroupQueryAttention", groupQueryAttention),
  microsoft("RotaryEmbedding", rotaryEmbedding, { note: "Without packed batching." }),
];
