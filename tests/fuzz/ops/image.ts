/**
 * Samples of ops that read images at computed places, and of those that choose regions.
 */
import { type Draw, int64s, tensorOf } from "./draw.ts";
import type { Sampler } from "./elementwise.ts";
import { type Attribute, float, floatList, type Sample } from "./sample.ts";

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
  const place = d.pick(
    places
      .filter((p) => opset >= 19 || p !== "half_pixel_symmetric")
      // Where the extent stays, the nearest elements of a crop are the whole for the runtime.
      .filter((p) => mode !== "nearest" || p !== "tf_crop_and_resize"),
  );
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

export const images: Readonly<Record<string, Sampler>> = {
  Resize: resize,
  Upsample: upsample,
  GridSample: gridSample,
  AffineGrid: affineGrid,
  RoiAlign: roiAlign,
  MaxRoiPool: maxRoiPool,
  MaxUnpool: maxUnpool,
  NonMaxSuppression: nms,
};
