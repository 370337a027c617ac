/**
 * Samples of ops on quantized tensors, of recurrent ops, attention and signal processing.
 */
import { type Draw, int64, tensorOf } from "./draw.ts";
import { type Sampler, typeNumber } from "./elementwise.ts";
import { type Attribute, float, floatList, type Sample, stringList } from "./sample.ts";

const eight = (d: Draw) => d.pick(["int8", "uint8"] as const);

function quantize(d: Draw): Sample {
  const opset = d.opset(10);
  const dims = d.shape({ rank: [1, 4], empty: 0 });
  const type = d.pick(
    opset >= 21 ? (["int8", "uint8", "int16", "uint16"] as const) : (["int8", "uint8"] as const),
  );
  const axis = d.axis(dims.length);
  const at = (axis + dims.length) % dims.length;
  const way = d.pick(
    opset >= 21 ? ["tensor", "axis", "block"] : opset >= 13 ? ["tensor", "axis"] : ["tensor"],
  );
  const block = d.int(1, dims[at]!);
  const shape =
    way === "tensor"
      ? d.pick([[], [1]])
      : way === "axis"
        ? [dims[at]!]
        : dims.map((e, i) => (i === at ? Math.ceil(e / block) : e));
  const zero = d.chance(0.7);
  const attributes: Record<string, Attribute> = {};
  if (way !== "tensor") attributes.axis = axis;
  if (way === "block") attributes.block_size = block;
  if (opset >= 21 && !zero && d.chance(0.5)) attributes.output_dtype = typeNumber(type);
  return {
    opset,
    attributes,
    inputs: [
      d.tensor("float32", dims, [-40, 40]),
      d.tensor("float32", shape, "positive"),
      zero ? d.tensor(type, shape) : undefined,
    ],
    // A product that is a half within float32 may be rounded either way.
    atol: 0,
  };
}

function dequantize(d: Draw): Sample {
  const s = quantize(d);
  const dims = s.inputs[0]!.dims;
  const zero = s.inputs[2];
  const type = zero?.type ?? d.pick(["int8", "uint8", "int32"] as const);
  const { output_dtype: _, ...attributes } = s.attributes!;
  return {
    ...s,
    attributes,
    inputs: [d.tensor(type, dims, "large"), s.inputs[1], zero],
    sums: true,
  };
}

function dynamicQuantize(d: Draw): Sample {
  return {
    opset: d.opset(11),
    inputs: [d.tensor("float32", d.shape({ rank: [0, 3], empty: 0 }), [-9, 9])],
    outputs: 3,
  };
}

function matMulInteger(d: Draw): Sample {
  const [m, k, n] = [d.int(1, 4), d.int(1, 4), d.int(1, 4)];
  const batch = d.shape({ rank: [0, 2], most: 3, empty: 0 });
  const [a, b] = [eight(d), eight(d)];
  return {
    opset: d.opset(10),
    inputs: [
      d.tensor(a, [...batch, m, k], "large"),
      d.tensor(b, [...d.below(batch, 0), k, n], "large"),
      d.maybe(d.tensor(a, [])),
      d.maybe(d.tensor(b, d.pick([[], [1], [n]]))),
    ],
  };
}

function qLinearMatMul(d: Draw): Sample {
  const [m, k, n] = [d.int(1, 4), d.int(1, 4), d.int(1, 4)];
  const type = eight(d);
  const s = () => d.tensor("float32", [], [0.01, 0.1]);
  const z = () => d.tensor(type, []);
  return {
    opset: d.opset(10),
    inputs: [
      d.tensor(type, [m, k], "large"),
      s(),
      z(),
      d.tensor(type, [k, n], "large"),
      s(),
      z(),
      d.tensor("float32", [], [0.3, 1]),
      z(),
    ],
    atol: 1,
  };
}

function convInteger(d: Draw): Sample {
  const rank = 2;
  const size = d.list(rank, () => d.int(1, 3));
  const [c, o] = [d.int(1, 2), d.int(1, 3)];
  return {
    opset: d.opset(10),
    attributes: {
      strides: d.maybe(d.list(rank, () => d.int(1, 2))),
      pads: d.maybe(d.list(2 * rank, () => d.int(0, 1))),
    },
    inputs: [
      d.tensor("uint8", [1, c, 4, 5], "large"),
      d.tensor("uint8", [o, c, ...size], "large"),
      d.maybe(d.tensor("uint8", [])),
      d.maybe(d.tensor("uint8", [])),
    ],
  };
}

function qLinearConv(d: Draw): Sample {
  const size = [d.int(1, 3), d.int(1, 3)];
  const [c, o] = [d.int(1, 2), d.int(1, 3)];
  const w = eight(d);
  const channels = d.chance(0.5) ? [o] : [];
  return {
    opset: d.opset(10),
    attributes: { pads: d.maybe(d.list(4, () => d.int(0, 1))) },
    inputs: [
      d.tensor("uint8", [1, c, 4, 5], "large"),
      d.tensor("float32", [], [0.01, 0.1]),
      d.tensor("uint8", []),
      d.tensor(w, [o, c, ...size], "large"),
      d.tensor("float32", channels, [0.01, 0.1]),
      tensorOf(w, channels, channels.length ? d.list(o, () => 0) : [0]),
      d.tensor("float32", [], [0.3, 1]),
      d.tensor("uint8", []),
      d.maybe(d.tensor("int32", [o], "large")),
    ],
    fixed: [3, 4, 5],
  };
}

const names = [
  "Relu",
  "Tanh",
  "Sigmoid",
  "Affine",
  "LeakyRelu",
  "ThresholdedRelu",
  "ScaledTanh",
  "HardSigmoid",
  "Elu",
  "Softsign",
  "Softplus",
];

const withAlpha = new Set([
  "Affine",
  "LeakyRelu",
  "ThresholdedRelu",
  "ScaledTanh",
  "HardSigmoid",
  "Elu",
]);
const withBeta = new Set(["Affine", "ScaledTanh", "HardSigmoid"]);

function recurrent(d: Draw, gates: number, functions: number): Sample {
  const opset = d.opset(7, 21);
  const direction = d.pick(["forward", "reverse", "bidirectional"]);
  const dirs = direction === "bidirectional" ? 2 : 1;
  const [t, b, i, h] = [d.int(1, 6), d.int(1, 3), d.int(1, 3), d.int(1, 3)];
  const type = "float32";
  const lstm = gates === 4;
  // Those without a bound grow.
  const activations =
    t < 3 && d.chance(0.6) ? d.list(dirs * functions, () => d.pick(names)) : undefined;
  // Defaults differ; those that take none do not use up any.
  const alphas = activations?.filter((a) => withAlpha.has(a));
  const betas = activations?.filter((a) => withBeta.has(a));
  const inputs = [
    d.tensor(type, [t, b, i]),
    d.tensor(type, [dirs, gates * h, i], [-1, 1]),
    d.tensor(type, [dirs, gates * h, h], [-1, 1]),
    d.maybe(d.tensor(type, [dirs, 2 * gates * h], [-1, 1])),
    d.maybe(
      tensorOf(
        "int32",
        [b],
        d.list(b, () => d.int(1, t)),
      ),
      0.3,
    ),
    d.maybe(d.tensor(type, [dirs, b, h])),
    ...(lstm
      ? [d.maybe(d.tensor(type, [dirs, b, h])), d.maybe(d.tensor(type, [dirs, 3 * h]))]
      : []),
  ];
  return {
    opset,
    attributes: {
      hidden_size: h,
      direction: d.maybe(direction, direction === "forward" ? 0.5 : 1),
      activations: activations && stringList(activations),
      activation_alpha: alphas && floatList(alphas.map(() => d.real(0.2, 0.8))),
      activation_beta: betas && floatList(betas.map(() => d.real(0.2, 0.8))),
      clip: d.maybe(float(1.5), 0.2),
      linear_before_reset: gates === 3 ? d.maybe(d.int(0, 1)) : undefined,
      input_forget: undefined,
    },
    inputs,
    outputs: lstm ? d.int(1, 3) : d.int(1, 2),
    sums: true,
    atol: 1e-4,
  };
}

function attention(d: Draw): Sample {
  const opset = d.opset(23);
  const [b, kv, g, s, e, v] = [2, 2, 2, 3, 3, 3].map((most) => d.int(1, most)) as number[] as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const past = d.chance(0.4) ? d.int(1, 3) : 0;
  const t = past ? s : d.int(1, 4);
  const flat = d.chance(0.5);
  const x = (heads: number, len: number, size: number) =>
    d.tensor("float32", flat ? [b, len, heads * size] : [b, heads, len, size]);
  const total = t + past;
  const mask = d.maybe(
    d.tensor(
      d.pick(["float32", "bool"]),
      d.pick([
        [s, total],
        [1, 1, s, total],
        [b, 1, s, total],
        [b, kv * g, s, total],
      ]),
    ),
    0.4,
  );
  const outputs = past ? 3 : d.pick([1, 1, 4]);
  return {
    opset,
    attributes: {
      is_causal: d.maybe(d.int(0, 1)),
      scale: d.maybe(float(0.4)),
      softcap: d.maybe(float(1.5), 0.3),
      q_num_heads: flat ? kv * g : undefined,
      kv_num_heads: flat ? kv : undefined,
      qk_matmul_output_mode: outputs > 3 ? d.maybe(d.int(0, 3)) : undefined,
    },
    inputs: [
      x(kv * g, s, e),
      x(kv, t, e),
      x(kv, t, v),
      mask,
      past ? d.tensor("float32", [b, kv, past, e]) : undefined,
      past ? d.tensor("float32", [b, kv, past, v]) : undefined,
    ],
    outputs,
    sums: true,
  };
}

function rotary(d: Draw): Sample {
  const [b, h, s, half] = [d.int(1, 2), d.int(1, 2), d.int(1, 3), d.int(1, 3)];
  const flat = d.chance(0.5);
  const positions = d.chance(0.6);
  const part = half > 1 && d.chance(0.4) ? half - 1 : half;
  const table = () => d.tensor("float32", positions ? [5, part] : [b, s, part], [-1, 1]);
  return {
    opset: d.opset(23),
    attributes: {
      interleaved: d.maybe(d.int(0, 1)),
      num_heads: flat ? h : undefined,
      rotary_embedding_dim: part < half ? 2 * part : d.maybe(0),
    },
    inputs: [
      d.tensor("float32", flat ? [b, s, h * 2 * half] : [b, h, s, 2 * half]),
      table(),
      table(),
      positions
        ? tensorOf(
            "int64",
            [b, s],
            d.list(b * s, () => d.int(0, 4)),
          )
        : undefined,
    ],
    sums: true,
  };
}

function dft(d: Draw): Sample {
  const opset = d.pick([17, 20]);
  const rank = d.int(1, 2);
  const lines = d.list(rank, () => d.int(2, 9));
  const [inverse, onesided] = [d.maybe(d.int(0, 1)), d.maybe(d.int(0, 1))];
  const real = !inverse && (onesided === 1 || d.chance(0.5));
  const axis = d.int(1, rank);
  const length = d.maybe(tensorOf("int64", [], [d.int(2, 9)]), 0.4);
  const x = d.tensor(d.pick(["float32", "float64"]), [d.int(1, 2), ...lines, real ? 1 : 2]);
  const given = d.chance(0.5) ? axis : axis - (rank + 2);
  return {
    opset,
    attributes: {
      inverse,
      onesided: inverse ? undefined : onesided,
      axis: opset < 20 ? axis : undefined,
    },
    inputs: opset < 20 ? [x, length] : [x, length, d.maybe(int64(given), 0.8)],
    sums: true,
    atol: 1e-4,
  };
}

function stft(d: Draw): Sample {
  const [n, length, step] = [d.int(8, 16), d.int(2, 6), d.int(1, 4)];
  const windowed = d.chance(0.6);
  return {
    opset: d.opset(17),
    attributes: { onesided: d.maybe(d.int(0, 1)) },
    inputs: [
      d.tensor("float32", [d.int(1, 2), n, 1]),
      int64(step),
      windowed ? d.tensor("float32", [length]) : undefined,
      windowed ? undefined : int64(length),
    ],
    sums: true,
    atol: 1e-4,
  };
}

const window: Sampler = (d) => ({
  opset: d.opset(17),
  attributes: {
    periodic: d.maybe(d.int(0, 1)),
    output_datatype: d.maybe(typeNumber(d.pick(["float32", "float64"]))),
  },
  inputs: [int64(d.int(2, 12))],
  atol: 1e-6,
});

function mel(d: Draw): Sample {
  return {
    opset: d.opset(17),
    inputs: [
      int64(d.int(2, 8)),
      int64(d.pick([16, 32])),
      int64(8192),
      tensorOf("float32", [], [d.pick([0, 100])]),
      tensorOf("float32", [], [4096]),
    ],
    atol: 1e-6,
  };
}

export const quantized: Readonly<Record<string, Sampler>> = {
  QuantizeLinear: quantize,
  DequantizeLinear: dequantize,
  DynamicQuantizeLinear: dynamicQuantize,
  MatMulInteger: matMulInteger,
  QLinearMatMul: qLinearMatMul,
  ConvInteger: convInteger,
  QLinearConv: qLinearConv,
  RNN: (d) => recurrent(d, 1, 1),
  GRU: (d) => recurrent(d, 3, 2),
  LSTM: (d) => recurrent(d, 4, 3),
  Attention: attention,
  RotaryEmbedding: rotary,
  DFT: dft,
  STFT: stft,
  HannWindow: window,
  HammingWindow: window,
  BlackmanWindow: window,
  MelWeightMatrix: mel,
};
