/**
 * Samples of the ops that networks are made of: products, convolutions, pools, normalisations, resampling.
 */
import { type Draw, floats, int64s, isFloatType, tensorOf, type Values } from "./draw.ts";
import type { Sampler } from "./elementwise.ts";
import { type Attribute, float, floatList, type Sample } from "./sample.ts";

const real = (d: Draw) => d.pick(["float32", "float32", "float64", "float16"] as const);
const two = (d: Draw) => d.pick(["float32", "float64"] as const);

function matmul(d: Draw): Sample {
  const type = d.pick(["float32", "float64", "int32", "int64", "uint32", "uint64"] as const);
  const [m, k, n] = [d.int(1, 4), d.int(1, 4), d.int(1, 4)];
  const batch = d.shape({ rank: [0, 3], most: 3 });
  const a = d.chance(0.15) ? [k] : [...d.below(batch), m, k];
  const b = d.chance(0.15) ? [k] : [...d.below(batch), k, n];
  return { opset: d.opset(9), inputs: [d.tensor(type, a), d.tensor(type, b)], sums: true };
}

function gemm(d: Draw): Sample {
  const type = d.pick(["float32", "float64", "float16"] as const);
  const [m, k, n] = [d.int(1, 4), d.int(1, 4), d.int(1, 4)];
  const [ta, tb] = [d.maybe(d.int(0, 1)), d.maybe(d.int(0, 1))];
  const opset = d.opset(7);
  const c = d.tensor(type, d.pick([[m, n], [n], [1, n], [m, 1], [], [1]]));
  const scale = () => d.maybe(float(d.pick([0, 0.5, 2, -1])), 0.4);
  return {
    opset,
    attributes: { transA: ta, transB: tb, alpha: scale(), beta: scale() },
    inputs: [
      d.tensor(type, ta ? [k, m] : [m, k]),
      d.tensor(type, tb ? [n, k] : [k, n]),
      opset < 11 || d.chance(0.7) ? c : undefined,
    ],
    sums: true,
  };
}

/** Attributes of windows over `rank` axes. */
function frame(d: Draw, extents: readonly number[], size: readonly number[], dilates = true) {
  const rank = size.length;
  const auto = d.pick([
    "NOTSET",
    "NOTSET",
    "NOTSET",
    "VALID",
    "SAME_UPPER",
    "SAME_LOWER",
    undefined,
  ]);
  const explicit = auto === undefined || auto === "NOTSET";
  // The runtime forgets dilations there.
  const same = auto?.startsWith("SAME") ?? false;
  const dilations = dilates && !same && d.chance(0.3) ? d.list(rank, () => d.int(1, 2)) : undefined;
  const pads =
    explicit && d.chance(0.5)
      ? d.list(2 * rank, (i) => d.int(0, Math.max(0, size[i % rank]! - 1)))
      : undefined;
  const fits = extents.every(
    (e, i) =>
      e + (pads ? pads[i]! + pads[i + rank]! : 0) >= (size[i]! - 1) * (dilations?.[i] ?? 1) + 1,
  );
  return {
    fits: fits || auto?.startsWith("SAME"),
    attributes: {
      auto_pad: auto,
      // Where steps pass over elements at the ends, the runtime crops before.
      strides: d.maybe(size.map((k) => d.int(1, same ? Math.min(3, k + 1) : 3))),
      dilations,
      pads,
    },
  };
}

function conv(d: Draw): Sample {
  const type = two(d);
  const rank = d.int(1, 3);
  const group = d.pick([1, 1, 2, 3]);
  const [c, o] = [d.int(1, 2), d.int(1, 2)];
  const size = d.list(rank, () => d.int(1, 3));
  const extents = d.list(rank, () => d.int(3, 6));
  const { attributes } = frame(d, extents, size);
  return {
    opset: d.opset(7),
    attributes: {
      ...attributes,
      group: d.maybe(group, group > 1 ? 1 : 0.3),
      kernel_shape: d.maybe(size),
    },
    inputs: [
      d.tensor(type, [d.int(0, 2), group * c, ...extents]),
      d.tensor(type, [group * o, c, ...size]),
      d.maybe(d.tensor(type, [group * o])),
    ],
    sums: true,
  };
}

function convTranspose(d: Draw): Sample {
  const type = d.pick(["float32"] as const);
  const rank = d.int(1, 3);
  const group = d.pick([1, 1, 2]);
  const [c, o] = [d.int(1, 2), d.int(1, 2)];
  const size = d.list(rank, () => d.int(1, 3));
  const extents = d.list(rank, () => d.int(1, 4));
  const strides = d.list(rank, () => d.int(1, 3));
  const dilations = d.chance(0.3) ? d.list(rank, () => d.int(1, 2)) : undefined;
  const auto = d.pick(["NOTSET", "NOTSET", undefined, "VALID", "SAME_UPPER", "SAME_LOWER"]);
  const given = d.chance(0.25);
  const added = d.chance(0.3) ? strides.map((s) => d.int(0, s - 1)) : undefined;
  const full = extents.map(
    (e, i) =>
      (e - 1) * strides[i]! + (size[i]! - 1) * (dilations?.[i] ?? 1) + 1 + (added?.[i] ?? 0),
  );
  const shape = full.map((e) => Math.max(1, e - d.int(0, 2)));
  const explicit = !given && (auto === undefined || auto === "NOTSET");
  return {
    opset: d.opset(7),
    attributes: {
      auto_pad: auto,
      strides,
      dilations,
      group: d.maybe(group, group > 1 ? 1 : 0.3),
      kernel_shape: d.maybe(size),
      output_padding: added,
      output_shape: given ? shape : undefined,
      pads:
        explicit && d.chance(0.5)
          ? d.list(2 * rank, (i) => d.int(0, Math.min(1, size[i % rank]! - 1)))
          : undefined,
    },
    inputs: [
      d.tensor(type, [d.int(1, 2), group * c, ...extents]),
      d.tensor(type, [group * c, o, ...size]),
      d.maybe(d.tensor(type, [group * o])),
    ],
    sums: true,
  };
}

const pool =
  (kind: "max" | "average" | "lp"): Sampler =>
  (d) => {
    const opset = d.opset(kind === "lp" ? 11 : 7);
    const rank = d.int(1, 3);
    const size = d.list(rank, () => d.int(1, 3));
    const extents = d.list(rank, () => d.int(5, 7));
    const { attributes } = frame(
      d,
      extents,
      size,
      kind === "max" ? opset >= 10 : kind === "average" ? opset >= 19 : opset >= 18,
    );
    const type =
      kind === "max" && opset >= 12
        ? d.pick(["float32", "float64", "int8", "uint8"] as const)
        : "float32";
    const ceil = (kind === "lp" ? opset >= 18 : opset >= 10) ? d.maybe(d.int(0, 1)) : undefined;
    const own: Record<string, Attribute> =
      kind === "max"
        ? { storage_order: opset >= 8 ? d.maybe(d.int(0, 1), 0.3) : undefined }
        : kind === "average"
          ? { count_include_pad: d.maybe(d.int(0, 1)) }
          : { p: d.maybe(d.int(1, 3)) };
    return {
      opset,
      attributes: { ...attributes, ...own, kernel_shape: size, ceil_mode: ceil },
      inputs: [
        d.tensor(
          type,
          [d.int(1, 2), d.int(1, 3), ...extents],
          isFloatType(type) ? "finite" : "any",
        ),
      ],
      outputs: kind === "max" && opset >= 8 ? d.int(1, 2) : 1,
      sums: true,
    };
  };

const globalPool =
  (p = false): Sampler =>
  (d) => ({
    opset: d.opset(7),
    attributes: { p: p ? d.maybe(d.int(1, 3)) : undefined },
    inputs: [
      d.tensor("float32", [d.int(1, 2), d.int(1, 3), ...d.shape({ rank: [1, 3], empty: 0 })]),
    ],
    sums: true,
  });

const image = (d: Draw, low = 0): number[] => [
  d.int(1, 3),
  d.int(1, 4),
  ...d.shape({ rank: [low, 3], empty: 0 }),
];

function batchNorm(d: Draw): Sample {
  const opset = d.opset(9);
  const type = two(d);
  const dims = image(d);
  const training = opset >= 14 ? d.maybe(d.int(0, 1)) : undefined;
  const v = (values: Values) => d.tensor(type, [dims[1]!], values);
  return {
    opset,
    attributes: {
      epsilon: d.maybe(float(1e-3)),
      momentum: d.maybe(float(0.7)),
      training_mode: training,
    },
    inputs: [d.tensor(type, dims), v("finite"), v("finite"), v("finite"), v("positive")],
    outputs: training ? 3 : 1,
    sums: true,
  };
}

function instanceNorm(d: Draw): Sample {
  const dims = image(d, 1);
  const v = d.tensor("float32", [dims[1]!]);
  return {
    opset: d.opset(7),
    attributes: { epsilon: d.maybe(float(0.01)) },
    inputs: [d.tensor("float32", dims), v, d.tensor("float32", [dims[1]!])],
    sums: true,
    atol: 1e-4,
  };
}

function layerNorm(d: Draw): Sample {
  const type = real(d);
  const x = d.tensor(type, d.shape({ rank: [1, 4], empty: 0 }));
  const axis = d.axis(x.dims.length);
  const own = x.dims.slice(axis < 0 ? axis + x.dims.length : axis);
  const outputs = d.int(1, 3);
  return {
    opset: d.opset(17),
    attributes: { axis: d.maybe(axis, 1), epsilon: d.maybe(float(0.01)), stash_type: d.maybe(1) },
    inputs: [x, d.tensor(type, own), d.maybe(d.tensor(type, own))],
    outputs,
    sums: true,
    atol: 1e-4,
  };
}

function rmsNorm(d: Draw): Sample {
  const s = layerNorm(d);
  return { ...s, opset: d.opset(23), inputs: s.inputs.slice(0, 2), outputs: 1 };
}

function groupNorm(d: Draw): Sample {
  const groups = d.int(1, 3);
  const c = groups * d.int(1, 2);
  const opset = d.opset(18);
  const v = () => d.tensor("float32", [opset < 21 ? groups : c]);
  const dims = [d.int(1, 2), c, ...d.shape({ rank: [1, 3], empty: 0 })];
  return {
    opset,
    attributes: { num_groups: groups, epsilon: d.maybe(float(0.01)) },
    inputs: [d.tensor("float32", dims), v(), v()],
    sums: true,
    atol: 1e-4,
  };
}

function lrn(d: Draw): Sample {
  return {
    opset: d.opset(7),
    attributes: {
      size: d.pick([1, 3, 5]),
      alpha: d.maybe(float(0.1)),
      beta: d.maybe(float(0.6)),
      bias: d.maybe(float(2)),
    },
    inputs: [d.tensor("float32", [d.int(1, 2), d.int(1, 6), d.int(1, 3), d.int(1, 3)])],
    sums: true,
  };
}

function lpNorm(d: Draw): Sample {
  const x = d.tensor(two(d), d.shape({ rank: [1, 4], empty: 0 }));
  return {
    opset: d.opset(7),
    attributes: { axis: d.maybe(d.axis(x.dims.length)), p: d.maybe(d.int(1, 2)) },
    inputs: [x],
    sums: true,
  };
}

function meanVariance(d: Draw): Sample {
  const x = d.tensor("float32", [2, d.int(2, 3), d.int(2, 3), d.int(2, 3)]);
  const axes = d.axes(4, 1);
  return {
    opset: d.opset(9),
    attributes: { axes: d.maybe(axes) },
    inputs: [x],
    sums: true,
    atol: 1e-3,
  };
}

const places = [
  "half_pixel",
  "pytorch_half_pixel",
  "align_corners",
  "asymmetric",
  "half_pixel_symmetric",
  "tf_crop_and_resize",
];
const roundings = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];

function resize(d: Draw): Sample {
  const opset = d.opset(10);
  const rank = d.pick([2, 3, 4, 4]);
  const mode = d.pick(opset < 11 ? ["nearest", "linear"] : ["nearest", "linear", "cubic"]);
  const still = rank === 4 ? 2 : 0;
  const dims = d.list(rank, (i) => (i < still ? d.int(1, 2) : d.int(2, 6)));
  if (mode !== "nearest" && rank === 3) dims[0] = 1;
  const moving = dims.map((_, i) => i >= still && !(rank === 3 && mode !== "nearest" && i === 0));
  const to = dims.map((e, i) => (moving[i] ? d.int(1, 9) : e));
  const type =
    mode === "nearest" ? d.pick(["float32", "int32", "uint8", "float32"] as const) : "float32";
  const x = d.tensor(type, dims);
  const scales = dims.map((_, i) => (moving[i] ? d.pick([0.5, 1, 1.5, 2, 3, 0.75, 0.6]) : 1));
  if (opset < 11)
    return {
      opset,
      attributes: { mode: d.maybe(mode, mode === "linear" ? 1 : 0.5) },
      inputs: [x, tensorOf("float32", [rank], scales)],
      sums: true,
    };
  const place = d.pick(opset >= 19 ? places : places.filter((p) => p !== "half_pixel_symmetric"));
  const attributes: Record<string, Attribute> = {
    mode,
    coordinate_transformation_mode: d.maybe(place, place === "tf_crop_and_resize" ? 1 : 0.8),
    nearest_mode: mode === "nearest" ? d.maybe(d.pick(roundings)) : undefined,
    cubic_coeff_a: mode === "cubic" ? d.maybe(float(-0.5)) : undefined,
    exclude_outside: mode === "cubic" ? d.maybe(d.int(0, 1)) : undefined,
    extrapolation_value: place === "tf_crop_and_resize" ? d.maybe(float(7)) : undefined,
  };
  if (opset >= 18 && mode !== "nearest" && place !== "tf_crop_and_resize")
    attributes.antialias = d.maybe(d.int(0, 1), 0.4);
  // The definition counts in a scaled extent that is not whole, the runtime in whole ones.
  const bySize = place === "align_corners" || place === "tf_crop_and_resize" || d.chance(0.5);
  let axes = dims.map((_, i) => i);
  if (opset >= 18 && d.chance(0.4)) {
    axes = axes.filter((i) => moving[i]);
    attributes.axes = axes;
    if (bySize && d.chance(0.5))
      attributes.keep_aspect_ratio_policy = d.pick(["stretch", "not_larger", "not_smaller"]);
  }
  const roi =
    place === "tf_crop_and_resize"
      ? tensorOf(
          "float32",
          [2 * axes.length],
          [
            ...axes.map((i) => (moving[i] ? d.pick([0, 0.1, 0.25, -0.2]) : 0)),
            ...axes.map((i) => (moving[i] ? d.pick([1, 0.9, 0.75, 1.2]) : 1)),
          ],
        )
      : undefined;
  return {
    opset,
    attributes,
    inputs: bySize
      ? [x, roi, undefined, int64s(axes.map((i) => to[i]!))]
      : [
          x,
          roi,
          tensorOf(
            "float32",
            [axes.length],
            axes.map((i) => scales[i]!),
          ),
        ],
    sums: true,
    atol: 1e-4,
  };
}

function upsample(d: Draw): Sample {
  const mode = d.pick(["nearest", "linear"]);
  const dims = [1, d.int(1, 2), d.int(1, 4), d.int(1, 4)];
  const scales = [1, 1, d.pick([1, 1.5, 2, 3]), d.pick([1, 1.5, 2, 3])];
  const opset = d.pick([7, 9]);
  const x = d.tensor("float32", dims);
  return opset < 9
    ? { opset, attributes: { mode, scales: floatList(scales) }, inputs: [x], sums: true }
    : { opset, attributes: { mode }, inputs: [x, tensorOf("float32", [4], scales)], sums: true };
}

function gridSample(d: Draw): Sample {
  const opset = d.opset(16);
  const rank = opset >= 20 ? d.int(2, 3) : 2;
  const mode = d.pick(
    opset >= 20
      ? rank === 2
        ? ["linear", "nearest", "cubic"]
        : ["linear", "nearest"]
      : ["bilinear", "nearest", "bicubic"],
  );
  const n = d.int(1, 2);
  const out = d.list(rank, () => d.int(1, 3));
  return {
    opset,
    attributes: {
      mode: d.maybe(mode),
      padding_mode: d.maybe(d.pick(["zeros", "border", "reflection"])),
      align_corners: d.maybe(d.int(0, 1)),
    },
    inputs: [
      d.tensor("float32", [n, d.int(1, 2), ...d.list(rank, () => d.int(1, 5))]),
      d.tensor("float32", [n, ...out, rank], [-1.6, 1.6]),
    ],
    sums: true,
    atol: 1e-4,
  };
}

function affineGrid(d: Draw): Sample {
  const rank = d.int(2, 3);
  const n = d.int(1, 2);
  // The position of a single element is not defined where corners are aligned.
  const aligned = d.maybe(d.int(0, 1));
  const least = aligned ? 2 : 1;
  return {
    opset: d.opset(20),
    attributes: { align_corners: aligned },
    inputs: [
      d.tensor("float32", [n, rank, rank + 1]),
      int64s([n, d.int(1, 3), ...d.list(rank, () => d.int(least, 4))]),
    ],
    sums: true,
  };
}

function roiAlign(d: Draw): Sample {
  const opset = d.opset(10);
  const count = d.int(1, 3);
  const n = d.int(1, 2);
  const boxes = d
    .list(count, () => {
      const [x, y] = [d.real(-1, 4), d.real(-1, 4)];
      return [x, y, x + d.real(0.2, 5), y + d.real(0.2, 5)];
    })
    .flat();
  return {
    opset,
    attributes: {
      mode: d.maybe(d.pick(["avg", "max"])),
      output_height: d.maybe(d.int(1, 3)),
      output_width: d.maybe(d.int(1, 3)),
      sampling_ratio: d.maybe(d.int(0, 2)),
      spatial_scale: d.maybe(float(d.pick([0.5, 1, 2]))),
      coordinate_transformation_mode:
        opset >= 16 ? d.maybe(d.pick(["half_pixel", "output_half_pixel"])) : undefined,
    },
    inputs: [
      d.tensor("float32", [n, d.int(1, 2), d.int(2, 6), d.int(2, 6)]),
      tensorOf("float32", [count, 4], boxes),
      tensorOf(
        "int64",
        [count],
        d.list(count, () => d.int(0, n - 1)),
      ),
    ],
    sums: true,
  };
}

function maxRoiPool(d: Draw): Sample {
  const count = d.int(1, 3);
  const boxes = d
    .list(count, () => {
      const [x, y] = [d.int(0, 3), d.int(0, 3)];
      return [0, x, y, x + d.int(0, 3), y + d.int(0, 3)];
    })
    .flat();
  return {
    opset: d.opset(7),
    attributes: {
      pooled_shape: [d.int(1, 3), d.int(1, 3)],
      spatial_scale: d.maybe(float(d.pick([0.5, 1]))),
    },
    inputs: [d.tensor("float32", [1, d.int(1, 2), 6, 6]), tensorOf("float32", [count, 5], boxes)],
  };
}

function maxUnpool(d: Draw): Sample {
  const [c, h, w] = [d.int(1, 2), d.int(1, 3), d.int(1, 3)];
  const k = d.int(2, 3);
  const outH = (h - 1) * 2 + k;
  const outW = (w - 1) * 2 + k;
  const all = d.shuffled(d.list(c * outH * outW, (i) => i)).slice(0, c * h * w);
  return {
    opset: d.opset(9),
    attributes: { kernel_shape: [k, k], strides: [2, 2] },
    inputs: [d.tensor("float32", [1, c, h, w]), tensorOf("int64", [1, c, h, w], all)],
  };
}

function nms(d: Draw): Sample {
  const [b, c, n] = [d.int(1, 2), d.int(1, 2), d.int(1, 6)];
  const center = d.maybe(d.int(0, 1));
  const boxes = d
    .list(b * n, () => {
      const [y, x, h, w] = [d.real(0, 2), d.real(0, 2), d.real(0.2, 2), d.real(0.2, 2)];
      if (center) return [x, y, w, h];
      return d.chance(0.2) ? [y + h, x + w, y, x] : [y, x, y + h, x + w];
    })
    .flat();
  const t = (type: "int64" | "float32", v: number) => tensorOf(type, d.pick([[], [1]]), [v]);
  return {
    opset: d.opset(10),
    attributes: { center_point_box: center },
    inputs: [
      tensorOf("float32", [b, n, 4], boxes),
      d.tensor("float32", [b, c, n], [0, 1]),
      d.maybe(t("int64", d.int(0, 4)), 0.9),
      d.maybe(t("float32", d.real(0, 1))),
      d.maybe(t("float32", d.real(0, 0.6))),
    ],
  };
}

function einsum(d: Draw): Sample {
  const sizes: Record<string, number> = { i: 2, j: 3, k: 4, b: 2 };
  const eq = d.pick([
    "ij,jk->ik",
    "ij,jk",
    "bij,bjk->bik",
    "ii->i",
    "ii",
    "ij->ji",
    "ij->",
    "i,j->ij",
    "ij,ij->",
    "...ij,...jk->...ik",
    "...i->...",
    "bij,kj->bik",
    "i,i",
    "ij,j,i->",
    "ji",
    "b...i,...ij->b...j",
    "ij , jk -> ik",
    "->",
    "i->i",
    ",i->i",
  ]);
  const type = d.pick(["float32", "float64", "int32"] as const);
  const dots = d.shape({ rank: [0, 2], most: 3, empty: 0 });
  const inputs = eq
    .split("->")[0]!
    .split(",")
    .map((t) => {
      const dims: number[] = [];
      for (const part of t.trim().match(/\.\.\.|\w/g) ?? []) {
        if (part === "...") dims.push(...dots);
        else dims.push(sizes[part]!);
      }
      return d.tensor(type, dims);
    });
  return { opset: d.opset(12), attributes: { equation: eq }, inputs, sums: true };
}

function det(d: Draw): Sample {
  const n = d.int(1, 4);
  return {
    opset: d.opset(11),
    inputs: [d.tensor("float32", [...d.shape({ rank: [0, 2], empty: 0 }), n, n])],
    sums: true,
    atol: 1e-4,
  };
}

function dropout(d: Draw): Sample {
  const opset = d.opset(7);
  const x = d.tensor(d.pick(floats.filter((f) => f !== "float16")), d.shape());
  if (opset < 12)
    return {
      opset,
      attributes: { ratio: d.maybe(float(0.3)) },
      inputs: [x],
      outputs: 1,
    };
  return {
    opset,
    attributes: { seed: d.maybe(3) },
    inputs: [x, d.maybe(tensorOf("float32", [], [0.3])), d.maybe(tensorOf("bool", [], [0]))],
    outputs: d.int(1, 2),
  };
}

function loss(d: Draw, scores: boolean): Sample {
  const opset = d.opset(scores ? 12 : 12);
  const [n, c] = [d.int(1, 3), d.int(1, 4)];
  const rest = d.shape({ rank: [0, 2], empty: 0 });
  const ignore = d.maybe(d.pick([0, -1, c, 10]));
  const target = d.list(n * rest.reduce((a, b) => a * b, 1), () =>
    ignore !== undefined && d.chance(0.3) ? ignore : d.int(0, c - 1),
  );
  const type = d.pick(["int64", "int32"] as const);
  return {
    opset,
    attributes: { reduction: d.maybe(d.pick(["none", "mean", "sum"])), ignore_index: ignore },
    inputs: [
      d.tensor("float32", [n, c, ...rest]),
      tensorOf(type, [n, ...rest], target),
      d.maybe(d.tensor("float32", [c], "positive")),
    ],
    outputs: scores ? d.int(1, 2) : 1,
    sums: true,
  };
}

function col2im(d: Draw): Sample {
  const rank = d.int(1, 3);
  const block = d.list(rank, () => d.int(1, 2));
  const img = d.list(rank, () => d.int(2, 5));
  const strides = d.chance(0.4) ? d.list(rank, () => d.int(1, 2)) : undefined;
  // Of three axes with dilations the runtime reads other places.
  const dilations = rank < 3 && d.chance(0.3) ? d.list(rank, () => d.int(1, 2)) : undefined;
  const pads = d.chance(0.3) ? d.list(2 * rank, () => d.int(0, 1)) : undefined;
  const counts = img.map(
    (e, i) =>
      Math.floor(
        (e +
          (pads ? pads[i]! + pads[i + rank]! : 0) -
          (block[i]! - 1) * (dilations?.[i] ?? 1) -
          1) /
          (strides?.[i] ?? 1),
      ) + 1,
  );
  if (counts.some((c) => c < 1)) return col2im(d);
  const product = (l: readonly number[]) => l.reduce((a, b) => a * b, 1);
  return {
    opset: d.opset(18),
    attributes: { strides, dilations, pads },
    inputs: [
      d.tensor("float32", [d.int(1, 2), d.int(1, 2) * product(block), product(counts)]),
      int64s(img),
      int64s(block),
    ],
    sums: true,
  };
}

export const network: Readonly<Record<string, Sampler>> = {
  MatMul: matmul,
  Gemm: gemm,
  Conv: conv,
  ConvTranspose: convTranspose,
  MaxPool: pool("max"),
  AveragePool: pool("average"),
  LpPool: pool("lp"),
  GlobalMaxPool: globalPool(),
  GlobalAveragePool: globalPool(),
  GlobalLpPool: globalPool(true),
  BatchNormalization: batchNorm,
  InstanceNormalization: instanceNorm,
  LayerNormalization: layerNorm,
  RMSNormalization: rmsNorm,
  GroupNormalization: groupNorm,
  LRN: lrn,
  LpNormalization: lpNorm,
  MeanVarianceNormalization: meanVariance,
  Resize: resize,
  Upsample: upsample,
  GridSample: gridSample,
  AffineGrid: affineGrid,
  RoiAlign: roiAlign,
  MaxRoiPool: maxRoiPool,
  MaxUnpool: maxUnpool,
  NonMaxSuppression: nms,
  Einsum: einsum,
  Det: det,
  Dropout: dropout,
  NegativeLogLikelihoodLoss: (d) => loss(d, false),
  SoftmaxCrossEntropyLoss: (d) => loss(d, true),
  Col2Im: col2im,
};
