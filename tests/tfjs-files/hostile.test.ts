/**
 * Files that are damaged or made to hurt are refused, and the message says where and what to do.
 */
import { ArtifactError, GraphError } from "@kiln-ml/ir";
import { loadTfjs } from "kiln-ml/tfjs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { GraphWriter } from "./graph.ts";

interface Json {
  modelTopology: { node: Record<string, unknown>[]; library: { function: object[] } };
  weightsManifest: { paths: string[]; weights: Record<string, unknown>[] }[];
  signature: Record<string, Record<string, { name: string }>>;
}

/** x · w, with something changed. */
async function fails(
  change: (json: Json) => void,
  message: string,
  bytes?: Uint8Array,
  Class: new (message: string) => Error = ArtifactError,
): Promise<void> {
  const graph = new GraphWriter();
  const x = graph.input([2, 2], [1, 2, 3, 4]);
  graph.output(graph.node("MatMul", [x, graph.constant([2, 2], [1, 0, 0, 1])]));
  const made = graph.model();
  const json = structuredClone(made.json) as Json;
  change(json);
  try {
    const model = await loadTfjs({ model: json, weights: [bytes ?? made.bytes] }, { target: "js" });
    const data = Float32Array.of(1, 2, 3, 4);
    await model.run({ in_0: { type: "float32", dims: [2, 2], data } });
  } catch (error) {
    assert.instance(error, Class);
    assert.is((error as Error).message, message);
    return;
  }
  assert.unreachable(message);
}

const nothing = () => {};
const set = (change: (node: Record<string, unknown>) => void) => (json: Json) => {
  change(json.modelTopology.node.find((n) => n.op === "MatMul")!);
};
const firstWeight = (json: Json) => json.weightsManifest[0]!.weights[0]!;

test("shards that are too short or too long", async () => {
  await fails(
    nothing,
    'model.json: shards group1-shard1of1.bin: 15 bytes, but the weight "const_1" ends at 16\n  copy all of the shards again: one is cut short, or of another model',
    new Uint8Array(15),
  );
  await fails(
    nothing,
    "model.json: shards group1-shard1of1.bin: 17 bytes, but the weights end at 16\n  the shards are of another model, or joined in another order",
    new Uint8Array(17),
  );
});

test("shapes, types and names of weights", async () => {
  await fails((json) => {
    firstWeight(json).shape = [2 ** 30, 2 ** 30];
  }, "model.json: weightsManifest[0].weights[0] has the shape [1073741824,1073741824], more than memory holds");
  await fails((json) => {
    firstWeight(json).shape = [2, -2];
  }, "model.json: weightsManifest[0].weights[0].shape[1] is -2, not a count");
  await fails((json) => {
    firstWeight(json).dtype = "float8";
  }, 'model.json: weightsManifest[0].weights[0] gives "const_1" the type "float8", which is unknown');
  await fails((json) => {
    firstWeight(json).name = "other";
  }, 'model.json: modelTopology.node[1] (Const "const_1") has no weight of that name in the manifest\n  convert the model again');
});

test("paths of shards that leave the folder", async () => {
  for (const path of [
    "../secret",
    "/etc/passwd",
    "a/../../b",
    "https://example.com/w",
    "a\\b",
    "w?x",
    "%2e%2e/w",
    "",
  ])
    await fails(
      (json) => {
        json.weightsManifest[0]!.paths = [path];
      },
      `model.json: weightsManifest[0].paths[0] is ${JSON.stringify(path)}, which is no path below the folder of the model`,
    );
});

test("graphs that do not hang together", async () => {
  await fails(
    set((node) => {
      node.input = ["in_0", "missing"];
    }),
    'model.json: modelTopology.node[2] (MatMul "MatMul_2") needs "missing", which is no node, input or weight',
  );
  await fails(
    set((node) => {
      node.input = ["in_0", "Identity_3"];
    }),
    'model.json: graph "": nodes need each other: Identity "Identity_3", MatMul "MatMul_2"',
  );
  await fails(
    set((node) => {
      node.name = "in_0";
    }),
    'model.json: modelTopology.node[2] is a second node named "in_0"',
  );
});

test("ops and attributes that are not known are named", async () => {
  await fails(
    set((node) => {
      node.op = "Frobnicate";
    }),
    "tfjs: an op is not supported: Frobnicate ×1 (MatMul_2)",
    undefined,
    GraphError,
  );
  await fails(
    set((node) => {
      node.op = "StringSplit";
    }),
    "tfjs: an op is not supported: StringSplit ×1 (MatMul_2): strings have no dtype",
    undefined,
    GraphError,
  );
  await fails(
    set((node) => {
      node.attr = { sparsity: { f: 0.5 } };
    }),
    "MatMul MatMul_2: attribute sparsity is unknown, not one of transpose_a, transpose_b, grad_a, grad_b\n  it would be left unread: convert the model with ops of TensorFlow.js",
    undefined,
    GraphError,
  );
});

test("functions that call themselves", async () => {
  await fails((json) => {
    const node = {
      name: "again",
      op: "PartitionedCall",
      input: ["x"],
      attr: { f: { func: { name: "f" } } },
    };
    json.modelTopology.library.function = [
      {
        signature: { name: "f", inputArg: [{ name: "x" }], outputArg: [{ name: "y" }] },
        nodeDef: [node],
        ret: { y: "again:output:0" },
      },
    ];
    const call = json.modelTopology.node.find((n) => n.op === "MatMul")!;
    Object.assign(call, { op: "PartitionedCall", attr: { f: { func: { name: "f" } } } });
  }, 'model.json: modelTopology calls "f" in PartitionedCall "again", which calls itself');
});

test("texts that are no model", async () => {
  const refused = async (source: unknown, pattern: RegExp) => {
    try {
      await loadTfjs(source as never);
    } catch (error) {
      assert.instance(error, ArtifactError);
      assert.match((error as Error).message, pattern);
      return;
    }
    assert.unreachable(String(pattern));
  };
  await refused({ model: "{", weights: [] }, /^model.json: is no JSON: /);
  const broken = '{"a":\u0001\n\n"b"}';
  await refused({ model: broken, weights: [] }, /^model.json: is no JSON: .*\n {2}give the model/);
  await refused({ model: "[]", weights: [] }, /^model.json: has no modelTopology/);
  await refused(
    { model: { modelTopology: {} }, weights: [] },
    /^model.json: has no weightsManifest/,
  );
  await refused(new Map([["a.bin", new Uint8Array(1)]]), /^loadTfjs: no file is a model.json\n/);
  await refused(7, /^loadTfjs: takes the URL of a model.json/);
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  await refused(
    { model: `{"modelTopology":${deep},"weightsManifest":[]}`, weights: [] },
    /modelTopology is a list/,
  );
});

test.run();
