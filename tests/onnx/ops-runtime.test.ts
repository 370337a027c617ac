/**
 * Ops of ONNX Runtime's own domain against ONNX Runtime: there is no other text that says what they mean.
 */
import type { ElementType, TensorDef } from "@kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { loadOnnx, type OnnxTensor } from "../../packages/kiln/src/onnx.ts";
import { writeModel } from "../../packages/onnx/src/proto/write.ts";
import { runtimeTest } from "../support/onnxruntime.ts";
import { type Attribute, modelOf, numbers, wave } from "./small-model.ts";

/** float32, or what a type in front says; integers are small, of masks most are 1. */
function inputOf(text: string, seed: number): TensorDef | undefined {
  if (text === "-") return undefined;
  const [type, list] = text.includes(" ")
    ? (text.split(" ") as [ElementType, string])
    : ["float32" as const, text];
  const [shape, given] = list.split("=");
  const dims = shape === "" ? [] : shape!.split(",").map(Number);
  const floats = wave(dims, seed);
  const values = Array.from(floats.data as Float32Array, (x, i) =>
    given ? Number(given.split(",")[i]) : type === "float32" ? x : Math.floor(Math.abs(x) * 50),
  );
  if (type === "float32") return { ...floats, data: Float32Array.from(values) };
  if (type === "int64") return { ...floats, type, data: BigInt64Array.from(values, BigInt) };
  return {
    ...floats,
    type,
    data: type === "uint8" ? Uint8Array.from(values) : Int32Array.from(values),
  };
}

interface Options {
  /** The types of the outputs, "" where one is left out. */
  readonly outputs?: readonly (ElementType | "")[];
  readonly what?: string;
  /** Inputs that are initializers. */
  readonly held?: readonly number[];
  /** Of quantized results, which are rounded at ties by the order of the arithmetic. */
  readonly off?: number;
}

function check(
  op: string,
  inputs: readonly string[],
  attributes: Readonly<Record<string, Attribute>> = {},
  { outputs = ["float32"], what = "", held = [], off = 0 }: Options = {},
): void {
  runtimeTest(`${op}${what && `, ${what},`} agrees with ONNX Runtime`, async (ort) => {
    const tensors = inputs.map((text, i) => inputOf(text, i + 1));
    const entries = tensors.flatMap((t, i) => (t ? [[`x${i}`, t, held.includes(i)] as const] : []));
    const fed = entries.filter(([, , isHeld]) => !isHeld);
    const model = modelOf({
      opset: 21,
      inputs: Object.fromEntries(fed.map(([k, t]) => [k, t.dims])),
      types: Object.fromEntries(fed.map(([k, t]) => [k, t.type])),
      initializers: Object.fromEntries(entries.filter(([, , h]) => h).map(([k, t]) => [k, t])),
      nodes: [
        {
          op,
          domain: "com.microsoft",
          inputs: tensors.map((t, i) => (t ? `x${i}` : "")),
          outputs: outputs.map((t, i) => (t ? `y${i}` : "")),
          attributes,
        },
      ],
      outputs: [],
    });
    const shown = outputs.flatMap((type, i) =>
      type ? [{ name: `y${i}`, type: { kind: "tensor" as const, type } }] : [],
    );
    const opsets = new Map([...model.opsets, ["com.microsoft", 1] as const]);
    const bytes = writeModel({ ...model, opsets, graph: { ...model.graph, outputs: shown } });
    const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 4 });
    const feeds = fed.map(([k, t]) => [k, new ort.Tensor(t.type, t.data, t.dims)] as const);
    const want = await session.run(Object.fromEntries(feeds));
    const got = await loadOnnx(bytes, { target: "js" }).run(
      Object.fromEntries(fed.map(([k, t]) => [k, t])),
    );
    for (const { name } of shown) agree(name, got[name] as OnnxTensor, want[name]!, off);
    await session.release();
  });
}

function agree(
  name: string,
  got: OnnxTensor,
  want: { dims: readonly number[]; type: string; data: unknown },
  off: number,
) {
  assert.equal([...got.dims], [...want.dims], name);
  assert.is(got.type, want.type, name);
  const [g, w] = [numbers(got), Array.from(want.data as ArrayLike<number | bigint>, Number)];
  for (const [i, x] of w.entries())
    assert.ok(
      Math.abs(g[i]! - x) <= off + 1e-5 + 1e-4 * Math.abs(x),
      `${name} ${i}: ${g[i]}, ${x}`,
    );
}

const heads = { num_heads: 2 };
const group = { num_heads: 4, kv_num_heads: 2 };
const three = { outputs: ["float32", "float32", "float32"] as const };
const past = ["1,2,3,16", "1,2,3,16", "int32 1=3", "int32 =4"];
const prompt = ["1,5,64", "1,5,32", "1,5,32", "1,2,0,16", "1,2,0,16", "int32 1=4", "int32 =5"];

check("FastGelu", ["2,4", "4"]);
check("BiasGelu", ["2,4", "4"]);
check("QuickGelu", ["2,4"], { alpha: 1.5 });
check("FusedMatMul", ["2,4,5", "2,6,4"], { transA: 1, transB: 1, alpha: 0.5 });
const byBatch = { transBatchA: 1, transBatchB: 1 };
check("FusedMatMul", ["4,2,5", "5,2,6"], byBatch, { what: "batches second" });
check(
  "FusedMatMul",
  ["4,2,3,5", "6,2,3,5"],
  { ...byBatch, transB: 1 },
  { what: "batches inside, one side turned" },
);
check(
  "FusedMatMul",
  ["5,2,4", "2,5,6"],
  { transBatchA: 1, transA: 1 },
  { what: "batches of one side second, turned" },
);
check("FusedGemm", ["2,3", "3,4", "4"], { activation: "Relu", alpha: 0.5 });
check(
  "SkipLayerNormalization",
  ["2,3,8", "2,3,8", "8", "8", "8"],
  {},
  { outputs: ["float32", "", "", "float32"] },
);
check(
  "SkipSimplifiedLayerNormalization",
  ["2,3,8", "2,3,8", "8", "8"],
  {},
  { outputs: ["float32", "", "", "float32"] },
);
check(
  "EmbedLayerNormalization",
  ["int32 1,3=0,2,1", "int32 1,3=0,1,1", "4,8", "5,8", "2,8", "8", "8", "int32 1,3=1,1,0"],
  {},
  { outputs: ["float32", "int32"] },
);
check("Attention", ["2,5,8", "8,24", "24"], heads);
check("Attention", ["2,5,8", "8,24", "24", "int32 2=3,4"], heads, { what: "with lengths" });
check("Attention", ["1,4,8", "8,24", "24", "int32 1,4=1,0,1,1"], heads, { what: "with a mask" });
check(
  "Attention",
  ["2,5,8", "8,24", "24", "-", "2,2,2,3,4"],
  { ...heads, unidirectional: 1 },
  { what: "with a past", outputs: ["float32", "float32"] },
);
check(
  "Attention",
  ["2,5,8", "8,20", "20"],
  { ...heads, qkv_hidden_sizes: [8, 8, 4] },
  { what: "with short values" },
);
check("MultiHeadAttention", ["2,5,8", "2,6,8", "2,6,8", "24"], heads);
check(
  "MultiHeadAttention",
  ["1,5,8", "1,4,8", "1,4,8", "-", "int32 1,4=1,1,1,0", "1,2,5,4"],
  heads,
  { what: "with mask and bias" },
);
check("MultiHeadAttention", ["2,5,8", "2,2,6,4", "2,2,6,4"], heads, { what: "with keys in heads" });
check(
  "MultiHeadAttention",
  ["2,1,8", "2,1,8", "2,1,8", "-", "-", "-", "2,2,3,4", "2,2,3,4"],
  heads,
  { ...three, what: "with a past" },
);
check("GroupQueryAttention", ["1,1,64", "1,1,32", "1,1,32", ...past], group, three);
check(
  "GroupQueryAttention",
  ["1,1,128", "-", "-", ...past, "9,8", "9,8"],
  { ...group, do_rotary: 1 },
  { ...three, what: "packed and rotated" },
);
check(
  "GroupQueryAttention",
  prompt,
  { ...group, local_window_size: 2, softcap: 2.5 },
  { ...three, what: "with a window" },
);
check(
  "GroupQueryAttention",
  prompt,
  { ...group, smooth_softmax: 1 },
  { ...three, what: "with a sink" },
);
check("RotaryEmbedding", ["2,5,16", "int64 2,5=0,1,2,3,4,4,3,2,1,0", "9,4", "9,4"]);
check(
  "RotaryEmbedding",
  ["2,2,5,8", "int64 1=3", "9,4", "9,4"],
  { interleaved: 1 },
  { what: "interleaved" },
);
check(
  "MatMulNBits",
  ["2,40", "uint8 6,3,8", "18"],
  { K: 40, N: 6, bits: 4, block_size: 16 },
  { held: [1, 2] },
);
check(
  "MatMulNBits",
  ["2,40", "uint8 6,3,8", "18", "uint8 12"],
  { K: 40, N: 6, bits: 4, block_size: 16 },
  { held: [1, 2, 3], what: "with zero points" },
);
const mixed = Array.from({ length: 40 }, (_, i) => (i * 7) % 3).join(",");
check(
  "MatMulNBits",
  ["2,40", "uint8 6,3,8", "18", "-", `int32 40=${mixed}`],
  { K: 40, N: 6, bits: 4, block_size: 16 },
  { held: [1, 2, 4], what: "with columns in any group, halfway" },
);
check(
  "QLinearAdd",
  ["uint8 2,4", "=0.05", "uint8 =20", "uint8 2,4", "=0.04", "uint8 =30", "=0.1", "uint8 =10"],
  {},
  { outputs: ["uint8"], off: 1 },
);
check(
  "QLinearConcat",
  ["=0.06", "uint8 =20", "uint8 2,4", "=0.04", "uint8 =5", "uint8 2,3", "=0.03", "uint8 =9"],
  { axis: 1 },
  { outputs: ["uint8"], off: 1, held: [0, 1, 3, 4, 6, 7] },
);
check("MatMulIntegerToFloat", ["uint8 2,8", "uint8 8,4", "=0.1", "4", "uint8 =12", "uint8 4", "4"]);
check(
  "DynamicQuantizeMatMul",
  ["2,8", "uint8 8,4", "1=0.1", "uint8 1=12", "4"],
  {},
  { held: [1, 2, 3] },
);

check(
  "QGemm",
  ["uint8 2,8", "=0.02", "uint8 =7", "uint8 4,8", "4", "uint8 4", "int32 4", "=0.3", "uint8 =9"],
  { transB: 1 },
  { outputs: ["uint8"], off: 1, held: [3, 4, 5, 6] },
);
check(
  "QAttention",
  [
    "uint8 1,4,8",
    "uint8 8,24",
    "24",
    "=0.002",
    "=0.002",
    "int32 1,4=1,0,1,1",
    "uint8 =50",
    "uint8 =3",
  ],
  heads,
  { held: [1, 2, 4, 7] },
);
check(
  "GatherBlockQuantized",
  ["uint8 7,16", "int64 2,2=0,-1,3,6", "7,2", "uint8 7,1"],
  { block_size: 16, quantize_axis: 1, bits: 4 },
  { held: [0, 2, 3] },
);
check(
  "LinearAttention",
  ["2,6,32", "2,6,16", "2,6,16", "2,2,8,8", "2,6,16", "2,6,2"],
  { q_num_heads: 4, kv_num_heads: 2, update_rule: "gated_delta" },
  { outputs: ["float32", "float32"] },
);
check(
  "CausalConvWithState",
  ["2,4,6", "4,1,3", "4", "2,4,2"],
  { activation: "silu", ndim: 1 },
  { outputs: ["float32", "float32"] },
);

test.run();
