/** Models of TensorFlow.js to damage: a graph and layers, each with 64 bytes of weights. */
import { TfjsFile } from "../../packages/tfjs-files/src/model.ts";
import { GraphWriter } from "../tfjs-files/graph.ts";

/** Reads it with shards of as many bytes as those of the samples have. */
export function readTfjs(bytes: Uint8Array): void {
  const file = TfjsFile.parse(new TextDecoder().decode(bytes), "input.bin");
  file.model(file.shards.slice(0, 1024).map(() => new Uint8Array(64)));
}

function graphModel(): object {
  const graph = new GraphWriter();
  const x = graph.input([2, 4], [1, 2, 3, 4, 5, 6, 7, 8]);
  const product = graph.node("MatMul", [x, graph.constant([4, 4], Array(16).fill(1))], {
    transpose_a: false,
    T: "DT_FLOAT",
  });
  graph.library.push({
    signature: { name: "f", inputArg: [{ name: "x" }], outputArg: [{ name: "y" }] },
    nodeDef: [{ name: "r", op: "Relu", input: ["x"] }],
    ret: { y: "r:activations:0" },
  });
  graph.output(graph.node("PartitionedCall", [product], { f: { func: { name: "f" } } }));
  return graph.model(true).json;
}

const dense = (inbound: readonly unknown[]) => ({
  class_name: "Dense",
  name: "d",
  config: { name: "d", units: 4, activation: "relu", use_bias: true },
  inbound_nodes: [inbound],
});

const layersModel = {
  modelTopology: {
    model_config: {
      class_name: "Functional",
      config: {
        name: "m",
        layers: [
          {
            class_name: "InputLayer",
            name: "x",
            config: { batch_input_shape: [null, 3], name: "x" },
            inbound_nodes: [],
          },
          dense([["x", 0, 0, {}]]),
        ],
        input_layers: [["x", 0, 0]],
        output_layers: [["d", 0, 0]],
      },
    },
  },
  weightsManifest: [
    {
      paths: ["w.bin"],
      weights: [
        { name: "d/kernel", shape: [3, 4], dtype: "float32" },
        { name: "d/bias", shape: [4], dtype: "float32" },
      ],
    },
  ],
};

export const tfjsFiles: readonly object[] = [graphModel(), layersModel];

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A model within a model, `depth` times. */
function nested(depth: number): string {
  const open = '{"class_name":"Sequential","config":{"name":"s","layers":['.repeat(depth);
  return `{"modelTopology":${open}${"]}}".repeat(depth)},"weightsManifest":[]}`;
}

const manifest = (weights: string, paths = '["w"]'): string =>
  `{"modelTopology":{"node":[]},"weightsManifest":[{"paths":${paths},"weights":${weights}}]}`;

export const hostileTfjs: readonly Uint8Array[] = [
  nested(10),
  nested(10_000),
  manifest('[{"name":"w","shape":[0,9007199254740991],"dtype":"float32"}]'),
  manifest('[{"name":"w","shape":[9007199254740991,9007199254740991],"dtype":"string"}]'),
  manifest('[{"name":"w","shape":[1099511627776],"dtype":"string"}]'),
  manifest(`[{"name":"${"a/".repeat(50_000)}b","shape":[16],"dtype":"float32"}]`),
  manifest("[]", `[${Array(100_000).fill('"w"').join()}]`),
  `{"modelTopology":${"[".repeat(200_000)}`,
  '{"__proto__":{"modelTopology":{}},"modelTopology":{"node":[{"name":"__proto__","op":"constructor"}]},"weightsManifest":[]}',
].map(encode);
