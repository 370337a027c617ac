/**
 * Samples of ONNX Runtime's own ops and of ai.onnx.ml.
 */
import { type Draw, tensorOf } from "./draw.ts";
import type { Sampler } from "./elementwise.ts";
import { float, floatList, type Sample } from "./sample.ts";

const domain = "com.microsoft";

/** Past and present of their own, or one buffer; lengths of their own. */
function groupQuery(d: Draw): Sample {
  const [b, kv, g, e] = [d.int(1, 2), d.int(1, 2), d.int(1, 2), 16];
  const first = d.chance(0.3);
  const s = first ? d.int(1, 3) : 1;
  const lengths = d.list(b, () => (first ? s : d.int(1, 4)));
  const total = Math.max(...lengths);
  const past = first ? 0 : d.chance(0.5) ? total - 1 : total + d.int(0, 2);
  const rotary = d.maybe(d.int(0, 1));
  const packed = d.chance(0.4);
  const x = (heads: number) => d.tensor("float32", [b, s, heads * e], [-1, 1]);
  const old = () =>
    past > 0 || !first ? d.tensor("float32", [b, kv, past, e], [-1, 1]) : undefined;
  const table = () => (rotary ? d.tensor("float32", [16, e / 2], [-1, 1]) : undefined);
  return {
    opset: 17,
    domain,
    attributes: {
      num_heads: kv * g,
      kv_num_heads: kv,
      do_rotary: rotary,
      rotary_interleaved: rotary ? d.maybe(d.int(0, 1)) : undefined,
      local_window_size: d.maybe(d.int(1, 3), 0.2),
      softcap: d.maybe(float(1.5), 0.2),
      scale: d.maybe(float(0.3), 0.3),
    },
    inputs: [
      packed ? x(kv * g + 2 * kv) : x(kv * g),
      packed ? undefined : x(kv),
      packed ? undefined : x(kv),
      old(),
      old(),
      tensorOf(
        "int32",
        [b],
        lengths.map((n) => n - 1),
      ),
      tensorOf("int32", [], [total]),
      table(),
      table(),
    ],
    outputs: 3,
    sums: true,
  };
}

function multiHead(d: Draw): Sample {
  const [b, h, e] = [d.int(1, 2), d.int(1, 2), d.int(1, 3)];
  const [s, t] = [d.int(1, 3), d.int(1, 3)];
  const x = (len: number) => d.tensor("float32", [b, len, h * e]);
  const mask = d.pick([undefined, [b, t], [b]] as const);
  return {
    opset: 17,
    domain,
    attributes: {
      num_heads: h,
      scale: d.maybe(float(0.4)),
      unidirectional: s === t ? d.maybe(d.int(0, 1)) : undefined,
    },
    inputs: [
      x(s),
      x(t),
      x(t),
      d.maybe(d.tensor("float32", [3 * h * e])),
      mask &&
        tensorOf(
          "int32",
          mask,
          d.list(
            mask.reduce((a, n) => a * n, 1),
            () => (mask.length > 1 ? 1 : d.int(1, t)),
          ),
        ),
      d.maybe(d.tensor("float32", [d.pick([1, b]), h, s, t]), 0.3),
    ],
    sums: true,
  };
}

function skipNorm(d: Draw, simple: boolean): Sample {
  const dims = [d.int(1, 2), d.int(1, 3), d.int(2, 4)];
  const v = () => d.tensor("float32", [dims[2]!]);
  const x = () => d.tensor("float32", dims);
  return {
    opset: 17,
    domain,
    attributes: { epsilon: d.maybe(float(0.01)) },
    inputs: simple ? [x(), x(), v(), d.maybe(v())] : [x(), x(), v(), d.maybe(v()), d.maybe(v())],
    sums: true,
    atol: 1e-4,
  };
}

const unary =
  (attributes: (d: Draw) => Sample["attributes"] = () => ({}), bias = false): Sampler =>
  (d) => {
    const x = d.tensor("float32", d.shape({ rank: [1, 3], empty: 0 }));
    const last = x.dims.at(-1)!;
    return {
      opset: 17,
      domain,
      attributes: attributes(d) ?? {},
      inputs: bias ? [x, d.tensor("float32", [last])] : [x],
      atol: 1e-4,
    };
  };

function fusedMatMul(d: Draw): Sample {
  const [m, k, n] = [d.int(1, 3), d.int(1, 3), d.int(1, 3)];
  const batch = d.shape({ rank: [0, 2], most: 3, empty: 0 });
  const [a, b] = [d.maybe(d.int(0, 1)), d.maybe(d.int(0, 1))];
  return {
    opset: 17,
    domain,
    attributes: { transA: a, transB: b, alpha: d.maybe(float(0.5)) },
    inputs: [
      d.tensor("float32", [...batch, ...(a ? [k, m] : [m, k])]),
      d.tensor("float32", [...batch, ...(b ? [n, k] : [k, n])]),
    ],
    sums: true,
  };
}

const ml = { opset: 17, domain: "ai.onnx.ml" } as const;
const table = (d: Draw) =>
  d.tensor(d.pick(["float32", "float64", "int64", "int32"]), [d.int(1, 3), d.int(1, 4)]);

export const microsoft: Readonly<Record<string, Sampler>> = {
  "com.microsoft.GroupQueryAttention": groupQuery,
  "com.microsoft.MultiHeadAttention": multiHead,
  "com.microsoft.SkipLayerNormalization": (d) => skipNorm(d, false),
  "com.microsoft.SkipSimplifiedLayerNormalization": (d) => skipNorm(d, true),
  "com.microsoft.Gelu": unary(),
  "com.microsoft.QuickGelu": unary((d) => ({ alpha: d.maybe(float(1.2)) })),
  "com.microsoft.BiasGelu": unary(() => ({}), true),
  "com.microsoft.FastGelu": unary(() => ({}), true),
  "com.microsoft.FusedMatMul": fusedMatMul,
  "ai.onnx.ml.Scaler": (d) => {
    const x = table(d);
    const c = x.dims[1]!;
    const n = d.pick([1, c]);
    const list = () => floatList(d.list(n, () => d.real(-1, 2)));
    return { ...ml, attributes: { offset: list(), scale: list() }, inputs: [x] };
  },
  "ai.onnx.ml.Normalizer": (d) => ({
    ...ml,
    // The greatest is of the numbers for the runtime, of their absolute values for the definition.
    attributes: { norm: d.pick(["L1", "L2"]) },
    inputs: [table(d)],
  }),
  "ai.onnx.ml.Binarizer": (d) => ({
    ...ml,
    attributes: { threshold: d.maybe(float(0.5)) },
    inputs: [d.tensor("float32", d.shape({ rank: [1, 3] }))],
  }),
  "ai.onnx.ml.ArrayFeatureExtractor": (d) => {
    const x = table(d);
    const n = d.int(1, 3);
    return {
      ...ml,
      inputs: [
        x,
        tensorOf(
          "int64",
          d.pick([[n], [1, n]]),
          d.list(n, () => d.int(0, x.dims[1]! - 1)),
        ),
      ],
    };
  },
  "ai.onnx.ml.Imputer": (d) => {
    const c = d.int(1, 3);
    const x = tensorOf(
      "float32",
      [2, c],
      d.list(2 * c, () => d.pick([NaN, 1, 2, 0])),
    );
    return {
      ...ml,
      attributes: {
        imputed_value_floats: floatList(d.list(d.pick([1, c]), () => d.real(0, 1))),
        replaced_value_float: float(d.pick([NaN, 0, 1])),
      },
      inputs: [x],
    };
  },
  "ai.onnx.ml.LinearRegressor": (d) => {
    const [c, t] = [d.int(1, 3), d.int(1, 3)];
    return {
      ...ml,
      attributes: {
        targets: t,
        coefficients: floatList(d.list(c * t, () => d.real(-1, 1))),
        intercepts: d.maybe(floatList(d.list(t, () => d.real(-1, 1)))),
        post_transform: t > 1 ? d.maybe(d.pick(["NONE", "SOFTMAX", "LOGISTIC"]), 0.4) : undefined,
      },
      inputs: [d.tensor("float32", [d.int(1, 3), c])],
      sums: true,
    };
  },
  "ai.onnx.ml.LabelEncoder": (d) => {
    const keys = [0, 1, 2];
    const way = d.pick(["if", "fi", "ff"]);
    const k = way[0] === "i" ? { keys_int64s: keys } : { keys_floats: floatList(keys) };
    const v =
      way[1] === "i"
        ? { values_int64s: [5, 6, 7], default_int64: d.maybe(9) }
        : { values_floats: floatList([0.5, 1.5, 2.5]), default_float: d.maybe(float(9)) };
    return {
      ...ml,
      attributes: { ...k, ...v },
      inputs: [
        d.tensor(way[0] === "i" ? "int64" : "float32", d.shape({ rank: [1, 2] }), [0, 4]),
      ].map((t) =>
        t.type === "float32"
          ? tensorOf("float32", t.dims, Array.from(t.data as Float32Array, Math.round))
          : t,
      ),
    };
  },
};
