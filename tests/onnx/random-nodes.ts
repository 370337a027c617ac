/**
 * Nodes with random attributes and shapes, a family a function. Each stays within what both its definition and ONNX Runtime take; the
 * numbers follow from a seed.
 */
import {
  type Arrays,
  type Attribute,
  float32,
  int64,
  type SmallModel,
  wave,
} from "./small-model.ts";

export interface Case {
  readonly model: SmallModel;
  readonly inputs: Arrays;
}

/** A source of numbers that is the same in every run. */
export class Chance {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  next(): number {
    this.#state = (this.#state * 1103515245 + 12345) % 2 ** 31;
    return this.#state / 2 ** 31;
  }
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }
  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)]!;
  }
  ints(count: number, low: number, high: number): number[] {
    return Array.from({ length: count }, () => this.int(low, high));
  }
  floats(dims: readonly number[], low: number, high: number) {
    const size = dims.reduce((a, b) => a * b, 1);
    return float32(
      dims,
      Array.from({ length: size }, () => low + this.next() * (high - low)),
    );
  }
}

type Attributes = Record<string, Attribute>;
const float = (value: number): Attribute => ({ kind: "float", value });

const single = (
  op: string,
  inputs: Arrays,
  attributes: Attributes,
  rest: Partial<SmallModel> & { opset: number; given?: readonly string[] },
): Case => {
  const { given, ...extra } = rest;
  const names = given ?? [...Object.keys(inputs), ...Object.keys(extra.initializers ?? {})];
  const outputs = extra.outputs ?? ["y"];
  const model: SmallModel = {
    inputs: Object.fromEntries(Object.entries(inputs).map(([k, t]) => [k, t.dims])),
    types: Object.fromEntries(Object.entries(inputs).map(([k, t]) => [k, t.type])),
    nodes: [{ op, inputs: names, outputs, attributes }],
    ...extra,
  };
  return { model, inputs };
};

const rules = ["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"];

function conv(c: Chance): Case {
  const [rank, groups] = [c.int(1, 3), c.pick([1, 1, 2])];
  const kernel = c.ints(rank, 1, 3);
  const [channels, out] = [groups * c.int(1, 2), groups * c.int(1, 2)];
  const rule = c.pick(rules);
  const x = wave([c.int(1, 2), channels, ...c.ints(rank, 5, 7)], 2);
  const w = wave([out, channels / groups, ...kernel]);
  const attributes: Attributes = {
    group: groups,
    strides: c.ints(rank, 1, 3),
    dilations: rule.startsWith("SAME") ? kernel.map(() => 1) : c.ints(rank, 1, 2),
    ...(rule === "NOTSET" ? { pads: c.ints(2 * rank, 0, 2) } : { auto_pad: rule }),
  };
  return single("Conv", { x }, attributes, { opset: 13, initializers: { w, b: wave([out], 3) } });
}

function convTranspose(c: Chance): Case {
  const [rank, groups] = [c.int(1, 3), c.pick([1, 2])];
  const [kernel, strides, dilations] = [c.ints(rank, 1, 3), c.ints(rank, 1, 3), c.ints(rank, 1, 2)];
  const [channels, out] = [groups * c.int(1, 2), c.int(1, 2)];
  const x = wave([1, channels, ...c.ints(rank, 3, 4)], 2);
  const rule = c.pick(["pads", "SAME_UPPER", "SAME_LOWER"]);
  const attributes: Attributes = { group: groups, strides, dilations };
  if (rule === "pads") {
    attributes.output_padding = strides.map((s) => c.int(0, s - 1));
    attributes.pads = kernel.map(() => 0).concat(kernel.map((k) => c.int(0, k > 1 ? 1 : 0)));
  } else attributes.auto_pad = rule;
  return single("ConvTranspose", { x }, attributes, {
    opset: 13,
    initializers: { w: wave([channels, out, ...kernel]) },
  });
}

function pool(c: Chance): Case {
  const op = c.pick(["MaxPool", "AveragePool", "LpPool"]);
  const rank = c.int(1, 3);
  const kernel = c.ints(rank, 1, 3);
  const rule = c.pick(rules);
  const attributes: Attributes = { kernel_shape: kernel, strides: kernel.map((k) => c.int(1, k)) };
  if (rule === "NOTSET") {
    attributes.pads = [...kernel, ...kernel].map((k) => c.int(0, Math.min(1, k - 1)));
    attributes.ceil_mode = c.int(0, 1);
    if (op !== "LpPool") attributes.dilations = c.ints(rank, 1, 2);
  } else attributes.auto_pad = rule;
  if (op === "AveragePool") attributes.count_include_pad = c.int(0, 1);
  if (op === "LpPool") attributes.p = c.int(1, 3);
  if (op === "MaxPool") attributes.storage_order = c.int(0, 1);
  const x = wave([1, 2, ...c.ints(rank, 5, 8)], 2);
  const outputs = op === "MaxPool" ? ["y", "places"] : ["y"];
  return single(op, { x }, attributes, { opset: op === "LpPool" ? 18 : 19, outputs });
}

function resize(c: Chance): Case {
  const mode = c.pick(["nearest", "linear", "cubic"]);
  const bySizes = c.int(0, 1) === 1;
  const places = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "asymmetric"];
  const place = c.pick(bySizes ? [...places, "align_corners"] : places);
  const attributes: Attributes = { mode, coordinate_transformation_mode: place };
  if (mode === "nearest")
    attributes.nearest_mode = c.pick(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]);
  else if (c.int(0, 2) === 0) attributes.antialias = 1;
  else if (mode === "cubic") {
    attributes.cubic_coeff_a = c.pick([-0.5, -0.75]);
    attributes.exclude_outside = c.int(0, 1);
  }
  const x = wave([1, 2, c.int(2, 7), c.int(2, 7)], 2);
  if (bySizes) {
    const sizes = int64([1, 2, c.int(1, 9), c.int(1, 9)]);
    const rest = { opset: 19, initializers: { sizes }, given: ["x", "", "", "sizes"] };
    return single("Resize", { x }, attributes, rest);
  }
  const scales = float32([4], [1, 1, c.pick([0.5, 2, 3, 1.5, 0.75]), c.pick([1, 2, 1.5, 0.6])]);
  const rest = { opset: 19, initializers: { scales }, given: ["x", "", "scales"] };
  return single("Resize", { x }, attributes, rest);
}

function gridSample(c: Chance): Case {
  const mode = c.pick(["linear", "nearest", "cubic"]);
  const rank = mode === "cubic" ? 2 : c.int(2, 3);
  const x = wave([2, 2, ...c.ints(rank, 2, 5)], 2);
  const grid = c.floats([2, ...c.ints(rank, 1, 4), rank], -1.5, 1.5);
  const padding = c.pick(["zeros", "border", "reflection"]);
  const attributes = { mode, padding_mode: padding, align_corners: c.int(0, 1) };
  return single("GridSample", { x, grid }, attributes, { opset: 20 });
}

/** Regions that begin in the image and may end outside. */
function regions(c: Chance, whole: boolean): number[][] {
  return [0, 1, 2].map(() => {
    const [x, y] = [c.next() * 3, c.next() * 3];
    const box = [x, y, x + c.next() * 4, y + c.next() * 4];
    return whole ? [c.int(0, 1), ...box.map(Math.round)] : box;
  });
}

function region(c: Chance): Case {
  const x = wave([2, 2, c.int(4, 7), c.int(4, 7)], 2);
  const scale = float(c.pick([1, 0.5]));
  if (c.int(0, 1)) {
    const rois = float32([3, 5], regions(c, true).flat());
    const attributes = { pooled_shape: c.ints(2, 1, 3), spatial_scale: scale };
    return single("MaxRoiPool", { x, rois }, attributes, { opset: 11 });
  }
  const inputs = { x, rois: float32([3, 4], regions(c, false).flat()), images: int64([0, 1, 1]) };
  const attributes: Attributes = {
    output_height: c.int(1, 3),
    output_width: c.int(1, 3),
    sampling_ratio: c.int(0, 3),
    spatial_scale: scale,
    mode: c.pick(["avg", "avg", "max"]),
    coordinate_transformation_mode: c.pick(["half_pixel", "output_half_pixel"]),
  };
  return single("RoiAlign", inputs, attributes, { opset: 16 });
}

function slice(c: Chance): Case {
  const x = wave([c.int(1, 5), c.int(1, 6)]);
  const initializers = {
    starts: int64(c.ints(2, -8, 8)),
    ends: int64(c.ints(2, -8, 8)),
    axes: int64([0, -1]),
    steps: int64([c.pick([1, 2, -1, -2]), c.pick([1, 3, -1, -3])]),
  };
  return single("Slice", { x }, {}, { opset: 13, initializers });
}

function pad(c: Chance): Case {
  const mode = c.pick(["constant", "reflect", "edge", "wrap"]);
  const most = mode === "reflect" || mode === "wrap" ? 1 : 3;
  const initializers = { pads: int64(c.ints(4, 0, most)) };
  return single(
    "Pad",
    { x: wave([c.int(2, 4), c.int(2, 4)]) },
    { mode },
    { opset: 19, initializers },
  );
}

function scatterElements(c: Chance): Case {
  const x = wave([c.int(2, 4), c.int(2, 4)]);
  const dims = x.dims.map((d) => c.int(1, d));
  const axis = c.int(0, 1);
  const size = dims[0]! * dims[1]!;
  const index = { ...int64(c.ints(size, -x.dims[axis]!, x.dims[axis]! - 1)), dims };
  const attributes = { axis, reduction: c.pick(["add", "mul", "max", "min"]) };
  return single("ScatterElements", { x, index, updates: wave(dims, 3) }, attributes, { opset: 18 });
}

function suppression(c: Chance): Case {
  const [count, classes] = [c.int(3, 12), c.int(1, 2)];
  const boxes = Array.from({ length: count }, () => {
    const [y, x] = [c.next() * 4, c.next() * 4];
    return [y, x, y + 1 + c.next() * 2, x + 1 + c.next() * 2];
  });
  const inputs = {
    boxes: float32([1, count, 4], boxes.flat()),
    scores: c.floats([1, classes, count], 0, 1),
  };
  const initializers = {
    most: int64([c.int(1, count)]),
    iou: float32([1], [c.pick([0.1, 0.3, 0.5])]),
    least: float32([1], [c.pick([0, 0.3])]),
  };
  const attributes = { center_point_box: c.int(0, 1) };
  return single("NonMaxSuppression", inputs, attributes, { opset: 11, initializers });
}

function unique(c: Chance): Case {
  const dims = [c.int(1, 5), c.int(1, 3)];
  const x = float32(dims, c.ints(dims[0]! * dims[1]!, 0, 2));
  const attributes: Attributes = { sorted: c.int(0, 1) };
  if (c.int(0, 1)) attributes.axis = c.int(0, 1);
  return single("Unique", { x }, attributes, {
    opset: 11,
    outputs: ["y", "at", "number", "count"],
  });
}

function dft(c: Chance): Case {
  const parts = c.int(1, 2);
  const inverse = c.int(0, 1);
  const x = wave([2, c.int(2, 9), 3, parts]);
  const initializers = { length: int64(c.int(1, 11)), axis: int64(c.pick([1, 2, -2])) };
  const onesided = parts === 1 && !inverse ? c.int(0, 1) : 0;
  return single("DFT", { x }, { inverse, onesided }, { opset: 20, initializers });
}

export const families: Readonly<Record<string, (c: Chance) => Case>> = {
  conv,
  convTranspose,
  pool,
  resize,
  gridSample,
  region,
  slice,
  pad,
  scatterElements,
  suppression,
  unique,
  dft,
};
