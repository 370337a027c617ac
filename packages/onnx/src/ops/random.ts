/**
 * Random numbers. The key comes from attribute `seed`, or from the node's name where there is none: every run draws the same numbers,
 * on every target. They are not those of other runtimes; ONNX does not say which generator is meant.
 */
import { argMax, convert, isFloat, maximum, random, type Shape, type Tensor } from "@kiln-ml/ir";
import type { NodeContext } from "../context.ts";
import { dtypeOf } from "../element.ts";
import type { ElementType } from "../proto/model.ts";
import { type Row, row } from "../row.ts";
import { type TensorValue, typed } from "../value.ts";
import { elementTypeAt } from "./cast.ts";

const bits = new DataView(new ArrayBuffer(4));

function keyOf(n: NodeContext): Tensor {
  if (n.hasAttribute("seed")) {
    bits.setFloat32(0, n.float("seed"));
    return random.key(bits.getUint32(0));
  }
  let hash = 2166136261;
  for (const c of n.node.name || n.node.outputs.join())
    hash = Math.imul(hash ^ c.charCodeAt(0), 16777619) >>> 0;
  return random.key(hash);
}

/** Attribute `dtype`, else the type given. */
const typeOf = (n: NodeContext, otherwise: ElementType): ElementType =>
  n.hasAttribute("dtype") ? elementTypeAt(n, n.int("dtype")) : otherwise;

type Draw = (n: NodeContext, shape: Shape, type: ElementType) => Tensor;

const normal: Draw = (n, shape, type) =>
  random.normal(keyOf(n), shape, {
    mean: n.float("mean", 0),
    std: n.float("scale", 1),
    dtype: dtypeOf(type),
  });

const uniform: Draw = (n, shape, type) =>
  random.uniform(keyOf(n), shape, {
    low: n.float("low", 0),
    high: n.float("high", 1),
    dtype: dtypeOf(type),
  });

const plain =
  (draw: Draw) =>
  (n: NodeContext): TensorValue => {
    const type = typeOf(n, "float32");
    return typed(draw(n, n.ints("shape"), type), type);
  };

const like =
  (draw: Draw) =>
  (n: NodeContext): TensorValue => {
    const type = typeOf(n, isFloat(n.tensor(0).dtype) ? n.type(0) : "float32");
    return typed(draw(n, n.tensor(0).shape, type), type);
  };

function bernoulli(n: NodeContext): TensorValue {
  const p = n.tensor(0);
  const type = typeOf(n, n.type(0));
  return typed(convert(random.bernoulli(keyOf(n), p, p.shape), dtypeOf(type)), type);
}

/** Classes drawn by their logarithmic odds: the largest of log p + Gumbel noise. */
function multinomial(n: NodeContext): TensorValue {
  const x = convert(n.tensor(0), "f32");
  if (x.rank !== 2) return n.fail(`input 0 has rank ${x.rank}, not 2`);
  const shape = [x.shape[0]!, n.int("sample_size", 1), x.shape[1]!];
  const u = maximum(random.uniform(keyOf(n), shape), 2 ** -30);
  const noise = u.log().neg().log().neg();
  const type = typeOf(n, "int32");
  const draws = argMax(x.reshape([shape[0]!, 1, shape[2]!]).add(noise), 2);
  return typed(convert(draws, dtypeOf(type)), type);
}

const note = "The same numbers in every run; not those of other runtimes.";

export const randomRows: readonly Row[] = [
  row("RandomNormal", plain(normal), { note }),
  row("RandomUniform", plain(uniform), { note }),
  row("RandomNormalLike", like(normal), { note }),
  row("RandomUniformLike", like(uniform), { note }),
  row("Bernoulli", bernoulli, { note }),
  row("Multinomial", multinomial, { note }),
];
