/**
 * Samples of what exporters write around an op: extents taken from a tensor, computed with, and
 * given to an op that asks for a shape.
 */
import type { NodeDef, TensorDef } from "@kiln-ml/onnx";
import { type Draw, int64, int64s, tensorOf } from "./draw.ts";
import type { Sampler } from "./elementwise.ts";
import { type Attribute, attributeOf, type Sample } from "./sample.ts";

/** Writes nodes one by one. */
export class Chain {
  readonly d: Draw;
  readonly nodes: NodeDef[] = [];
  readonly constants: TensorDef[] = [];

  readonly #prefix: string;

  /** Names begin with `prefix`. */
  constructor(d: Draw, prefix = "") {
    this.d = d;
    this.#prefix = prefix;
  }

  op(
    op: string,
    inputs: readonly string[],
    attributes: Record<string, Attribute> = {},
    outputs?: readonly string[],
  ): string {
    const outs = outputs ?? [`${this.#prefix}t${this.nodes.length}`];
    const given = Object.entries(attributes).filter(([, v]) => v !== undefined);
    this.nodes.push({
      op,
      domain: "",
      overload: "",
      name: `${op}_${this.nodes.length}`,
      inputs,
      outputs: outs,
      attributes: new Map(given.map(([k, v]) => [k, attributeOf(v!)])),
    });
    return outs[0]!;
  }

  /** A constant, as an initializer or as a node. */
  value(t: TensorDef): string {
    if (this.d.chance(0.5)) return this.op("Constant", [], { value: { kind: "tensor", value: t } });
    const name = `${this.#prefix}c${this.constants.length}`;
    this.constants.push({ ...t, name });
    return name;
  }

  list(values: readonly number[]): string {
    return this.value(int64s(values));
  }

  /** Extent `axis` of x as [1] or as a scalar, in one of the ways of exporters. */
  extent(x: string, axis: number, scalar = false): string {
    const shape = this.op("Shape", [x]);
    if (scalar) return this.op("Gather", [shape, this.value(int64(axis))], { axis: 0 });
    if (this.d.chance(0.5)) return this.op("Gather", [shape, this.list([axis])], { axis: 0 });
    return this.op("Slice", [shape, this.list([axis]), this.list([axis + 1]), this.list([0])]);
  }

  /** A scalar as [1]. */
  wide(x: string): string {
    return this.op("Unsqueeze", [x, this.list([0])]);
  }

  sample(inputs: readonly TensorDef[], outputs = 1): Sample {
    return {
      opset: this.d.pick([13, 17, 18, 21]),
      nodes: this.nodes,
      constants: this.constants,
      inputs,
      outputs,
      sums: true,
    };
  }
}

const image = (d: Draw, low = 1, most = 4): number[] => d.list(3, () => d.int(low, most));
const f32 = (d: Draw, dims: readonly number[]): TensorDef => d.tensor("float32", dims);

type Maker = (
  d: Draw,
  c: Chain,
) => { readonly inputs: readonly TensorDef[]; readonly outputs?: number };

export const chain =
  (make: Maker): Sampler =>
  (d) => {
    const c = new Chain(d);
    const { inputs, outputs = 1 } = make(d, c);
    return c.sample(inputs, outputs);
  };

const y = ["y0"];

const reshape = chain((d, c) => {
  const parts = d.shuffled([c.extent("x0", 0), c.list([-1])]);
  c.op("Reshape", ["x0", c.op("Concat", parts, { axis: 0 })], {}, y);
  return { inputs: [f32(d, image(d))] };
});

/** [B, S, H·D] → [B, H, S, D] → back. */
const heads = chain((d, c) => {
  const [b, s] = [c.extent("x0", 0), c.extent("x0", 1, true)];
  const split = c.op("Concat", [b, c.wide(s), c.list([2]), c.list([-1])], { axis: 0 });
  const t = c.op("Transpose", [c.op("Reshape", ["x0", split])], { perm: [0, 2, 1, 3] });
  const e = c.op("Mul", [
    c.op("Div", [c.extent("x0", 2, true), c.value(int64(2))]),
    c.value(int64(2)),
  ]);
  const back = c.op("Transpose", [t], { perm: [0, 2, 1, 3] });
  c.op("Reshape", [back, c.op("Concat", [b, c.wide(s), c.wide(e)], { axis: 0 })], {}, y);
  return { inputs: [f32(d, [d.int(1, 3), d.int(1, 4), 4])] };
});

/** Extents of −1 stand for those of x. */
const expand = chain((d, c) => {
  const dims = image(d);
  const wanted = c.list([d.int(1, 2), -1, -1, -1]);
  const ones = c.op("ConstantOfShape", [c.op("Shape", [wanted])], {
    value: { kind: "tensor", value: tensorOf("int64", [1], [1]) },
  });
  const none = c.op("Mul", [ones, c.value(int64(-1))]);
  c.op("Expand", ["x0", c.op("Where", [c.op("Equal", [wanted, none]), ones, wanted])], {}, y);
  return { inputs: [f32(d, dims)] };
});

const positions = chain((d, c) => {
  const s = c.extent("x0", 1, true);
  const past = d.chance(0.5) ? c.extent("x1", 0, true) : c.value(int64(0));
  const all = c.op("Range", [past, c.op("Add", [past, s]), c.value(int64(1))]);
  c.op("Gather", ["x2", c.op("Unsqueeze", [all, c.list([0])])], {}, y);
  return { inputs: [f32(d, image(d)), f32(d, [d.int(1, 3)]), f32(d, [9, 3])] };
});

const causal = chain((d, c) => {
  const s = c.extent("x0", 1);
  const square = c.op("Concat", [s, s], { axis: 0 });
  const mask = d.chance(0.5)
    ? c.op(
        "Trilu",
        [
          c.op("ConstantOfShape", [square], {
            value: { kind: "tensor", value: tensorOf("float32", [1], [-100]) },
          }),
          c.value(int64(1)),
        ],
        { upper: 1 },
      )
    : (() => {
        const line = c.op("Range", [c.value(int64(0)), c.extent("x0", 1, true), c.value(int64(1))]);
        const hidden = c.op("Less", [
          c.op("Unsqueeze", [line, c.list([1])]),
          c.op("Unsqueeze", [line, c.list([0])]),
        ]);
        return c.op("Where", [
          hidden,
          c.value(tensorOf("float32", [], [-100])),
          c.value(tensorOf("float32", [], [0])),
        ]);
      })();
  const scores = c.op("MatMul", ["x0", c.op("Transpose", ["x0"], { perm: [0, 2, 1] })]);
  c.op("Softmax", [c.op("Add", [scores, mask])], { axis: -1 }, y);
  return { inputs: [f32(d, image(d))] };
});

/** Half of an axis, in integers or through floats. */
const chunk = chain((d, c) => {
  const extent = c.extent("x0", 2);
  const half = d.chance(0.5)
    ? c.op("Div", [extent, c.list([2])])
    : c.op(
        "Cast",
        [
          c.op("Floor", [
            c.op("Div", [c.op("Cast", [extent], { to: 1 }), c.value(tensorOf("float32", [], [2]))]),
          ]),
        ],
        { to: 7 },
      );
  const a = c.op("Slice", ["x0", c.list([0]), half, c.list([2])]);
  const b = c.op("Slice", [
    "x0",
    half,
    d.chance(0.5) ? extent : c.list([2 ** 31 - 1]),
    c.list([2]),
  ]);
  c.op("Concat", [b, a], { axis: 2 }, y);
  return { inputs: [f32(d, image(d))] };
});

/** Padded to a multiple of 4. */
const padded = chain((d, c) => {
  const extent = c.extent("x0", 2);
  const over = c.op("Mod", [extent, c.list([4])]);
  const missing = c.op("Mod", [c.op("Sub", [c.list([4]), over]), c.list([4])]);
  const pads = c.op("Concat", [c.list([0, 0, 0, 0, 0]), missing], { axis: 0 });
  c.op("Pad", ["x0", pads], { mode: "constant" }, y);
  return { inputs: [f32(d, image(d))] };
});

const resized = chain((d, c) => {
  const front = c.op("Slice", [c.op("Shape", ["x0"]), c.list([0]), c.list([2]), c.list([0])]);
  const back = c.op("Slice", [c.op("Shape", ["x1"]), c.list([2]), c.list([4]), c.list([0])]);
  const sizes = c.op("Concat", [front, back], { axis: 0 });
  const mode = d.pick(["nearest", "linear"]);
  const place = d.pick(
    mode === "nearest"
      ? ["asymmetric", "half_pixel"]
      : ["asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"],
  );
  c.op(
    "Resize",
    ["x0", "", "", sizes],
    {
      mode,
      coordinate_transformation_mode: place,
      nearest_mode: mode === "nearest" ? "floor" : undefined,
    },
    y,
  );
  const at = () => d.int(1, 5);
  return { inputs: [f32(d, [1, 2, at(), at()]), f32(d, [1, 1, at(), at()])] };
});

/** x[x > 0] and the like: the places of a mask, read or written. */
const masked = chain((d, c) => {
  const mask = c.op("Greater", ["x0", c.value(tensorOf("float32", [], [0]))]);
  const places = c.op("Transpose", [c.op("NonZero", [mask])], { perm: [1, 0] });
  if (d.chance(0.5)) c.op("GatherND", ["x0", places], {}, y);
  else {
    const values = c.op("GatherND", ["x0", places]);
    c.op("ScatterND", ["x0", places, c.op("Mul", [values, values])], {}, y);
  }
  return { inputs: [f32(d, image(d))] };
});

const top = chain((d, c) => {
  const k = c.op(d.chance(0.5) ? "Min" : "Max", [c.extent("x0", 2), c.list([1])]);
  c.op("TopK", ["x0", k], {}, ["y0", "y1"]);
  return { inputs: [f32(d, image(d))], outputs: 2 };
});

const tiled = chain((d, c) => {
  const repeats = c.op("Concat", [c.extent("x1", 0), c.list([1]), c.list([d.int(1, 2)])], {
    axis: 0,
  });
  c.op("Tile", ["x0", repeats], {}, y);
  return { inputs: [f32(d, image(d)), f32(d, [d.int(1, 3)])] };
});

const splitted = chain((d, c) => {
  const first = c.op("Sub", [c.extent("x0", 1), c.list([1])]);
  c.op("Split", ["x0", c.op("Concat", [first, c.list([1])], { axis: 0 })], { axis: 1 }, [
    "y0",
    "y1",
  ]);
  return { inputs: [f32(d, image(d))], outputs: 2 };
});

const mean = chain((d, c) => {
  const shape = c.op("Cast", [c.op("Shape", ["x0"])], { to: 1 });
  const count = c.op("ReduceProd", [shape], { keepdims: 0 });
  const sum = c.op("ReduceSum", ["x0"], { keepdims: 0 });
  c.op("Div", [sum, count], {}, y);
  return { inputs: [f32(d, image(d))] };
});

const oneHot = chain((d, c) => {
  const depth = d.chance(0.5) ? c.extent("x1", 1, true) : c.extent("x1", 1);
  c.op(
    "OneHot",
    ["x0", depth, c.value(tensorOf("float32", [2], [0, 1]))],
    { axis: d.pick([-1, 0]) },
    y,
  );
  return { inputs: [d.tensor("int64", [d.int(1, 4)], [-2, 3]), f32(d, [2, d.int(1, 4)])] };
});

/** x[:, start:end] = v, with Range and ScatterND or with Concat. */
const assigned = chain((d, c) => {
  const n = c.extent("x0", 0, true);
  const line = c.op("Range", [c.value(int64(0)), n, c.value(int64(1))]);
  const places = c.op("Unsqueeze", [
    c.op("Slice", [line, c.list([1]), c.list([1000])]),
    c.list([1]),
  ]);
  const rows = c.op("Slice", ["x0", c.list([1]), c.list([1000]), c.list([0])]);
  c.op("ScatterND", ["x0", places, c.op("Neg", [rows])], {}, y);
  return { inputs: [f32(d, image(d))] };
});

const flattened = chain((d, c) => {
  const all = c.op("Size", ["x0"]);
  const flat = c.op("Reshape", ["x0", c.op("Reshape", [all, c.list([1])])]);
  c.op("CumSum", [flat, c.value(int64(0))], {}, y);
  return { inputs: [f32(d, image(d))] };
});

const arithmetic = chain((d, c) => {
  let s = c.extent("x0", 1, true);
  for (let i = d.int(1, 3); i > 0; i--) {
    const k = c.value(int64(d.int(1, 4)));
    s = c.op(
      d.pick(["Add", "Mul", "Max", "Min", "Div"]),
      d.chance(0.8) ? [s, k] : [s, c.extent("x0", 2, true)],
    );
  }
  const shape = c.op("Concat", [c.wide(s), c.list([2])], { axis: 0 });
  c.op("ConstantOfShape", [shape], {}, y);
  return { inputs: [f32(d, image(d))] };
});

const windowed = chain((d, c) => {
  const n = c.extent("x0", 1, true);
  const starts = c.op("Range", [
    c.value(int64(0)),
    c.op("Sub", [n, c.value(int64(1))]),
    c.value(int64(2)),
  ]);
  const pairs = c.op("Add", [c.op("Unsqueeze", [starts, c.list([1])]), c.list([0, 1])]);
  c.op("Gather", ["x0", pairs], { axis: 1 }, y);
  return { inputs: [f32(d, image(d))] };
});

export const chains: Readonly<Record<string, Sampler>> = {
  "chain.reshape": reshape,
  "chain.heads": heads,
  "chain.expand": expand,
  "chain.positions": positions,
  "chain.causal": causal,
  "chain.chunk": chunk,
  "chain.padded": padded,
  "chain.resized": resized,
  "chain.masked": masked,
  "chain.top": top,
  "chain.tiled": tiled,
  "chain.split": splitted,
  "chain.mean": mean,
  "chain.oneHot": oneHot,
  "chain.assigned": assigned,
  "chain.flattened": flattened,
  "chain.arithmetic": arithmetic,
  "chain.windowed": windowed,
};
