/**
 * Samples of reductions, scans, sorting, and of what picks by place.
 */

import type { ElementType } from "@kiln-ml/onnx";
import { type Draw, every, floats, int64s, isFloatType, numeric, tensorOf } from "./draw.ts";
import type { Sampler } from "./elementwise.ts";
import type { Sample } from "./sample.ts";

const size = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);

const reduce =
  (types: readonly ElementType[], inputSince: number, positive = false): Sampler =>
  (d) => {
    const opset = d.opset(7);
    // Of nothing the runtime gives other shapes than the definition.
    const x = d.tensor(d.pick(types), d.shape({ empty: 0 }), positive ? "positive" : "finite");
    const rank = x.dims.length;
    const axes = d.chance(0.75)
      ? d.axes(rank, opset < inputSince ? 1 : 0).map((a) => (opset < 11 && a < 0 ? a + rank : a))
      : undefined;
    const keepdims = d.maybe(d.int(0, 1));
    if (opset < inputSince)
      return {
        opset,
        attributes: { axes: axes?.length ? axes : undefined, keepdims },
        inputs: [x],
        sums: true,
      };
    return {
      opset,
      attributes: { keepdims, noop_with_empty_axes: d.maybe(d.int(0, 1)) },
      inputs: axes ? [x, int64s(axes)] : [x],
      sums: true,
    };
  };

const arg: Sampler = (d) => {
  const opset = d.opset(7);
  const x = d.tensor(
    d.pick(["float32", "int32", "int64", "float64", "int8", "uint8"]),
    d.shape({ rank: [1, 4], empty: 0 }),
    [-2, 2],
  );
  const axis = d.axis(x.dims.length);
  return {
    opset,
    attributes: {
      axis: d.maybe(opset < 11 ? (axis + x.dims.length) % x.dims.length : axis, 0.8),
      keepdims: d.maybe(d.int(0, 1)),
      select_last_index: opset >= 12 ? d.maybe(d.int(0, 1)) : undefined,
    },
    inputs: [x.type === "uint8" ? d.tensor("uint8", x.dims) : x],
  };
};

const cumulative =
  (since: number): Sampler =>
  (d) => {
    const x = d.tensor(d.pick(["float32", "float64", "int32", "int64"]), d.shape({ rank: [1, 4] }));
    const axis = d.axis(x.dims.length);
    const type = d.pick(["int32", "int64"] as const);
    return {
      opset: d.opset(since),
      attributes: { exclusive: d.maybe(d.int(0, 1)), reverse: d.maybe(d.int(0, 1)) },
      inputs: [x, tensorOf(type, d.pick([[], [1]]), [axis])],
      sums: true,
    };
  };

const softmax: Sampler = (d) => {
  const opset = d.opset(7);
  const x = d.tensor(d.pick(floats), d.shape({ rank: [1, 5], empty: 0.02 }), "large");
  const rank = x.dims.length;
  const axis = d.axis(rank);
  return {
    opset,
    attributes: { axis: d.maybe(opset < 11 ? (axis + rank) % rank : axis) },
    inputs: [x],
    atol: 1e-5,
  };
};

function topK(d: Draw): Sample {
  const opset = d.opset(7);
  const type = d.pick(
    opset < 11
      ? (["float32"] as const)
      : (["float32", "float64", "int64", "int32", "float16"] as const),
  );
  const x = d.tensor(type, d.shape({ rank: [1, 4], empty: 0 }), "large");
  const rank = x.dims.length;
  const axis = d.axis(rank);
  const k = d.int(opset < 11 ? 1 : 0, x.dims[(axis + rank) % rank]!);
  const attributes = { axis: opset < 11 ? (axis + rank) % rank : axis };
  if (opset < 10) return { opset, attributes: { ...attributes, k }, inputs: [x], outputs: 2 };
  return {
    opset,
    attributes: {
      ...attributes,
      ...(opset >= 11 ? { largest: d.maybe(d.int(0, 1)), sorted: d.maybe(1) } : {}),
    },
    inputs: [x, int64s([k])],
    outputs: 2,
  };
}

/** Indices into an extent, some from the end. */
const indices = (
  d: Draw,
  dims: readonly number[],
  extent: number,
  negative = true,
  type: "int64" | "int32" = "int64",
) =>
  tensorOf(
    type,
    dims,
    d.list(size(dims), () => (extent ? d.int(negative ? -extent : 0, extent - 1) : 0)),
  );

const indexType = (d: Draw) => d.pick(["int64", "int32"] as const);

function gather(d: Draw): Sample {
  const x = d.tensor(d.pick(every), d.shape({ rank: [1, 4], empty: 0 }), "any");
  const axis = d.axis(x.dims.length);
  const extent = x.dims[(axis + x.dims.length) % x.dims.length]!;
  const opset = d.opset(11);
  return {
    opset,
    attributes: { axis: d.maybe(axis, 1) },
    inputs: [x, indices(d, d.shape({ rank: [0, 3] }), extent, true, indexType(d))],
  };
}

function gatherElements(d: Draw): Sample {
  const x = d.tensor(d.pick(every), d.shape({ rank: [1, 4], empty: 0 }), "any");
  const axis = d.axis(x.dims.length);
  const at = (axis + x.dims.length) % x.dims.length;
  const dims = x.dims.map((e, i) => (i === at ? d.int(1, 4) : d.int(1, e)));
  return {
    opset: d.opset(11),
    attributes: { axis },
    inputs: [x, indices(d, dims, x.dims[at]!, true, indexType(d))],
  };
}

/** Tuples [..., k] of indices into axes from `from` on. */
function tuples(d: Draw, lead: readonly number[], extents: readonly number[], distinct = false) {
  const count = size(lead);
  const seen = new Set<string>();
  const all: number[] = [];
  for (let i = 0; i < count; i++) {
    let t = extents.map((e) => d.int(0, e - 1));
    for (let tries = 0; distinct && seen.has(`${t}`) && tries < 50; tries++)
      t = extents.map((e) => d.int(0, e - 1));
    seen.add(`${t}`);
    all.push(...t.map((v, k) => (d.chance(0.3) ? v - extents[k]! : v)));
  }
  return { def: tensorOf("int64", [...lead, extents.length], all), distinct: seen.size === count };
}

function gatherND(d: Draw): Sample {
  const x = d.tensor(d.pick(every), d.shape({ rank: [1, 4], empty: 0 }), "any");
  const opset = d.opset(11);
  const batch = opset >= 12 ? d.int(0, Math.min(2, x.dims.length - 1)) : 0;
  const k = d.int(1, x.dims.length - batch);
  const lead = [...x.dims.slice(0, batch), ...d.shape({ rank: [0, 2], empty: 0.03 })];
  const { def } = tuples(d, lead, x.dims.slice(batch, batch + k));
  return {
    opset,
    attributes: { batch_dims: opset >= 12 ? d.maybe(batch, batch ? 1 : 0.5) : undefined },
    inputs: [x, def],
  };
}

const reductions = (opset: number, d: Draw) =>
  d.pick(
    opset >= 18
      ? ["none", "add", "mul", "max", "min"]
      : opset >= 16
        ? ["none", "add", "mul"]
        : ["none"],
  );

function scatterElements(d: Draw): Sample {
  const opset = d.opset(11);
  const reduction = reductions(opset, d);
  const x = d.tensor(d.pick(numeric), d.shape({ rank: [1, 3], empty: 0 }));
  const rank = x.dims.length;
  const axis = d.axis(rank);
  const at = (axis + rank) % rank;
  const extent = x.dims[at]!;
  const along = d.int(1, extent);
  const dims = x.dims.map((e, i) =>
    i === at ? (reduction === "none" ? along : d.int(1, 5)) : d.int(1, e),
  );
  const index = indices(d, dims, extent);
  if (reduction === "none") {
    // Each place once: a permutation along the axis.
    const perm = d.shuffled(d.list(extent, (i) => i));
    const inner = size(dims.slice(at + 1));
    const data = index.data as BigInt64Array;
    for (let i = 0; i < data.length; i++) {
      const k = perm[Math.floor(i / inner) % dims[at]!]!;
      data[i] = BigInt(d.chance(0.3) ? k - extent : k);
    }
  }
  return {
    opset,
    attributes: {
      axis,
      reduction: opset >= 16 ? d.maybe(reduction, reduction === "none" ? 0.5 : 1) : undefined,
    },
    inputs: [x, index, d.tensor(x.type, dims)],
    sums: true,
  };
}

function scatterND(d: Draw): Sample {
  const opset = d.opset(11);
  const x = d.tensor(d.pick(numeric), d.shape({ rank: [1, 4], empty: 0 }));
  const k = d.int(1, x.dims.length);
  const extents = x.dims.slice(0, k);
  const lead = d.shape({ rank: [0, 2], most: 2, empty: 0 });
  const { def, distinct } = tuples(d, lead, extents, true);
  const reduction = distinct ? reductions(opset, d) : opset >= 16 ? "add" : "none";
  return {
    opset,
    attributes: { reduction: opset >= 16 ? reduction : undefined },
    inputs: [x, def, d.tensor(x.type, [...lead, ...x.dims.slice(k)])],
    sums: true,
  };
}

function compress(d: Draw): Sample {
  const x = d.tensor(d.pick(every), d.shape({ rank: [1, 4], empty: 0 }));
  const axis = d.chance(0.6) ? d.axis(x.dims.length) : undefined;
  const extent =
    axis === undefined ? size(x.dims) : x.dims[(axis + x.dims.length) % x.dims.length]!;
  return {
    opset: d.opset(11),
    attributes: { axis },
    inputs: [x, d.tensor("bool", [d.int(1, extent)])],
  };
}

function unique(d: Draw): Sample {
  const x = d.tensor(
    d.pick(["float32", "int64", "float64", "int8"]),
    d.shape({ rank: [1, 3], empty: 0 }),
    [-2, 2],
  );
  const rounded = isFloatType(x.type)
    ? tensorOf(x.type, x.dims, Array.from(x.data as Float32Array, Math.round))
    : x;
  return {
    opset: d.opset(11),
    attributes: {
      axis: d.chance(0.5) ? d.axis(x.dims.length) : undefined,
      sorted: d.maybe(d.int(0, 1)),
    },
    inputs: [rounded],
    outputs: d.int(1, 4),
  };
}

const hardmax: Sampler = (d) => ({ ...softmax(d), atol: 0 });

function reverseSequence(d: Draw): Sample {
  const [t, b] = [d.int(1, 4), d.int(1, 3)];
  const batch = d.int(0, 1);
  const dims = [...(batch ? [t, b] : [b, t]), ...d.shape({ rank: [0, 2], empty: 0 })];
  return {
    opset: d.opset(10),
    attributes: {
      batch_axis: batch === 1 ? d.maybe(1) : 0,
      time_axis: batch === 1 ? d.maybe(0) : 1,
    },
    inputs: [
      d.tensor(d.pick(every), dims),
      tensorOf(
        "int64",
        [b],
        d.list(b, () => d.int(1, t)),
      ),
    ],
  };
}

export const reduction: Readonly<Record<string, Sampler>> = {
  ReduceSum: reduce(["float32", "float64", "int32", "int64"], 13),
  ReduceMean: reduce(["float32", "float64", "int32"], 18),
  ReduceProd: reduce(["float32", "float64", "int32", "int64"], 18),
  ReduceMax: reduce(["float32", "float64", "int32", "int64", "int8", "uint8"], 18),
  ReduceMin: reduce(["float32", "float64", "int32", "int64", "int8", "uint8"], 18),
  ReduceL1: reduce(["float32", "float64", "int32"], 18),
  ReduceL2: reduce(["float32", "float64", "int32"], 18),
  ReduceLogSum: reduce(["float32", "float64"], 18, true),
  ReduceLogSumExp: reduce(["float32", "float64"], 18),
  ReduceSumSquare: reduce(["float32", "float64", "int32"], 18),
  ArgMax: arg,
  ArgMin: arg,
  CumSum: cumulative(11),
  CumProd: cumulative(26),
  Softmax: softmax,
  LogSoftmax: softmax,
  Hardmax: hardmax,
  TopK: topK,
  Gather: gather,
  GatherElements: gatherElements,
  GatherND: gatherND,
  ScatterElements: scatterElements,
  ScatterND: scatterND,
  Compress: compress,
  NonZero: (d) => ({
    opset: d.opset(9),
    // Of a scalar the runtime gives [1, N], the definition [0, N].
    inputs: [
      d.tensor(d.pick(["float32", "bool", "int32", "int64", "uint8"]), d.shape({ rank: [1, 5] })),
    ],
  }),
  Unique: unique,
  ReverseSequence: reverseSequence,
};
