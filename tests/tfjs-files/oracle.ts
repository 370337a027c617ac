/** What TensorFlow.js itself gives for a graph model, on its cpu backend. */
import "@tensorflow/tfjs-backend-cpu";
import { loadGraphModel } from "@tensorflow/tfjs-converter";
import * as tf from "@tensorflow/tfjs-core";
import { loadTfjs, type TfjsTensor } from "kiln-ml/tfjs";
import * as assert from "uvu/assert";
import type { GraphWriter } from "./graph.ts";

// It advertises its Node bindings once.
tf.env().set("IS_NODE", false);

interface Plain {
  readonly type: string;
  readonly dims: readonly number[];
  readonly values: readonly number[];
}

export async function byTfjs(graph: GraphWriter): Promise<Plain[]> {
  await tf.setBackend("cpu");
  const { json, bytes } = graph.model();
  const { modelTopology, weightsManifest, signature } = json as {
    modelTopology: object;
    signature: object;
    weightsManifest: { weights: object[] }[];
  };
  const weightSpecs = weightsManifest.flatMap((g) => g.weights);
  const weightData = Uint8Array.from(bytes).buffer;
  const artifacts = { modelTopology, signature, weightSpecs, weightData } as never;
  const model = await loadGraphModel({ load: async () => artifacts });
  const feeds = Object.fromEntries(
    graph.feeds.map((f) => [f.name, tf.tensor([...f.values], [...f.dims], f.type)]),
  );
  const found = await model.executeAsync(feeds, graph.outputs);
  const plain = (Array.isArray(found) ? found : [found]).map((t) => ({
    type: t.dtype,
    dims: t.shape,
    values: [...t.dataSync()] as number[],
  }));
  model.dispose();
  return plain;
}

export async function byKiln(graph: GraphWriter, open: boolean): Promise<Plain[]> {
  const { json, bytes } = graph.model(open);
  const model = await loadTfjs({ model: json, weights: [bytes] }, { target: "js" });
  const inputs = Object.fromEntries(
    graph.feeds.map(({ name, type, dims, values }) => {
      const data =
        type === "float32"
          ? Float32Array.from(values)
          : type === "int32"
            ? Int32Array.from(values)
            : Uint8Array.from(values);
      return [name, { type, dims, data }];
    }),
  );
  const found = await model.run(inputs);
  await model.dispose();
  return graph.outputs.map((name) => {
    const { type, dims, data } = found[name] as TfjsTensor;
    return { type, dims, values: Array.from(data as ArrayLike<number>) };
  });
}

export function agree(got: Plain, wanted: Plain, where: string): void {
  assert.is(`${got.type}[${got.dims}]`, `${wanted.type}[${wanted.dims}]`, where);
  for (const [k, v] of wanted.values.entries()) {
    const other = got.values[k]!;
    const near = Math.abs(other - v) <= 3e-5 * Math.max(1, Math.abs(v));
    assert.ok(near || Object.is(other, v), `${where} [${k}]: ${other}, not ${v}`);
  }
}
