/** Runs a program on the reference evaluator and, exported, in ONNX Runtime, and compares what comes out. */
import {
  evaluate,
  fromHost,
  type HostArray,
  makeValue,
  type Tensor,
  toHost,
  type Value,
} from "@kiln-ml/ir";
import * as assert from "uvu/assert";
import { type ExportOptions, exportOnnx } from "../../packages/onnx/src/export/export.ts";
import { checkGraph } from "../../packages/onnx/src/proto/check.ts";
import { readModel } from "../../packages/onnx/src/proto/read.ts";
import type { OnnxRuntime } from "../support/onnxruntime.ts";

const ortTypes: Readonly<Record<string, string>> = {
  f32: "float32",
  f64: "float64",
  f16: "float16",
  i32: "int32",
  u32: "uint32",
  i8: "int8",
  u8: "uint8",
  bool: "bool",
};

export type Feeds = ReadonlyMap<Tensor, Value>;

/** Values for an input whose extents are given; numbers spread over [low, high]. */
export function feed(t: Tensor, shape: readonly number[], [low, high] = [-2, 2]): [Tensor, Value] {
  const size = shape.reduce((a, b) => a * b, 1);
  const numbers = Float64Array.from({ length: size }, (_, i) => {
    const x = low + (high - low) * ((i * 0.618034 + 0.1234) % 1);
    return t.dtype === "bool" ? Number(x > (low + high) / 2) : x;
  });
  return [t, makeValue(t.dtype, shape, numbers)];
}

/** The outputs of the exported model, which our own checks accept. */
export async function runExported(
  ort: OnnxRuntime,
  outputs: readonly Tensor[],
  feeds: Feeds,
  options: ExportOptions = {},
): Promise<{ dims: readonly number[]; numbers: Float64Array }[]> {
  const named = outputs.map((value, i) => ({ name: `y${i}`, value }));
  const bytes = exportOnnx({ inputs: [...feeds.keys()], outputs: named }, options);
  checkGraph(readModel(bytes));
  const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3 });
  try {
    const given = [...feeds].map(([t, { shape, data }]) => {
      const stored = toHost(t.dtype, data);
      return [String(t.attrs.name), new ort.Tensor(ortTypes[t.dtype]!, stored, shape)] as const;
    });
    const results = await session.run(Object.fromEntries(given));
    return outputs.map((t, i) => {
      const { dims, data } = results[`y${i}`]!;
      return { dims, numbers: fromHost(t.dtype, data as HostArray) };
    });
  } finally {
    await session.release();
  }
}

/** Fails unless both give the same shapes, and numbers within `tolerance` of each other. */
export async function agrees(
  ort: OnnxRuntime,
  outputs: readonly Tensor[],
  feeds: Feeds,
  tolerance = 1e-5,
  options: ExportOptions & { readonly dims?: Readonly<Record<string, number>> } = {},
): Promise<void> {
  const { dims = {} } = options;
  const expected = evaluate(outputs, { inputs: feeds, dims });
  const actual = await runExported(ort, outputs, feeds, options);
  for (const [i, { shape, data }] of expected.entries()) {
    const { dims: got, numbers } = actual[i]!;
    assert.equal([...got], [...shape], `shape of output ${i}`);
    for (const [k, x] of data.entries()) {
      const y = numbers[k]!;
      const near =
        Object.is(x, y) || x === y || Math.abs(x - y) <= tolerance * Math.max(1, Math.abs(x));
      assert.ok(near, `output ${i}, element ${k}: ${y}, expected ${x}`);
    }
  }
}
