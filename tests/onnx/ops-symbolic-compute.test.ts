/**
 * Ops that compute, over symbolic extents: one program for all extents gives what a program for each of them gives.
 */
import type { ElementType, TensorDef } from "@kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { OnnxTensor } from "../../packages/kiln/src/onnx.ts";
import { type Attribute, loadSmall, numbers, wave } from "./small-model.ts";

/** A shape whose extents may be symbols, of float32 unless a type stands in front. */
type Shape = string;

const extents: readonly Readonly<Record<string, number>>[] = [
  { B: 2, S: 3, C: 4, T: 5, P: 1 },
  { B: 1, S: 5, C: 2, T: 1, P: 4 },
];

interface Input {
  readonly type: ElementType;
  readonly shape: readonly (number | string)[];
}

/** "B,S,8" is float32, "int64 B,S" is not. */
function inputOf(text: Shape): Input {
  const [type, list] = text.includes(" ")
    ? (text.split(" ") as [ElementType, string])
    : ["float32" as const, text];
  const shape = list === "" ? [] : list.split(",").map((d) => (/^\d+$/.test(d) ? Number(d) : d));
  return { type, shape };
}

function valuesOf(
  { type, shape }: Input,
  at: Readonly<Record<string, number>>,
  seed: number,
): TensorDef {
  const dims = shape.map((d) => (typeof d === "number" ? d : at[d]!));
  const floats = wave(dims, seed);
  if (type === "float32") return floats;
  const small = Array.from(floats.data as Float32Array, (x) => Math.abs(Math.round(x * 10)) % 3);
  if (type === "int64") return { name: "", type, dims, data: BigInt64Array.from(small, BigInt) };
  return { name: "", type, dims, data: Uint8Array.from(small) };
}

function check(
  op: string,
  shapes: readonly Shape[],
  attributes: Readonly<Record<string, Attribute>> = {},
  extra: { opset?: number; count?: number; domain?: string; what?: string } = {},
): void {
  const { opset = 24, count = 1, domain = "", what = "" } = extra;
  test(`${domain}${domain && "."}${op}${what && ` ${what}`} over symbolic extents`, async () => {
    const inputs = shapes.map((s) => (s === "-" ? undefined : inputOf(s)));
    const names = inputs.map((t, i) => (t ? `x${i}` : ""));
    const outputs = Array.from({ length: count }, (_, i) => `y${i}`);
    const nodes = [{ op, domain, inputs: names, outputs, attributes }];
    const given = inputs.flatMap((t, i) => (t ? [[names[i]!, t] as const] : []));
    const types = Object.fromEntries(given.map(([k, t]) => [k, t.type]));
    const declared = Object.fromEntries(given.map(([k, t]) => [k, t.shape]));
    const symbolic = loadSmall({ opset, inputs: declared, types, nodes, outputs });
    for (const at of extents) {
      const feeds = Object.fromEntries(given.map(([k, t], i) => [k, valuesOf(t, at, i + 1)]));
      const fixedShapes = Object.fromEntries(Object.entries(feeds).map(([k, t]) => [k, t.dims]));
      const fixed = loadSmall({ opset, inputs: fixedShapes, types, nodes, outputs });
      const got = Object.values(await symbolic.run(feeds)) as OnnxTensor[];
      const want = Object.values(await fixed.run(feeds)) as OnnxTensor[];
      assert.is(symbolic.specialised, undefined);
      for (const [i, t] of want.entries()) agree(got[i]!, t);
    }
    assert.is(symbolic.compiles, 1);
  });
}

function agree(got: OnnxTensor, want: OnnxTensor): void {
  assert.equal(got.dims, want.dims);
  assert.is(got.type, want.type);
  const [g, w] = [numbers(got), numbers(want)];
  for (const [i, x] of w.entries())
    assert.ok(
      Object.is(g[i], x) || Math.abs(g[i]! - x) <= 1e-5 * (1 + Math.abs(x)),
      `${i}: ${g[i]}, ${x}`,
    );
}

const ms = { domain: "com.microsoft" };

check("Add", ["B,S", "S"]);
check("Pow", ["B,S", "int64 S"]);
check("Where", ["bool B,1", "B,S", "S"]);
check("Softmax", ["B,S,C"], { axis: 1 }, { opset: 11, what: "of opset 11" });
check("Hardmax", ["B,S"]);
check("ReduceMean", ["B,S,C"], { axes: [0, 2] }, { opset: 13 });
check("ReduceLogSumExp", ["B,S,C"], { axes: [1], keepdims: 0 }, { opset: 13 });
check("ArgMax", ["B,S"], { axis: 1, select_last_index: 1 });
check("LayerNormalization", ["B,S,C", "C", "C"], {}, { count: 3 });
check("RMSNormalization", ["B,S,C", "C"]);
check("InstanceNormalization", ["B,C,S,T", "C", "C"]);
check("GroupNormalization", ["B,6,S", "6", "6"], { num_groups: 3 });
check("LRN", ["B,C,S"], { size: 3, alpha: 0.5 });
check("MeanVarianceNormalization", ["B,C,S,T"]);
check("LpNormalization", ["B,S"]);
check("NegativeLogLikelihoodLoss", ["B,3,S", "int64 B,S", "3"], { ignore_index: 1 });
check("SoftmaxCrossEntropyLoss", ["B,3,S", "int64 B,S"], {}, { count: 2 });
check("MatMul", ["B,1,S,C", "T,C,S"]);
check("Gemm", ["S,B", "C,S", "C"], { transA: 1, transB: 1, alpha: 0.5 });
check("Einsum", ["B,S,C", "B,T,C"], { equation: "bsc,btc->bts" });
check("Einsum", ["B,S,S"], { equation: "...ii->...i" }, { what: "of a diagonal" });
check("DynamicQuantizeLinear", ["B,S"], {}, { count: 3 });
check("DequantizeLinear", ["uint8 B,S", "S", "uint8 S"], { axis: 1 });
check("MatMulInteger", ["uint8 B,S", "uint8 S,C"]);
check(
  "Attention",
  ["B,4,S,8", "B,2,S,8", "B,2,S,8", "-", "B,2,P,8", "B,2,P,8"],
  { is_causal: 1 },
  { count: 3 },
);
check(
  "Attention",
  ["B,S,8", "B,T,8", "B,T,8", "bool 1,1,S,T"],
  { q_num_heads: 2, kv_num_heads: 2 },
  { what: "of flat heads" },
);
check("RotaryEmbedding", ["B,2,S,8", "9,4", "9,4", "int64 B,S"]);
check(
  "LinearAttention",
  ["B,S,8", "B,S,4", "B,S,4", "-", "B,S,4", "B,S,1"],
  { q_num_heads: 2, kv_num_heads: 1 },
  { count: 2 },
);
check(
  "CausalConvWithState",
  ["B,C,S", "C,1,3", "C", "B,C,2"],
  { activation: "silu" },
  { count: 2 },
);
check("SkipLayerNormalization", ["B,S,8", "B,S,8", "8", "8", "8"], {}, ms);
check("MultiHeadAttention", ["B,S,8", "B,T,8", "B,T,8", "24"], { num_heads: 2 }, ms);
check(
  "GroupQueryAttention",
  ["1,S,16", "1,S,8", "1,S,8", "1,1,P,8", "1,1,P,8", "int64 1", "-"],
  { num_heads: 2, kv_num_heads: 1 },
  { ...ms, count: 3 },
);
check("EmbedLayerNormalization", ["int64 B,S", "-", "3,8", "9,8", "-", "8", "8"], {}, ms);

test.run();
