/**
 * Samples of ops about shapes, and of those that cut, join and surround.
 */
import { type Draw, every, int64, int64s, numeric, tensorOf } from "./draw.ts";
import { type Sampler, typeNumber } from "./elementwise.ts";
import type { Sample } from "./sample.ts";

const size = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);

const any = (d: Draw, rank: readonly [number, number] = [0, 5]) =>
  d.tensor(d.pick(every), d.shape({ rank }), "any");

function reshape(d: Draw): Sample {
  const x = any(d);
  const opset = d.opset(7);
  const zeros = opset >= 14 && d.chance(0.2) ? 1 : undefined;
  let target: number[];
  if (d.chance(0.5)) {
    // Neighbours joined, some copied, one left open.
    target = x.dims.flatMap((e, i) =>
      d.chance(0.3) && !zeros ? [0] : i && d.chance(0.2) ? [1, e] : [e],
    );
  } else {
    const n = size(x.dims);
    const divisors = d.list(n || 1, (i) => i + 1).filter((k) => n % k === 0);
    const first = d.pick(divisors);
    target = n ? [first, n / first] : d.shuffled([0, 2, 3]);
  }
  if (d.chance(0.4) && target.length && !(zeros && target.includes(0))) {
    const at = d.int(0, target.length - 1);
    if (size(x.dims) || target.every((e, i) => i === at || e !== 0)) target[at] = -1;
  }
  return { opset, attributes: { allowzero: zeros }, inputs: [x, int64s(target)] };
}

function transpose(d: Draw): Sample {
  const x = any(d);
  const perm = d.shuffled(d.list(x.dims.length, (i) => i));
  return { opset: d.opset(), attributes: { perm: d.maybe(perm, 0.8) }, inputs: [x] };
}

function squeeze(d: Draw): Sample {
  const rank = d.int(0, 5);
  const dims = d.list(rank, () => (d.chance(0.5) ? 1 : d.int(1, 3)));
  const ones = dims.flatMap((e, i) => (e === 1 ? [i] : []));
  const opset = d.opset(7);
  const axes = d.chance(0.7)
    ? d
        .shuffled(ones)
        .slice(0, d.int(1, Math.max(1, ones.length)))
        .map((a) => (opset >= 11 && d.chance(0.4) ? a - rank : a))
    : undefined;
  const given = axes?.length ? axes : undefined;
  const x = d.tensor(d.pick(every), dims);
  return opset < 13
    ? { opset, attributes: { axes: given }, inputs: [x] }
    : { opset, inputs: [x, given && int64s(given)] };
}

function unsqueeze(d: Draw): Sample {
  const x = any(d, [0, 3]);
  const opset = d.opset(7);
  const added = d.int(1, 3);
  const rank = x.dims.length + added;
  const axes = d
    .shuffled(d.list(rank, (i) => i))
    .slice(0, added)
    .map((a) => (opset >= 11 && d.chance(0.4) ? a - rank : a));
  return opset < 13
    ? { opset, attributes: { axes }, inputs: [x] }
    : { opset, inputs: [x, int64s(axes)] };
}

function flatten(d: Draw): Sample {
  const x = any(d);
  const rank = x.dims.length;
  const opset = d.opset(9);
  const low = opset >= 11 ? -rank : 0;
  return {
    opset,
    attributes: { axis: rank ? d.maybe(d.int(low, rank)) : d.pick([0]) },
    inputs: [x],
  };
}

function expand(d: Draw): Sample {
  const shape = d.shape();
  const x = d.tensor(d.pick(every), d.below(shape), "any");
  return { opset: d.opset(8), inputs: [x, int64s(d.chance(0.3) ? d.below(shape) : shape)] };
}

function tile(d: Draw): Sample {
  const x = any(d, [0, 4]);
  return { opset: d.opset(7), inputs: [x, int64s(x.dims.map(() => d.int(0, 3)))] };
}

function concat(d: Draw): Sample {
  const type = d.pick(every);
  const dims = d.shape({ rank: [1, 5] });
  const axis = d.axis(dims.length);
  const at = axis < 0 ? axis + dims.length : axis;
  const opset = d.opset(7);
  return {
    opset,
    attributes: { axis: opset < 11 ? at : axis },
    inputs: d.list(d.int(1, 4), () =>
      d.tensor(
        type,
        dims.map((e, i) => (i === at ? d.int(0, 3) : e)),
        "any",
      ),
    ),
  };
}

function split(d: Draw): Sample {
  const x = any(d, [1, 5]);
  const rank = x.dims.length;
  const axis = d.axis(rank);
  const extent = x.dims[axis < 0 ? axis + rank : axis]!;
  const opset = d.opset(7);
  const outputs = d.int(1, 3);
  const parts: number[] = [];
  let left = extent;
  for (let i = 0; i < outputs - 1; i++) {
    parts.push(d.int(0, left));
    left -= parts[i]!;
  }
  parts.push(left);
  const explicit = d.chance(0.5);
  const attributes = { axis: opset < 11 ? (axis + rank) % rank : axis };
  if (opset < 13)
    return {
      opset,
      attributes: { ...attributes, split: explicit ? parts : undefined },
      inputs: [x],
      outputs,
    };
  if (explicit) return { opset, attributes, inputs: [x, int64s(parts)], outputs };
  return {
    opset,
    attributes: { ...attributes, num_outputs: opset >= 18 ? outputs : undefined },
    inputs: [x],
    outputs,
  };
}

function slice(d: Draw): Sample {
  const x = any(d, [1, 5]);
  const rank = x.dims.length;
  const opset = d.opset(7);
  const axes = d.shuffled(d.list(rank, (i) => i)).slice(0, d.int(1, rank));
  const lists = axes.map((a) => {
    const e = x.dims[a]!;
    const far = () => d.pick([2 ** 31 - 1, -(2 ** 31), 1000, -1000]);
    const at = () => (d.chance(0.15) ? far() : d.int(-e - 1, e + 1));
    const step = opset >= 10 ? d.pick([1, 1, 2, -1, -2, 3]) : 1;
    return [at(), at(), step] as const;
  });
  const [starts, ends, steps] = [0, 1, 2].map((k) => lists.map((l) => l[k]!)) as [
    number[],
    number[],
    number[],
  ];
  const withAxes = d.chance(0.7);
  const inOrder = withAxes ? axes : axes.map((_, i) => i);
  const shown = inOrder.map((a) => (opset >= 10 && d.chance(0.3) ? a - rank : a));
  const given = withAxes ? shown : undefined;
  if (opset < 10) return { opset, attributes: { starts, ends, axes: given }, inputs: [x] };
  const type = d.pick(["int64", "int32"] as const);
  const list = (v: readonly number[]) => tensorOf(type, [v.length], v);
  return {
    opset,
    inputs: [x, list(starts), list(ends), given && list(given), d.maybe(list(steps), 0.8)],
  };
}

function pad(d: Draw): Sample {
  const opset = d.opset(7);
  const mode = d.pick(
    opset >= 19 ? ["constant", "reflect", "edge", "wrap"] : ["constant", "reflect", "edge"],
  );
  const type = d.pick(opset < 11 ? (["float32", "float64"] as const) : numeric);
  const dims = d.shape({ rank: [1, 4], empty: mode === "constant" ? 0.05 : 0 });
  const axes = opset >= 18 && d.chance(0.5) ? d.axes(dims.length, 1) : dims.map((_, i) => i);
  const amount = (a: number) => {
    const e = dims[(a + dims.length) % dims.length]!;
    const most = mode === "reflect" ? e - 1 : mode === "wrap" ? e : 3;
    return d.chance(0.1) && e > 2 ? -1 : d.int(0, Math.max(0, most));
  };
  const pads = [...axes.map(amount), ...axes.map(amount)];
  const x = d.tensor(type, dims);
  if (opset < 11)
    return {
      opset,
      attributes: { mode: d.maybe(mode, mode === "constant" ? 0.5 : 1), pads },
      inputs: [x],
    };
  const all = axes.length === dims.length && axes.every((a, i) => a === i);
  const constant = d.maybe(tensorOf(type, [], [d.number(type, "finite")]));
  return {
    opset,
    attributes: { mode: d.maybe(mode, mode === "constant" ? 0.5 : 1) },
    inputs:
      all && (opset < 18 || d.chance(0.5))
        ? [x, int64s(pads), constant]
        : [x, int64s(pads), constant, int64s(axes)],
  };
}

function centerCropPad(d: Draw): Sample {
  const x = d.tensor(d.pick(numeric), d.shape({ rank: [1, 4] }));
  const axes = d.chance(0.5) ? d.axes(x.dims.length, 1) : undefined;
  const count = axes?.length ?? x.dims.length;
  return {
    opset: d.opset(18),
    attributes: { axes },
    inputs: [x, int64s(d.list(count, () => d.int(1, 6)))],
  };
}

function depthToSpace(d: Draw): Sample {
  const b = d.int(1, 3);
  const dims = [d.int(0, 2), d.int(1, 2) * b * b, d.int(1, 3), d.int(1, 3)];
  const opset = d.opset(7);
  const x = d.tensor(opset < 13 ? d.pick(["float32", "float64"]) : d.pick(numeric), dims);
  return {
    opset,
    attributes: { blocksize: b, mode: opset < 11 ? undefined : d.maybe(d.pick(["DCR", "CRD"])) },
    inputs: [x],
  };
}

function spaceToDepth(d: Draw): Sample {
  const b = d.int(1, 3);
  const dims = [d.int(0, 2), d.int(1, 3), d.int(1, 3) * b, d.int(1, 3) * b];
  return {
    opset: d.opset(7),
    attributes: { blocksize: b },
    inputs: [d.tensor(d.pick(["float32", "float64"]), dims)],
  };
}

function shapeOf(d: Draw): Sample {
  const opset = d.opset(7);
  const at = () => (opset >= 15 ? d.maybe(d.int(-6, 6)) : undefined);
  return { opset, attributes: { start: at(), end: at() }, inputs: [any(d)] };
}

function constantOfShape(d: Draw): Sample {
  const type = d.pick(every);
  const value = { kind: "tensor", value: tensorOf(type, [1], [d.number(type, "finite")]) } as const;
  return { opset: d.opset(9), attributes: { value: d.maybe(value) }, inputs: [int64s(d.shape())] };
}

function range(d: Draw): Sample {
  const type = d.pick(["float32", "float64", "int32", "int64", "int16"] as const);
  const float = type.startsWith("f");
  const num = () => (float ? Math.round(d.real(-4, 4) * 4) / 4 : d.int(-5, 5));
  const delta = num() || 1;
  return { opset: d.opset(11), inputs: [num(), num(), delta].map((v) => tensorOf(type, [], [v])) };
}

function trilu(d: Draw): Sample {
  const x = d.tensor(d.pick(every), d.shape({ rank: [2, 4], most: 5 }));
  return {
    opset: d.opset(14),
    attributes: { upper: d.maybe(d.int(0, 1)) },
    inputs: [x, d.maybe(int64(d.int(-6, 6)))],
  };
}

function eyeLike(d: Draw): Sample {
  const x = d.tensor(d.pick(numeric), d.shape({ rank: [2, 2], most: 5 }));
  const dtype = d.pick([
    "float32",
    "float64",
    "int32",
    "int64",
    "bool",
    "uint8",
    "float16",
  ] as const);
  return {
    opset: d.opset(9),
    attributes: { k: d.maybe(d.int(-5, 5)), dtype: d.maybe(typeNumber(dtype)) },
    inputs: [x],
  };
}

function oneHot(d: Draw): Sample {
  const index = d.pick(["int64", "int32", "float32", "uint8"] as const);
  const value = d.pick(["float32", "int64", "int32", "float64", "uint8", "bool"] as const);
  const dims = d.shape({ rank: [0, 3] });
  const rank = dims.length + 1;
  const depth = d.int(1, 5);
  const opset = d.opset(9);
  const low = index.startsWith("u") ? 0 : -depth - 1;
  const x = tensorOf(
    index,
    dims,
    d.list(size(dims), () => d.int(low, depth + 1)),
  );
  return {
    opset,
    attributes: {
      axis: d.maybe(opset < 11 ? d.pick([-1, d.int(0, rank - 1)]) : d.int(-rank, rank - 1)),
    },
    inputs: [
      x,
      tensorOf(d.pick(["int64", "float32", "int32"]), d.pick([[], [1]]), [depth]),
      d.tensor(value, [2]),
    ],
  };
}

export const movement: Readonly<Record<string, Sampler>> = {
  Reshape: reshape,
  Transpose: transpose,
  Squeeze: squeeze,
  Unsqueeze: unsqueeze,
  Flatten: flatten,
  Expand: expand,
  Tile: tile,
  Concat: concat,
  Split: split,
  Slice: slice,
  Pad: pad,
  CenterCropPad: centerCropPad,
  DepthToSpace: depthToSpace,
  SpaceToDepth: spaceToDepth,
  Shape: shapeOf,
  Size: (d) => ({ opset: d.opset(), inputs: [any(d)] }),
  Identity: (d) => ({ opset: d.opset(14), inputs: [any(d)] }),
  ConstantOfShape: constantOfShape,
  Range: range,
  Trilu: trilu,
  EyeLike: eyeLike,
  OneHot: oneHot,
};
