/**
 * Random nodes of the structural ops, with values for their operands. Extents are static or
 * symbols; equal extents get equal symbols, so the type rules see shapes that agree.
 */
import {
  broadcastInDim,
  concat,
  convolution,
  type Dim,
  type Dtype,
  dim,
  dotGeneral,
  gather,
  input,
  makeNode,
  makeValue,
  opRecord,
  pad,
  reshape,
  reverse,
  scatter,
  slice,
  type Tensor,
  transpose,
  type Value,
  windows,
} from "@kiln-ml/ir";

export interface Random {
  /** An integer from low to high, both included. */
  int(low: number, high: number): number;
  /** A number in [−1, 1). */
  real(): number;
  shuffle<T>(list: readonly T[]): T[];
}

/** Marsaglia's xorshift32. */
export function random(seed: number): Random {
  let s = seed | 0 || 1;
  const next = () => {
    s ^= s << 13;
    s ^= s >>> 17;
    s ^= s << 5;
    return (s >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 8; i++) next();
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  const shuffle = <T>(list: readonly T[]): T[] => {
    const out = [...list];
    for (let i = out.length - 1; i > 0; i--) {
      const j = int(0, i);
      [out[i], out[j]] = [out[j]!, out[i]!];
    }
    return out;
  };
  return { int, real: () => next() * 2 - 1, shuffle };
}

/** A node, the values of its operands, and those of the symbols in its shapes. */
export interface Case {
  readonly node: Tensor;
  readonly inputs: Map<Tensor, Value>;
  readonly dims: Record<string, number>;
}

export class Builder {
  readonly inputs = new Map<Tensor, Value>();
  readonly dims: Record<string, number> = {};
  readonly r: Random;
  readonly symbolic: boolean;
  readonly dtype: Dtype;
  constructor(r: Random, symbolic = false, dtype: Dtype = "f64") {
    this.r = r;
    this.symbolic = symbolic;
    this.dtype = dtype;
  }

  /** The extent n, or a symbol that stands for it. */
  extent(n: number): Dim {
    if (!this.symbolic || n < 2) return n;
    this.dims[`D${n}`] = n;
    return dim(`D${n}`);
  }

  /** An input; the extents of the axes in `fixed` are static in any case. */
  leaf(
    shape: readonly number[],
    dtype = this.dtype,
    number = () => this.r.real(),
    fixed: readonly number[] = [],
  ): Tensor {
    const leaf = input(
      `x${this.inputs.size}`,
      dtype,
      shape.map((n, i) => (fixed.includes(i) ? n : this.extent(n))),
    );
    const size = shape.reduce((a, b) => a * b, 1);
    this.inputs.set(leaf, makeValue(dtype, shape, Array.from({ length: size }, number)));
    return leaf;
  }

  shape(min: number, max: number, extent = 4): number[] {
    return Array.from({ length: this.r.int(min, max) }, () => this.r.int(1, extent));
  }

  axes(rank: number, atLeast = 0): number[] {
    const count = this.r.int(Math.min(atLeast, rank), rank);
    return this.r.shuffle(Array.from({ length: rank }, (_, i) => i)).slice(0, count);
  }

  done(node: Tensor): Case {
    return { node, inputs: this.inputs, dims: this.dims };
  }
}

/** Splits and joins extents at random, keeping the product. */
function regroup(b: Builder, shape: readonly number[]): number[] {
  const out: number[] = [];
  for (const n of shape) {
    const last = out.at(-1);
    if (last !== undefined && b.r.int(0, 2) === 0) out[out.length - 1] = last * n;
    else if (n % 2 === 0 && b.r.int(0, 1)) out.push(...b.r.shuffle([2, n / 2]));
    else out.push(n);
    if (b.r.int(0, 4) === 0) out.push(1);
  }
  return out;
}

function reshapeCase(b: Builder): Tensor {
  const shape = b.shape(0, 4, 6);
  const x = b.leaf(shape);
  if (!b.symbolic) return reshape(x, regroup(b, shape));
  // With symbols: whole axes are joined, or parts of a joined axis are taken apart again.
  const cut = b.r.int(0, shape.length);
  const joined = reshape(x, [-1, ...x.shape.slice(cut)]);
  return b.r.int(0, 1) ? joined : reshape(joined, x.shape);
}

function broadcastCase(b: Builder): Tensor {
  const to = b.shape(0, 4);
  const dims = b.axes(to.length);
  const from = dims.map((d) => (b.r.int(0, 2) ? to[d]! : 1));
  const shape = to.map((n) => b.extent(n));
  return broadcastInDim(b.leaf(from), shape, dims);
}

function sliceCase(b: Builder): Tensor {
  const shape = b.shape(1, 3, 6);
  const start = shape.map((n) => b.r.int(0, n - 1));
  const limit = shape.map((n, i) => b.r.int(start[i]!, n));
  return slice(
    b.leaf(shape),
    start,
    limit,
    shape.map(() => b.r.int(1, 3)),
  );
}

function padCase(b: Builder): Tensor {
  const shape = b.shape(1, 3);
  const interior = shape.map(() => b.r.int(0, 2));
  const room = shape.map((n, i) => n + (n - 1) * interior[i]!);
  const low = room.map((n) => b.r.int(-Math.min(2, n), 2));
  const high = room.map((n, i) => b.r.int(Math.max(-2, -(n + low[i]!)), 2));
  return pad(b.leaf(shape), b.leaf([]), low, high, interior);
}

function concatCase(b: Builder): Tensor {
  const shape = b.shape(1, 3);
  const axis = b.r.int(0, shape.length - 1);
  const parts = Array.from({ length: b.r.int(1, 3) }, () =>
    b.leaf(shape.map((n, i) => (i === axis ? b.r.int(b.symbolic ? 1 : 0, 3) : n))),
  );
  return concat(parts, axis);
}

function windowsCase(b: Builder): Tensor {
  const lead = b.shape(0, 2, 3);
  const n = b.r.int(1, 2);
  const some = (max: number) => Array.from({ length: n }, () => b.r.int(1, max));
  const [size, stride, dilation] = [some(3), some(3), some(2)];
  const extents = size.map((s, i) => (s - 1) * dilation[i]! + 1 + b.r.int(0, 4));
  return windows(b.leaf([...lead, ...extents]), { size, stride, dilation });
}

/** A fold over the windows that `windowsCase` makes. */
function foldCase(b: Builder): Tensor {
  const w = windowsCase(b);
  const n = (w.attrs.size as readonly number[]).length;
  const from = w.operands[0]!.shape;
  const concrete = w.shape.map((d) => (typeof d === "number" ? d : undefined));
  if (concrete.includes(undefined)) return foldOf(w, from.slice(from.length - n));
  b.inputs.clear();
  return foldOf(b.leaf(concrete as number[]), from.slice(from.length - n), w);
}

function foldOf(x: Tensor, extent: readonly Dim[], like = x): Tensor {
  const { size, stride, dilation } = like.attrs as Record<string, readonly number[]>;
  const attrs = { size: size!, stride: stride!, dilation: dilation!, extent };
  const type = opRecord("fold").infer([x], attrs);
  return makeNode({ op: "fold", operands: [x], attrs, ...type });
}

export function dotCase(b: Builder): Tensor {
  const [batch, contract] = [b.shape(0, 2, 3), b.shape(0, 2, 3)];
  const side = () => {
    const free = b.shape(0, 2, 3);
    const roles = [...batch, ...contract, ...free];
    const order = b.r.shuffle(roles.map((_, i) => i));
    const at = (i: number) => order.indexOf(i);
    return {
      leaf: b.leaf(order.map((i) => roles[i]!)),
      batch: batch.map((_, i) => at(i)),
      contract: contract.map((_, i) => at(batch.length + i)),
    };
  };
  const [l, r] = [side(), side()];
  return dotGeneral(l.leaf, r.leaf, {
    lhsBatch: l.batch,
    rhsBatch: r.batch,
    lhsContract: l.contract,
    rhsContract: r.contract,
  });
}

/** Any stride, two-sided (also negative) padding, dilations and groups. */
export function convolutionCase(b: Builder, n = b.r.int(1, 2)): Tensor {
  const { r } = b;
  const some = (max: number) => Array.from({ length: n }, () => r.int(1, max));
  const [groups, c, o] = [r.int(1, 2), r.int(1, 2), r.int(1, 2)];
  const [kernel, stride, dilation, lhsDilation] = [some(3), some(3), some(2), some(2)];
  const sides = kernel.map(() => [r.int(-1, 2), r.int(-1, 2)] as const);
  const extents = kernel.map((k, i) => {
    const needed = (k - 1) * dilation[i]! + 1 - sides[i]![0] - sides[i]![1];
    return Math.max(1, Math.ceil((needed - 1) / lhsDilation[i]!) + 1) + r.int(0, 3);
  });
  const x = b.leaf([r.int(1, 2), groups * c, ...extents], b.dtype, r.real, [1]);
  const w = b.leaf([groups * o, c, ...kernel], b.dtype, r.real, [0, 1]);
  return convolution(x, w, { stride, padding: sides, dilation, lhsDilation, groups });
}

function indicesFor(b: Builder, shape: readonly number[], s: readonly number[], beyond = 2) {
  const axes = b.axes(shape.length, 1);
  const indices = axes.map((a) => b.leaf(s, "i32", () => b.r.int(-beyond, shape[a]! - 1 + beyond)));
  return { axes, indices };
}

export function gatherCase(b: Builder): Tensor {
  const [shape, s] = [b.shape(1, 3), b.shape(0, 2, 3)];
  const { axes, indices } = indicesFor(b, shape, s);
  return gather(b.leaf(shape), indices, axes);
}

export function scatterCase(b: Builder, mode: "add" | "mul" | "max" | "min" | "set"): Tensor {
  const [shape, s] = [b.shape(1, 3), b.shape(0, 2, 4)];
  const { axes, indices } = indicesFor(b, shape, s, 1);
  const rest = shape.filter((_, i) => !axes.includes(i));
  return scatter(b.leaf(shape), b.leaf([...s, ...rest]), indices, axes, mode);
}

function reduceCase(b: Builder, op: string): Tensor {
  const shape = b.shape(1, 3);
  // Few distinct values, so that extremes tie.
  const logical = op === "reduceAny" || op === "reduceAll";
  const x = logical
    ? b.leaf(shape, "bool", () => b.r.int(0, 1))
    : b.leaf(shape, b.dtype, () => b.r.int(-3, 3));
  const attrs = { axes: b.axes(shape.length, 1).sort((p, q) => p - q) };
  return makeNode({ op, operands: [x], attrs, ...opRecord(op).infer([x], attrs) });
}

function scanCase(b: Builder, op: string): Tensor {
  const shape = b.shape(1, 3);
  const x = b.leaf(shape, b.dtype, () => b.r.int(-3, 3));
  const [axis, reverse] = [b.r.int(0, shape.length - 1), !b.r.int(0, 1)];
  // An exclusive extreme starts at infinity, which has no differences.
  const exclusive = (op === "cumsum" || op === "cumprod") && !b.r.int(0, 1);
  const attrs = { axis, exclusive, reverse };
  return makeNode({ op, operands: [x], attrs, ...opRecord(op).infer([x], attrs) });
}

export function sortCase(b: Builder): Tensor {
  const shape = b.shape(1, 3);
  const x = b.leaf(shape, b.dtype, () => b.r.int(-2, 2));
  const axis = b.r.int(0, shape.length - 1);
  const extent = x.shape[axis]!;
  const count = typeof extent === "number" ? b.r.int(0, extent) : extent;
  const attrs = { axis, count, descending: b.r.int(0, 1) === 1 };
  return makeNode({
    op: "argSort",
    operands: [x],
    attrs,
    ...opRecord("argSort").infer([x], attrs),
  });
}

export const scans = ["cumsum", "cumprod", "cummax", "cummin"];

export const reductions = [
  "reduceSum",
  "reduceProd",
  "reduceMax",
  "reduceMin",
  "reduceAny",
  "reduceAll",
  "argMax",
  "argMin",
];

export const cases: Readonly<Record<string, (b: Builder) => Tensor>> = {
  reshape: reshapeCase,
  transpose: (b) => {
    const shape = b.shape(0, 4);
    return transpose(b.leaf(shape), b.r.shuffle(shape.map((_, i) => i)));
  },
  broadcastInDim: broadcastCase,
  reverse: (b) => {
    const shape = b.shape(1, 3);
    return reverse(b.leaf(shape), b.axes(shape.length));
  },
  slice: sliceCase,
  pad: padCase,
  concat: concatCase,
  windows: windowsCase,
  fold: foldCase,
  dotGeneral: dotCase,
  convolution: (b) => convolutionCase(b),
  ...Object.fromEntries(reductions.map((op) => [op, (b: Builder) => reduceCase(b, op)])),
  ...Object.fromEntries(scans.map((op) => [op, (b: Builder) => scanCase(b, op)])),
};
