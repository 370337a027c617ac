/**
 * Kiln as an engine behind the interface of ONNX Runtime: what a program that was aliased runs on.
 * Sequences and empty optionals, which that interface does not have, go in and out as lists and
 * null.
 */

import type { TensorData } from "../../packages/onnx/src/proto/model.ts";
import { asBits, unpacked } from "../../packages/onnxruntime/src/element-arrays.ts";
import { env, InferenceSession, Tensor } from "../../packages/onnxruntime/src/index.ts";
import type { Engine, OurTarget } from "./engine.ts";
import type { Tensors, Value } from "./values.ts";

function toFace(value: Value): unknown {
  if (value === null) return null;
  if (!("data" in value)) return value.map(toFace);
  return new Tensor(value.type as Tensor.Type, value.data as Float32Array, value.dims);
}

function fromFace(value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map(fromFace);
  const { type, dims, data } = value as Tensor;
  if (Array.isArray(data)) return { type, dims, data };
  const size = dims.reduce((a, b) => a * b, 1);
  const plain = unpacked(type, asBits(data as Float32Array), size);
  return { type, dims, data: plain as TensorData };
}

export async function faceEngine(target: OurTarget, threads: number): Promise<Engine> {
  env.webgpu.forceFallbackAdapter = target === "webgpu";
  env.wasm.numThreads = threads;
  return {
    name: target,
    open: async ({ bytes, beside }) => {
      const session = await InferenceSession.create(bytes, {
        executionProviders: [target],
        externalData: [...beside].map(([path, data]) => ({ path, data })),
      });
      return {
        run: async (inputs: Tensors) => {
          const feeds = Object.entries(inputs).map(([name, v]) => [name, toFace(v) as Tensor]);
          const results = await session.run(Object.fromEntries(feeds));
          return Object.fromEntries(session.outputNames.map((n) => [n, fromFace(results[n])]));
        },
        close: () => session.release(),
      };
    },
  };
}
