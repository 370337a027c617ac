/** A model is the same from files, modules and base64, with weights in each of the stored forms. */
import { readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadTfjs as loadHere, openModel } from "kiln-ml/node";
import { loadTfjs, type TfjsModel, type TfjsTensor } from "kiln-ml/tfjs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { GraphWriter } from "./graph.ts";

const graph = new GraphWriter();
const x = graph.input([1, 2], [1, 2]);
graph.output(graph.node("MatMul", [x, graph.constant([2, 2], [1, 2, 3, 4])]));
const { json, bytes } = graph.model(true);

async function resultOf(model: TfjsModel): Promise<number[]> {
  const y = await model.run({
    in_0: { type: "float32", dims: [1, 2], data: Float32Array.of(1, 2) },
  });
  return Array.from((y[graph.outputs[0]!] as TfjsTensor).data as Float32Array);
}

const base64 = Buffer.from(bytes).toString("base64");
const text = JSON.stringify(json);

test("modules, base64, scripts and files by name", async () => {
  const script = text.replace("shard1of1.bin", "shard1of1.js");
  const js = new TextEncoder().encode(`!function(){module.exports="${base64}"}();`);
  const files = (model: string, name: string, shard: Uint8Array) =>
    new Map([
      ["m/model.json", new TextEncoder().encode(model)],
      [`m/${name}`, shard],
    ]);
  const sources = [
    { model: { default: json }, weights: [{ default: base64 }] },
    {
      model: text,
      weights: [bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)],
    },
    files(text, "group1-shard1of1.bin", bytes),
    files(script, "group1-shard1of1.js", js),
    [new File([text], "model.json"), new File([bytes as BlobPart], "group1-shard1of1.bin")],
  ];
  for (const source of sources)
    assert.equal(await resultOf(await loadTfjs(source as never, { target: "js" })), [7, 10]);
});

test("files without folders tell two shards apart, or are refused", async () => {
  const graph = new GraphWriter();
  const x = graph.input([1], [1]);
  const sum = graph.node("Add", [x, graph.constant([1], [10])]);
  graph.output(graph.node("Mul", [sum, graph.constant([1], [2])]));
  const { json, bytes } = graph.model();
  const made = structuredClone(json) as { weightsManifest: object[] };
  const [{ weights }] = made.weightsManifest as [{ weights: object[] }];
  made.weightsManifest = ["a/w.bin", "b/w.bin"].map((path, i) => ({
    paths: [path],
    weights: [weights[i]!],
  }));
  const model: [string, Uint8Array] = [
    "model.json",
    new TextEncoder().encode(JSON.stringify(made)),
  ];
  const [first, second] = [bytes.slice(0, 4), bytes.slice(4)];
  const error = await loadTfjs(new Map([model, ["w.bin", first]])).catch((e: Error) => e);
  assert.is(
    (error as Error).message,
    "model.json: the shards a/w.bin and b/w.bin would both be the file w.bin\n  give the files under the paths that the model has for them",
  );
  const whole = new Map([model, ["a/w.bin", first], ["b/w.bin", second]]);
  const loaded = await loadTfjs(whole, { target: "js" });
  const data = Float32Array.of(1);
  const y = await loaded.run({ in_0: { type: "float32", dims: [1], data } });
  assert.equal([...(y[graph.outputs[0]!] as TfjsTensor).data], [22]);
});

test("outputs have the types that the signature declares", async () => {
  const graph = new GraphWriter();
  graph.output(graph.node("Shape", [graph.input([2, 3], [0, 0, 0, 0, 0, 0])]));
  const { json, bytes } = graph.model();
  const { outputs } = (json as { signature: { outputs: Record<string, object> } }).signature;
  const [name] = graph.outputs;
  Object.assign(outputs[name!]!, { dtype: "DT_INT32", tensorShape: { dim: [{ size: "2" }] } });
  const model = await loadTfjs({ model: json, weights: [bytes] }, { target: "js" });
  assert.equal(model.outputs, [{ name, type: { kind: "tensor", type: "int32", shape: [2] } }]);
});

test("a path, and openModel", async () => {
  const folder = await mkdtemp(join(tmpdir(), "kiln-tfjs-"));
  try {
    const path = join(folder, "model.json");
    await writeFile(path, text);
    await writeFile(join(folder, "group1-shard1of1.bin"), bytes);
    assert.equal(readdirSync(folder).length, 2);
    const phases = new Set<string>();
    const onProgress = ({ phase }: { phase: string }) => phases.add(phase);
    assert.equal(await resultOf(await loadHere(path, { target: "js", onProgress })), [7, 10]);
    assert.equal([...phases], ["load", "ready"]);
    const model = await openModel(path, { targets: ["js"] });
    assert.equal(model.inputs[0], { name: "in_0", dtype: "f32", shape: [null, null] });
    const y = await model.run({ in_0: { data: Float32Array.of(1, 2), shape: [1, 2] } });
    assert.equal([...y[graph.outputs[0]!]!.data], [7, 10]);
    await model.dispose();
    await rm(join(folder, "group1-shard1of1.bin"));
    const error = await loadHere(path).catch((e: Error) => e);
    assert.match(
      (error as Error).message,
      /^model\.json: the shard group1-shard1of1\.bin is missing\n/,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("weights in 8 and 16 bits and in half precision", async () => {
  const stored = (dtype: string, more: object, shard: Uint8Array) => {
    const model = structuredClone(json) as { weightsManifest: { weights: object[] }[] };
    Object.assign(model.weightsManifest[0]!.weights[0]!, { quantization: { dtype, ...more } });
    return loadTfjs({ model, weights: [shard] }, { target: "js" });
  };
  const wide = (values: number[]) => new Uint8Array(Uint16Array.from(values).buffer);
  const affine = { scale: 0.5, min: -1 };
  assert.equal(await resultOf(await stored("uint8", affine, Uint8Array.of(4, 6, 8, 10))), [7, 10]);
  assert.equal(await resultOf(await stored("uint16", affine, wide([4, 6, 8, 10]))), [7, 10]);
  const halves = wide([0x3c00, 0x4000, 0x4200, 0x4400]);
  assert.equal(await resultOf(await stored("float16", {}, halves)), [7, 10]);
});

test.run();
