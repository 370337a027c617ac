/**
 * ONNX Runtime's ops that are others joined: embeddings with normalisation, products and convolutions with an activation behind, and
 * names of standard ops in its own domain.
 */
import { clamp, convert, gelu, iota, leakyRelu, relu, silu, type Tensor, take } from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import type { AttributeDef } from "../proto/model.ts";
import { microsoft, type Row } from "../row.ts";
import { asTensorValue, typed, type Value } from "../value.ts";
import { layerNorm } from "./norm.ts";
import { range, widened } from "./operands.ts";

/** Word, position and segment embeddings, added and normalised. */
function embedLayerNormalization(n: NodeContext): Result {
  const ids = n.tensor(0);
  const places = n.maybe(8) ?? iota([1, ids.shape[1]!], 1);
  const positioned = take(n.tensor(2), ids).add(take(n.tensor(3), places));
  const sum = n.has(1) ? positioned.add(take(n.tensor(4), n.tensor(1))) : positioned;
  const [y] = layerNorm(n, sum, n.tensor(5), n.tensor(6), 1e-12);
  const lengths = n.has(7)
    ? convert(n.tensor(7), "i32").sum(1)
    : take(ids.mul(0), 0, 1).convert("i32");
  const type = n.type(2);
  return [typed(y, type), typed(lengths, "int32"), typed(sum, type)];
}

/** The attributes of the node that it has of these names. */
function attributesOf(n: NodeContext, names: readonly string[]): Record<string, AttributeDef> {
  const found: Record<string, AttributeDef> = {};
  for (const name of names) {
    const attribute = n.attribute(name);
    if (attribute) found[name] = attribute;
  }
  return found;
}

/** The activation that the attribute names, with its parameters. */
function activated(n: NodeContext, x: Tensor, parameters: readonly number[]): Tensor {
  const name = n.string("activation", "");
  const [a, b] = parameters;
  switch (name) {
    case "":
      return x;
    case "Relu":
      return relu(x);
    case "Tanh":
      return x.tanh();
    case "Sigmoid":
      return x.sigmoid();
    case "LeakyRelu":
      return leakyRelu(x, a ?? 0.01);
    case "Clip":
      return clamp(x, a ?? Number.NEGATIVE_INFINITY, b ?? Number.POSITIVE_INFINITY);
    case "HardSigmoid":
      return clamp(x.mul(a ?? 0.2).add(b ?? 0.5), 0, 1);
    default:
      return n.fail(`activation ${name} is not supported`);
  }
}

const convolutionAttributes = ["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];
const inputsOf = (n: NodeContext, count: number): (Value | undefined)[] =>
  range(Math.min(count, n.count)).map((i) => (n.has(i) ? n.value(i) : undefined));
const tensorOf = (values: readonly Value[]): Tensor => asTensorValue(values[0]!, "output 0").tensor;

/** A convolution, plus input 3, through an activation. */
function fusedConv(n: NodeContext): Tensor {
  const attributes = attributesOf(n, convolutionAttributes);
  const y = tensorOf(n.apply("Conv", inputsOf(n, 3), attributes));
  return activated(n, n.has(3) ? y.add(n.tensor(3)) : y, n.floats("activation_params", []));
}

function fusedGemm(n: NodeContext): Tensor {
  const attributes = attributesOf(n, ["alpha", "beta", "transA", "transB"]);
  const parameters = ["activation_alpha", "activation_beta"]
    .filter((name) => n.hasAttribute(name))
    .map((name) => n.float(name));
  return activated(n, tensorOf(n.apply("Gemm", inputsOf(n, 3), attributes)), parameters);
}

/** x[N, …, C] (or [N, C, …]) normalised over groups of channels, in f32, with SiLU behind if `activation` is 1. */
function groupNorm(n: NodeContext): Tensor {
  const own = n.tensor(0);
  const last = n.flag("channels_last", true);
  const front = [0, own.rank - 1, ...range(own.rank - 1).slice(1)];
  const x = typed(widened(last ? own.transpose(front) : own), "float32");
  const attributes: Record<string, AttributeDef> = {
    num_groups: { kind: "int", value: n.int("groups") },
  };
  attributes.epsilon = { kind: "float", value: n.float("epsilon", 1e-5) };
  const [scale, bias] = [1, 2].map((i) => typed(widened(n.tensor(i)), "float32"));
  const y = tensorOf(n.apply("GroupNormalization", [x, scale, bias], attributes));
  const back = [0, ...range(own.rank).slice(2), 1];
  const shown = n.int("activation", 0) === 1 ? silu(y) : y;
  return convert(last ? shown.transpose(back) : shown, own.dtype);
}

/** The first half of the channels times the gelu of the second. */
function biasSplitGelu(n: NodeContext): Tensor {
  const x = n.tensor(0).add(n.tensor(1));
  const [a, b] = x.split(2, -1) as [Tensor, Tensor];
  return a.mul(gelu(b));
}

/** Standard ops that files have in this domain, with the same meaning. */
const aliases = ["GatherND", "GridSample", "Pad", "Range", "Trilu", "Unique"];

const alias = (op: string): Row =>
  microsoft(op, (n) => {
    const attributes = Object.fromEntries(n.node.attributes);
    return n.apply(op, inputsOf(n, n.count), attributes, n.outputs);
  });

export const microsoftRows: readonly Row[] = [
  microsoft("EmbedLayerNormalization", embedLayerNormalization),
  microsoft("FusedConv", fusedConv),
  microsoft("FusedGemm", fusedGemm),
  microsoft("GroupNorm", groupNorm),
  microsoft("BiasSplitGelu", biasSplitGelu),
  ...aliases.map(alias),
];
