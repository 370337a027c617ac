/**
 * Runs a program on the reference evaluator and, exported, elsewhere, and compares what comes out. Elsewhere is ONNX
 * Runtime, or our own import of the file, which makes a graph for the reference evaluator again.
 */
import {
  evaluate,
  fromHost,
  type HostArray,
  inlineCalls,
  makeValue,
  type Tensor,
  toHost,
  type Value,
} from "@kiln-ml/ir";
import { elementTypeOf, ImportedModel, type Value as OnnxValue, TensorValue } from "@kiln-ml/onnx";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type ExportOptions, exportOnnx } from "../../packages/onnx/src/export/export.ts";
import { checkGraph } from "../../packages/onnx/src/proto/check.ts";
import { readModel } from "../../packages/onnx/src/proto/read.ts";
import { type OnnxRuntime, runtimeTest } from "../support/onnxruntime.ts";

export type Feeds = ReadonlyMap<Tensor, Value>;

interface Result {
  readonly dims: readonly number[];
  readonly numbers: Float64Array;
}

/** Gives `outputs`, which the model calls y0, y1, …. */
export type Engine = (
  bytes: Uint8Array,
  outputs: readonly Tensor[],
  feeds: Feeds,
  dims: Readonly<Record<string, number>>,
) => Promise<Result[]>;

/** A test that is run in both. Without ONNX Runtime one of the two is a counted skip. */
export function exportTest(name: string, body: (engine: Engine) => Promise<void>): void {
  runtimeTest(`${name}: in ONNX Runtime`, (ort) => body(inRuntime(ort)));
  test(`${name}: imported again`, () => body(imported));
}

/** Values for an input whose extents are given; numbers spread over [low, high]. */
export function feed(t: Tensor, shape: readonly number[], [low, high] = [-2, 2]): [Tensor, Value] {
  const size = shape.reduce((a, b) => a * b, 1);
  const numbers = Float64Array.from({ length: size }, (_, i) => {
    const x = low + (high - low) * ((i * 0.618034 + 0.1234) % 1);
    return t.dtype === "bool" ? Number(x > (low + high) / 2) : x;
  });
  return [t, makeValue(t.dtype, shape, numbers)];
}

export const inRuntime =
  (ort: OnnxRuntime): Engine =>
  async (bytes, outputs, feeds) => {
    const session = await ort.InferenceSession.create(bytes, { logSeverityLevel: 3 });
    try {
      const given = [...feeds].map(([t, { shape, data }]) => {
        const stored = toHost(t.dtype, data);
        return [String(t.attrs.name), new ort.Tensor(elementTypeOf(t.dtype), stored, shape)];
      });
      const results = await session.run(Object.fromEntries(given));
      return outputs.map((t, i) => {
        const { dims, data } = results[`y${i}`]!;
        return { dims, numbers: fromHost(t.dtype, data as HostArray) };
      });
    } finally {
      await session.release();
    }
  };

export const imported: Engine = async (bytes, outputs, feeds, dims) => {
  const model = new ImportedModel(checkGraph(readModel(bytes)));
  const given = new Map<string, OnnxValue>();
  for (const t of feeds.keys())
    given.set(String(t.attrs.name), new TensorValue(elementTypeOf(t.dtype), t));
  const values = [...model.apply(given).values()].map((v) => (v as TensorValue).tensor);
  assert.equal(
    values.map((t) => t.dtype),
    outputs.map((t) => t.dtype),
  );
  return evaluate(inlineCalls(values), { inputs: feeds, dims }).map(({ shape, data }) => ({
    dims: shape,
    numbers: data,
  }));
};

/** Equal, both NaN, or not further apart than `tolerance`, of the expected number where that is above 1. */
export const near = (actual: number, expected: number, tolerance: number): boolean =>
  actual === expected ||
  Object.is(actual, expected) ||
  Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected));

export interface AgreeOptions extends ExportOptions {
  readonly tolerance?: number;
  /** Values of symbols that are no extent of an input. */
  readonly dims?: Readonly<Record<string, number>>;
}

/** Fails unless both give the same shapes, and numbers within `tolerance` (1e-5) of each other. */
export async function agrees(
  engine: Engine,
  outputs: readonly Tensor[],
  feeds: Feeds,
  options: AgreeOptions = {},
): Promise<void> {
  const { tolerance = 1e-5, dims = {}, ...exported } = options;
  const expected = evaluate(outputs, { inputs: feeds, dims });
  const named = outputs.map((value, i) => ({ name: `y${i}`, value }));
  const bytes = exportOnnx({ inputs: [...feeds.keys()], outputs: named }, exported);
  const actual = await engine(bytes, outputs, feeds, dims);
  for (const [i, { shape, data }] of expected.entries()) {
    const { dims: got, numbers } = actual[i]!;
    assert.equal([...got], [...shape], `shape of output ${i}`);
    for (const [k, x] of data.entries()) {
      const y = numbers[k]!;
      assert.ok(near(y, x, tolerance), `output ${i}, element ${k}: ${y}, expected ${x}`);
    }
  }
}
