/** `Tensor` beside that of `onnxruntime-common`: what is made of the same arguments is the same, or fails in the same class. */
import { Tensor } from "@kiln-ml/onnxruntime";
import * as common from "onnxruntime-common";
import { test } from "uvu";
import * as assert from "uvu/assert";

type Args = readonly unknown[];
type Class = new (...args: Args) => Tensor;

function madeBy(made: unknown, args: Args): unknown {
  try {
    const t = new (made as Class)(...args);
    const data = Array.isArray(t.data)
      ? t.data
      : [t.data.constructor.name, ...Array.from(t.data as Float32Array)];
    return { type: t.type, dims: [...t.dims], size: t.size, location: t.location, data };
  } catch (error) {
    return (error as Error).constructor.name;
  }
}

// biome-ignore format: one call a row
const calls: readonly Args[] = [
  ["float32", [1, 2, 3, 4], [2, 2]],
  ["float32", Float32Array.of(1, 2), [2, 1]],
  ["float64", [1.5]],
  ["int64", [1n, -2n]], ["int64", [1, -2]], ["uint64", BigUint64Array.of(7n), []],
  ["bool", [true, false]], ["bool", Uint8Array.of(1, 0), [2]],
  ["string", ["a", "b"], [2, 1]], [["a", "b"]], [[true, false, true], [3]],
  ["int8", [-1]], ["uint8", [255]], ["int16", [-1]], ["uint16", [1]], ["int32", [-1]], ["uint32", [1]],
  ["uint8", Uint8ClampedArray.of(1, 2)], [Uint8ClampedArray.of(1, 2)],
  ["float16", Uint16Array.of(15360)],
  ["uint4", Uint8Array.of(0x21), [2]], ["int4", Uint8Array.of(0x21), [2]],
  [Float32Array.of(1)], [Float64Array.of(1)], [Int8Array.of(1)], [Uint8Array.of(1)], [Int16Array.of(1)],
  [Uint16Array.of(1)], [Int32Array.of(1)], [Uint32Array.of(1)], [BigInt64Array.of(1n)], [BigUint64Array.of(1n)],
  [Float32Array.of(), [0, 3]], [Float32Array.of(1, 2, 3), [3]],
  // What does not fit.
  ["float32", [1, 2, 3], [2, 2]], ["float32", Float64Array.of(1)], ["float32", "text"], ["float32"],
  ["int32", [1], [1.5]], ["int32", [1], [-1]], ["int32", [1], "1"], ["int32", [1], ["1"]],
  ["nothing", [1]], ["string", [1, 2]], ["string", "ab"], ["int64", [1.5]], ["uint4", [1]],
  [[]], [[1, 2]], [null], [undefined], [5], [new DataView(new ArrayBuffer(4))], [{}],
  ["constructor", [1]], ["float32", null],
];

for (const args of calls)
  test(`new Tensor(${args.map((a) => JSON.stringify(a, (_, v) => (typeof v === "bigint" ? `${v}n` : v))).join(", ")})`, () => {
    assert.equal(madeBy(Tensor, args), madeBy(common.Tensor, args));
  });

test("an array that holds the type is the tensor's own, not a copy", () => {
  const data = Float32Array.of(1, 2);
  assert.is(new Tensor("float32", data).data, data);
});

test("reshape shares the elements, and refuses another size", () => {
  const t = new Tensor("int32", [1, 2, 3, 4, 5, 6], [2, 3]);
  const r = t.reshape([3, 2]);
  assert.equal(r.dims, [3, 2]);
  assert.is(r.data, t.data);
  assert.throws(() => t.reshape([4]), /does not match data length\(6\)/);
});

test("a tensor that was disposed has nothing", async () => {
  const t = new Tensor("int32", [1], [1]);
  t.dispose();
  assert.is(t.location, "none");
  assert.throws(() => t.data, /disposed/);
  assert.throws(() => t.reshape([1]), /disposed/);
  await t.getData().then(
    () => assert.unreachable(),
    (e) => assert.match(e.message, /disposed/),
  );
});

test("elements that are elsewhere are downloaded once, and freed when asked", async () => {
  const log: string[] = [];
  const buffer = { size: 8 } as never;
  const t = Tensor.fromGpuBuffer(buffer, {
    dims: [2],
    dataType: "float32",
    download: async () => {
      log.push("download");
      return Float32Array.of(1, 2);
    },
    dispose: () => log.push("dispose"),
  });
  assert.is(t.location, "gpu-buffer");
  assert.is(t.gpuBuffer, buffer);
  assert.throws(() => t.data, /not on CPU/);
  assert.throws(() => t.texture, /not stored as a WebGL texture/);
  assert.throws(() => t.reshape([1, 2]), /owns GPU resource/);
  const reading = t.getData(true);
  assert.throws(() => t.dispose(), /being downloaded/);
  assert.equal([...(await reading)], [1, 2]);
  assert.is(t.location, "cpu");
  assert.equal([...(await t.getData())], [1, 2]);
  assert.equal(log, ["download", "dispose"]);
});

test("without a way to download, elements stay where they are", async () => {
  const t = Tensor.fromGpuBuffer({ size: 4 } as never, { dims: [1] });
  assert.is(t.type, "float32");
  await t.getData().then(
    () => assert.unreachable(),
    (e) => assert.match(e.message, /downloader/),
  );
  assert.throws(
    () => Tensor.fromGpuBuffer({} as never, { dims: [1], dataType: "float64" as never }),
    /unsupported type "float64"/,
  );
});

test("a pinned buffer is taken as it is, if it holds the type", () => {
  const data = Int32Array.of(1, 2);
  const t = Tensor.fromPinnedBuffer("int32", data, [2]);
  assert.is(t.data, data);
  assert.is(t.location, "cpu-pinned");
  assert.throws(
    () => Tensor.fromPinnedBuffer("float32", data as never),
    /should be of type Float32Array/,
  );
});

test("a tensor's elements survive postMessage", () => {
  const copy = structuredClone(new Tensor("int32", [1, 2]));
  assert.equal((copy as unknown as { cpuData: Int32Array }).cpuData, Int32Array.of(1, 2));
});

test("without a canvas, images say so", async () => {
  const t = new Tensor("float32", [0, 0, 0], [1, 3, 1, 1]);
  assert.throws(() => t.toImageData(), /Can not access image data/);
  await Tensor.fromImage("data:,").then(
    () => assert.unreachable(),
    (e) => assert.match(e.message, /Can not access image data/),
  );
});

test.run();
