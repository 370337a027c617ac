/** Sessions: what they are made of, what they say of a model, what runs give, and what happens when several things happen at once. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import defaults, * as named from "@kiln-ml/onnxruntime";
import { env, InferenceSession, Tensor } from "@kiln-ml/onnxruntime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { externalModel, weights } from "./external.ts";
import { bytesOf, identity, pair, relu } from "./models.ts";

const f32 = (values: readonly number[], dims: readonly number[]) =>
  new Tensor("float32", [...values], [...dims]);

test("exports are named, and the same as the default", () => {
  for (const [name, value] of Object.entries(defaults))
    assert.is(named[name as "env"], value, name);
});

test("from bytes, a buffer, a range of one, a Blob, a path and a URL", async () => {
  const bytes = relu();
  const folder = mkdtempSync(join(tmpdir(), "kiln-onnxruntime-"));
  try {
    const path = join(folder, "model.onnx");
    writeFileSync(path, bytes);
    const padded = new Uint8Array(bytes.length + 7);
    padded.set(bytes, 3);
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    const { create } = InferenceSession;
    const sessions = await Promise.all([
      create(bytes),
      create(Uint8Array.from(bytes).buffer),
      create(padded.buffer, 3, bytes.length),
      create(padded.buffer, 3, bytes.length, { logSeverityLevel: 3 }),
      create(shared.buffer),
      create(new Blob([Uint8Array.from(bytes)])),
      create(path),
      create(pathToFileURL(path)),
      create(pathToFileURL(path).href),
    ]);
    for (const s of sessions) {
      const { y } = await s.run({ x: f32([1, -2, 3], [1, 3]) });
      assert.equal([...(y!.data as Float32Array)], [1, 0, 3]);
      await s.release();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("weights beside a model are found by its path, and taken from externalData", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-onnxruntime-"));
  try {
    writeFileSync(join(folder, "model.onnx"), externalModel());
    writeFileSync(join(folder, "w.bin"), weights);
    const fromPath = await InferenceSession.create(join(folder, "model.onnx"));
    const given = await InferenceSession.create(externalModel(), {
      externalData: [{ path: "./w.bin", data: weights }],
    });
    const listed = await InferenceSession.create(externalModel(), {
      externalData: [join(folder, "w.bin")],
    });
    for (const s of [fromPath, given, listed]) {
      const { y } = await s.run({ x: f32([1, 1], [2]) });
      assert.equal([...(y!.data as Float32Array)], [3, 5]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("names and metadata are those of the file", async () => {
  const s = await InferenceSession.create(
    bytesOf({
      inputs: { tokens: ["batch", 8], mask: [""], scale: [] },
      types: { tokens: "int64", mask: "bool" },
      nodes: [{ op: "Identity", inputs: ["tokens"] }],
    }),
  );
  assert.equal(s.inputNames, ["tokens", "mask", "scale"]);
  assert.equal(s.outputNames, ["y"]);
  assert.equal(s.inputMetadata, [
    { name: "tokens", isTensor: true, type: "int64", shape: ["batch", 8] },
    { name: "mask", isTensor: true, type: "bool", shape: [""] },
    { name: "scale", isTensor: true, type: "float32", shape: [] },
  ]);
});

test("free dimensions compile once, and those that are overridden are numbers", async () => {
  const s = await InferenceSession.create(relu());
  for (const n of [1, 4, 2]) {
    const { y } = await s.run({ x: f32(Array(3 * n).fill(-1), [n, 3]) });
    assert.equal(y!.dims, [n, 3]);
  }
  const fixed = await InferenceSession.create(relu(), { freeDimensionOverrides: { N: 2 } });
  assert.equal((fixed.inputMetadata[0] as { shape: unknown }).shape, [2, 3]);
  await fixed.run({ x: f32([1, 2, 3], [1, 3]) }).then(
    () => assert.unreachable(),
    (e) => assert.match(e.message, /index: 0 Got: 1 Expected: 2/),
  );
});

// biome-ignore format: a type a row
const elements: readonly (readonly [Tensor.Type, unknown])[] = [
  ["float32", Float32Array.of(1.5, -2)], ["float64", Float64Array.of(1.5, -2)],
  ["int8", Int8Array.of(1, -2)], ["uint8", Uint8Array.of(1, 254)],
  ["int16", Int16Array.of(1, -2)], ["uint16", Uint16Array.of(1, 65535)],
  ["int32", Int32Array.of(1, -2)], ["uint32", Uint32Array.of(1, 4294967295)],
  ["int64", BigInt64Array.of(1n, -2n)], ["uint64", BigUint64Array.of(1n, 2n)],
  ["bool", Uint8Array.of(1, 0)],
];

for (const [type, data] of elements)
  test(`${type} goes in and out in its own array`, async () => {
    const s = await InferenceSession.create(identity(type));
    const { y } = await s.run({ x: new Tensor(type, data as never, [2]) });
    assert.is(y!.type, type);
    assert.equal(y!.data, data);
    assert.is.not(y!.data, data);
    await s.release();
  });

test("float16 goes in as bits, and comes out as the engine holds them", async () => {
  const s = await InferenceSession.create(identity("float16"));
  const { y } = await s.run({ x: new Tensor("float16", Uint16Array.of(15360, 49152), [2]) });
  const out = y!.data as Uint16Array;
  assert.equal([...new Uint16Array(out.buffer, out.byteOffset, 2)], [15360, 49152]);
  const has = "Float16Array" in globalThis;
  assert.is(out.constructor.name, has ? "Float16Array" : "Uint16Array");
});

test("fetches name outputs, or give tensors that are filled", async () => {
  const s = await InferenceSession.create(pair());
  const feeds = { a: f32([1, 2], [2]), b: f32([3, 4], [2]) };
  assert.equal(Object.keys(await s.run(feeds)), ["sum", "product"]);
  assert.equal(Object.keys(await s.run(feeds, {})), ["sum", "product"]);
  assert.equal(Object.keys(await s.run(feeds, { tag: "a run" })), ["sum", "product"]);
  assert.equal(Object.keys(await s.run(feeds, ["product"])), ["product"]);
  const target = f32([0, 0], [2]);
  const results = await s.run(feeds, { product: target, sum: null });
  assert.is(results.product, target);
  assert.equal([...(target.data as Float32Array)], [3, 8]);
  assert.equal([...(results.sum!.data as Float32Array)], [4, 6]);
});

test("a feed that the model does not know is left alone", async () => {
  const s = await InferenceSession.create(relu());
  assert.equal(Object.keys(await s.run({ x: f32([1, 2, 3], [1, 3]), other: f32([1], [1]) })), [
    "y",
  ]);
});

test("one element of rank 1 is a scalar where the model declares one", async () => {
  const s = await InferenceSession.create(
    bytesOf({ inputs: { x: [2], by: [] }, nodes: [{ op: "Mul", inputs: ["x", "by"] }] }),
  );
  for (const dims of [[], [1], [1, 1]]) {
    const { y } = await s.run({ x: f32([1, 2], [2]), by: f32([3], dims) });
    assert.equal([...(y!.data as Float32Array)], [3, 6]);
  }
});

test("a tensor of another copy of the interface is taken", async () => {
  const common = await import("onnxruntime-common");
  const s = await InferenceSession.create(relu());
  const x = new common.Tensor("float32", [1, -1, 2], [1, 3]);
  assert.equal([...((await s.run({ x: x as never })).y!.data as Float32Array)], [1, 0, 2]);
});

test("elements that are elsewhere are downloaded for a run", async () => {
  const s = await InferenceSession.create(relu());
  const x = Tensor.fromGpuBuffer({ size: 12 } as never, {
    dims: [1, 3],
    download: async () => Float32Array.of(-1, 1, 2),
  });
  assert.equal([...((await s.run({ x })).y!.data as Float32Array)], [0, 1, 2]);
});

test("two sessions and many runs at once give each their own, in the feeds as they were", async () => {
  const [r, p] = await Promise.all([
    InferenceSession.create(relu()),
    InferenceSession.create(pair()),
  ]);
  const x = f32([0, 0, 0], [1, 3]);
  const runs = [...Array(6).keys()].map((i) => {
    (x.data as Float32Array).fill(i);
    const one =
      i % 2
        ? r.run({ x }).then(({ y }) => y!)
        : p.run({ a: f32([i], [1]), b: f32([2], [1]) }).then(({ product }) => product!);
    return one.then((t) => [i, ...(t.data as Float32Array)]);
  });
  assert.equal(await Promise.all(runs), [
    [0, 0],
    [1, 1, 1, 1],
    [2, 4],
    [3, 3, 3, 3],
    [4, 8],
    [5, 5, 5, 5],
  ]);
});

test("release waits for runs that were asked for, and refuses later ones", async () => {
  const s = await InferenceSession.create(relu());
  const running = s.run({ x: f32([1, 2, 3], [1, 3]) });
  const released = s.release();
  assert.equal([...((await running).y!.data as Float32Array)], [1, 2, 3]);
  await released;
  for (const again of [() => s.run({ x: f32([1, 2, 3], [1, 3]) }), () => s.release()])
    await again().then(
      () => assert.unreachable(),
      (e) => assert.is(e.message, "Session already disposed."),
    );
});

test("a session lives on when another of the same model is released", async () => {
  const bytes = relu();
  const [a, b] = await Promise.all([
    InferenceSession.create(bytes),
    InferenceSession.create(bytes),
  ]);
  await a.release();
  assert.equal(
    [...((await b.run({ x: f32([1, 2, 3], [1, 3]) })).y!.data as Float32Array)],
    [1, 2, 3],
  );
});

test("the caller's bytes may change once a session is there", async () => {
  const [bytes, own] = [externalModel(), Uint8Array.from(weights)];
  const s = await InferenceSession.create(bytes, { externalData: [{ path: "w.bin", data: own }] });
  bytes.fill(0);
  own.fill(0);
  assert.equal([...((await s.run({ x: f32([1, 1], [2]) })).y!.data as Float32Array)], [3, 5]);
});

test("options that mean nothing are told once, unless warnings are off", async () => {
  const said: string[] = [];
  const { warn } = console;
  console.warn = (text: string) => said.push(text);
  try {
    const quiet = { enableMemPattern: true, logSeverityLevel: 3 } as const;
    await InferenceSession.create(relu(), quiet);
    env.logLevel = "error";
    await InferenceSession.create(relu(), { enableMemPattern: true });
    assert.equal(said, []);
    env.logLevel = "warning";
    for (let i = 0; i < 2; i++)
      await InferenceSession.create(relu(), {
        enableMemPattern: true,
        executionProviders: ["cuda", "cpu"],
      });
    assert.equal(said, [
      "onnxruntime: the session option enableMemPattern means nothing here, and is left alone",
      "onnxruntime: there is no execution provider cuda here, and it is passed over",
    ]);
  } finally {
    console.warn = warn;
    env.logLevel = "warning";
  }
});

test("providers are tried in turn, and the CPU takes what names none of ours", async () => {
  for (const providers of [["wasm"], [{ name: "cpu", useArena: true }], ["js"], ["webgl"], []]) {
    const s = await InferenceSession.create(relu(), {
      executionProviders: providers,
      logSeverityLevel: 4,
    });
    assert.equal(
      [...((await s.run({ x: f32([-1, 2, 3], [1, 3]) })).y!.data as Float32Array)],
      [0, 2, 3],
    );
  }
});

test.run();
