/**
 * Samples of the ops that networks are made of: products, convolutions, pools, losses.
 */
import { type Draw, floats, int64s, isFloatType, tensorOf } from "./draw.ts";
import type { Sampler } from "./elementwise.ts";
import { type Attribute, float, type Sample } from "./sample.ts";

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
  Einsum: einsum,
  Det: det,
  Dropout: dropout,
  NegativeLogLikelihoodLoss: (d) => loss(d, false),
  SoftmaxCrossEntropyLoss: (d) => loss(d, true),
  Col2Im: col2im,
};
