/** Ops of StableHLO that move, contract, gather and scatter, from the specification; regions are run by the caller. */
import { fromHost, type HostArray, isFloat, roundTo, toHost } from "@kiln-ml/ir";
import { fieldIn, intsIn, numberIn, type ParsedOp } from "../../packages/stablehlo/src/parse.ts";
import type { Type } from "../../packages/stablehlo/src/text.ts";
import { type Arr, element, filledBy, inside, offset, places } from "./array.ts";

export type Combine = (x: number, y: number) => number;
type Structural = (op: ParsedOp, x: readonly Arr[], type: Type, combine: () => Combine) => Arr;

const attr = (op: ParsedOp, name: string): string => op.attributes.get(name) ?? "";
const list = (op: ParsedOp, name: string): number[] => intsIn(attr(op, name));

const product = (type: Type, x: number, y: number): number =>
  isFloat(type.dtype) ? x * y : Math.imul(x, y);
const plus = (type: Type, x: number, y: number): number =>
  isFloat(type.dtype) ? x + y : roundTo(type.dtype, x + y);

const dot: Structural = (op, [lhs, rhs], type) => {
  const text = attr(op, "dot_dimension_numbers");
  const [lb, rb, lc, rc] = [
    "lhs_batching",
    "rhs_batching",
    "lhs_contracting",
    "rhs_contracting",
  ].map((name) => fieldIn(text, `${name}_dimensions`)) as [number[], number[], number[], number[]];
  const free = (x: Arr, used: readonly number[]) =>
    x.shape.map((_, a) => a).filter((a) => !used.includes(a));
  const [lf, rf] = [free(lhs!, [...lb, ...lc]), free(rhs!, [...rb, ...rc])];
  const inner = places(lc.map((a) => lhs!.shape[a]!));
  return filledBy(type, (at) => {
    const [a, b]: [number[], number[]] = [[], []];
    for (const [i, axis] of lb.entries()) a[axis] = at[i]!;
    for (const [i, axis] of rb.entries()) b[axis] = at[i]!;
    for (const [i, axis] of lf.entries()) a[axis] = at[lb.length + i]!;
    for (const [i, axis] of rf.entries()) b[axis] = at[lb.length + lf.length + i]!;
    return inner.reduce((sum, k) => {
      for (const [i, axis] of lc.entries()) a[axis] = k[i]!;
      for (const [i, axis] of rc.entries()) b[axis] = k[i]!;
      return plus(type, sum, product(type, element(lhs!, a), element(rhs!, b)));
    }, 0);
  });
};

const convolution: Structural = (op, [x, w], type) => {
  const [stride, spread, dilation] = ["window_strides", "lhs_dilation", "rhs_dilation"].map((n) =>
    list(op, n),
  ) as [number[], number[], number[]];
  const low = list(op, "padding").filter((_, i) => i % 2 === 0);
  const perGroup = w!.shape[0]! / list(op, "feature_group_count")[0]!;
  const window = places(w!.shape.slice(1));
  return filledBy(type, ([n, o, ...at]) =>
    window.reduce((sum, [c, ...k]) => {
      const from = at.map((t, i) => (t * stride[i]! + k[i]! * dilation[i]! - low[i]!) / spread[i]!);
      const source = [n!, Math.floor(o! / perGroup) * w!.shape[1]! + c!, ...from];
      const value = inside(x!.shape, source) ? element(x!, source) : 0;
      return plus(type, sum, product(type, value, element(w!, [o!, c!, ...k])));
    }, 0),
  );
};

const clamp = (x: number, high: number): number => Math.max(0, Math.min(high, x));

/** The index vector for batch coordinates `at`. */
const vectorOf = (indices: Arr, axis: number, at: readonly number[]): number[] =>
  Array.from({ length: indices.shape[axis] ?? 1 }, (_, k) =>
    element(indices, [...at.slice(0, axis), k, ...at.slice(axis)]),
  );

const gather: Structural = (op, [x, indices], type) => {
  const text = attr(op, "dimension_numbers");
  const [offsets, collapsed, map] = ["offset_dims", "collapsed_slice_dims", "start_index_map"].map(
    (n) => fieldIn(text, n),
  ) as [number[], number[], number[]];
  const axis = fieldIn(text, "index_vector_dim")[0]!;
  const sizes = list(op, "slice_sizes");
  const kept = x!.shape.map((_, a) => a).filter((a) => !collapsed.includes(a));
  return filledBy(type, (at) => {
    const batch = at.filter((_, a) => !offsets.includes(a));
    const start = x!.shape.map(() => 0);
    for (const [k, i] of vectorOf(indices!, axis, batch).entries())
      start[map[k]!] = clamp(i, x!.shape[map[k]!]! - sizes[map[k]!]!);
    for (const [n, a] of kept.entries()) start[a]! += at[offsets[n]!]!;
    return element(x!, start);
  });
};

/** Updates are combined last to first, as no order is promised; where that could be seen, it is an error. */
const scatter: Structural = (op, [x, indices, updates], type, combine) => {
  const text = attr(op, "scatter_dimension_numbers");
  const window = fieldIn(text, "update_window_dims");
  const inserted = fieldIn(text, "inserted_window_dims");
  const map = fieldIn(text, "scatter_dims_to_operand_dims");
  const axis = fieldIn(text, "index_vector_dim")[0]!;
  const kept = x!.shape.map((_, a) => a).filter((a) => !inserted.includes(a));
  const sets = op.regions[0]!.ops.length === 1;
  const data = Float64Array.from(x!.data);
  const seen = new Set<number>();
  for (const at of places(updates!.shape).reverse()) {
    const batch = at.filter((_, a) => !window.includes(a));
    const to = x!.shape.map(() => 0);
    for (const [k, i] of vectorOf(indices!, axis, batch).entries()) to[map[k]!] = i;
    for (const [n, a] of kept.entries()) to[a]! += at[window[n]!]!;
    if (!inside(x!.shape, to)) continue;
    const i = offset(x!.shape, to);
    if (seen.has(i) && (sets || attr(op, "unique_indices") === "true"))
      throw new Error("stablehlo leaves open: which of two updates wins");
    seen.add(i);
    data[i] = roundTo(type.dtype, combine()(data[i]!, element(updates!, at)));
  }
  return { dtype: type.dtype, shape: type.shape, data };
};

const pad: Structural = (op, [x, value], type) => {
  const [low, interior] = [list(op, "edge_padding_low"), list(op, "interior_padding")];
  return filledBy(type, (at) => {
    const from = at.map((c, a) => (c - low[a]!) / (interior[a]! + 1));
    return inside(x!.shape, from) ? element(x!, from) : value!.data[0]!;
  });
};

const concatenate: Structural = (op, xs, type) => {
  const axis = list(op, "dimension")[0]!;
  return filledBy(type, (at) => {
    let c = at[axis]!;
    const x = xs.find((t) => {
      if (c < t.shape[axis]!) return true;
      c -= t.shape[axis]!;
      return false;
    })!;
    return element(
      x,
      at.map((v, a) => (a === axis ? c : v)),
    );
  });
};

const bitcast: Structural = (_op, [x], type) => {
  const cast = toHost(type.dtype, new Float64Array(x!.data.length));
  const stored = toHost(x!.dtype, x!.data);
  new Uint8Array(cast.buffer as ArrayBuffer).set(new Uint8Array(stored.buffer as ArrayBuffer));
  return { ...type, data: fromHost(type.dtype, cast as HostArray) };
};

const startOf = (x: Arr, sizes: readonly number[], at: readonly Arr[]): number[] =>
  at.map((s, a) => clamp(s.data[0]!, x.shape[a]! - sizes[a]!));

export const structural: Readonly<Record<string, Structural>> = {
  constant: (op, _x, type) => {
    const value = numberIn(attr(op, "value"), type.dtype);
    return filledBy(type, () => value);
  },
  iota: (op, _x, type) => filledBy(type, (at) => at[list(op, "iota_dimension")[0]!]!),
  reshape: (_op, [x], type) => ({ ...type, data: x!.data }),
  bitcast_convert: bitcast,
  transpose: (op, [x], type) => {
    const perm = list(op, "permutation");
    return filledBy(type, (at) =>
      element(
        x!,
        perm.map((_, a) => at[perm.indexOf(a)]!),
      ),
    );
  },
  broadcast_in_dim: (op, [x], type) => {
    const dims = list(op, "broadcast_dimensions");
    return filledBy(type, (at) =>
      element(
        x!,
        dims.map((d, a) => (x!.shape[a] === 1 ? 0 : at[d]!)),
      ),
    );
  },
  reverse: (op, [x], type) => {
    const axes = list(op, "dimensions");
    const turn = (c: number, a: number) => (axes.includes(a) ? x!.shape[a]! - 1 - c : c);
    return filledBy(type, (at) => element(x!, at.map(turn)));
  },
  slice: (op, [x], type) => {
    const [start, step] = [list(op, "start_indices"), list(op, "strides")];
    return filledBy(type, (at) =>
      element(
        x!,
        at.map((c, a) => start[a]! + c * step[a]!),
      ),
    );
  },
  dynamic_slice: (_op, [x, ...at], type) => {
    const start = startOf(x!, type.shape, at);
    return filledBy(type, (c) =>
      element(
        x!,
        c.map((v, a) => v + start[a]!),
      ),
    );
  },
  dynamic_update_slice: (_op, [x, part, ...at], type) => {
    const start = startOf(x!, part!.shape, at);
    return filledBy(type, (c) => {
      const from = c.map((v, a) => v - start[a]!);
      return inside(part!.shape, from) ? element(part!, from) : element(x!, c);
    });
  },
  pad,
  concatenate,
  dot_general: dot,
  convolution,
  gather,
  scatter,
};
