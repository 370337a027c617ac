/** safetensors: files of other writers are read, damaged ones refused verbatim, and anything written comes back. */
import { existsSync } from "node:fs";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { readSafetensors, writeSafetensors } from "../../packages/artifact/src/index.ts";
import { skip } from "../support/skip.ts";
import { readTarGz } from "../support/tar.ts";
import { anyTensors } from "./arbitrary.ts";
import { isRefused, refusal } from "./sample.ts";

/** A file with this header, as text or JSON, and so many data bytes 0, 1, 2, …. */
function file(header: unknown, dataBytes = 0): Uint8Array {
  const text = typeof header === "string" ? header : JSON.stringify(header);
  const json = new TextEncoder().encode(text);
  const bytes = new Uint8Array(8 + json.length + dataBytes);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 8);
  for (let i = 0; i < dataBytes; i++) bytes[8 + json.length + i] = i;
  return bytes;
}
const tensor = (dtype: unknown, shape: unknown, ...offsets: unknown[]) => ({
  dtype,
  shape,
  data_offsets: offsets,
});
const i64 = (...values: bigint[]) => {
  const bytes = file(
    { n: tensor("I64", [values.length], 0, 8 * values.length) },
    8 * values.length,
  );
  const view = new DataView(bytes.buffer, bytes.length - 8 * values.length);
  values.forEach((v, i) => {
    view.setBigInt64(8 * i, v, true);
  });
  return bytes;
};

test("each dtype of Kiln is read under its name", () => {
  const names = "F64 F32 F16 BF16 I32 U32 I8 U8 BOOL".split(" ");
  const read = names.map(
    (n) => readSafetensors(file({ x: tensor(n, [0], 0, 0) })).tensors.x!.dtype,
  );
  assert.equal(read, ["f64", "f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool"]);
});

test("I64 narrows to i32", () => {
  const { n } = readSafetensors(i64(0n, -1n, 2147483647n, -2147483648n)).tensors;
  assert.is(n!.dtype, "i32");
  assert.equal([...new Int32Array(n!.data.buffer)], [0, -1, 2147483647, -2147483648]);
});

test("I64 that i32 cannot hold is refused", () => {
  assert.is(
    refusal(() => readSafetensors(i64(1n, 2147483648n), "w")),
    'w: tensor "n": element 1 is 2147483648, which i32 cannot hold',
  );
});

test("a Buffer is read as any bytes are, and data are no Buffers", () => {
  const bytes = Buffer.alloc(200).subarray(1);
  const whole = writeSafetensors({ x: { dtype: "f32", shape: [1], data: new Uint8Array(4) } });
  bytes.set(whole);
  const { x } = readSafetensors(bytes.subarray(0, whole.length)).tensors;
  assert.is(x!.data.constructor, Uint8Array);
  assert.is(x!.data.byteOffset % 4, 0);
});

test("metadata are text by key", () => {
  assert.equal(readSafetensors(file({ __metadata__: { format: "pt" } })).metadata, {
    format: "pt",
  });
});

const kiln = "F64 F32 F16 BF16 I64 I32 U32 I8 U8 BOOL";
// biome-ignore format: one hostile header a row
const cases: readonly [header: unknown, dataBytes: number, message: string][] = [
  [[], 0,                                        "the header is [], not an object"],
  [{ x: 1 }, 0,                                  'tensor "x": 1, not an object'],
  [{ x: tensor("I16", [2], 0, 4) }, 4,           `tensor "x": dtype "I16" is not one of those Kiln has: ${kiln}`],
  [{ x: tensor("F8_E4M3", [2], 0, 2) }, 2,       `tensor "x": dtype "F8_E4M3" is not one of those Kiln has: ${kiln}`],
  [{ x: tensor("toString", [2], 0, 2) }, 2,      `tensor "x": dtype "toString" is not one of those Kiln has: ${kiln}`],
  [{ x: tensor("U8", [-1], 0, 1) }, 1,           'tensor "x": shape [-1] is not a list of at most 32 sizes'],
  [{ x: tensor("U8", [0.5], 0, 1) }, 1,          'tensor "x": shape [0.5] is not a list of at most 32 sizes'],
  [{ x: tensor("U8", ["1"], 0, 1) }, 1,          'tensor "x": shape ["1"] is not a list of at most 32 sizes'],
  [{ x: tensor("U8", [2 ** 53], 0, 1) }, 1,      'tensor "x": shape [9007199254740992] is not a list of at most 32 sizes'],
  [{ x: tensor("U8", Array(33).fill(1), 0, 1) }, 1, 'tensor "x": shape a list of 33 is not a list of at most 32 sizes'],
  [{ x: tensor("U8", [2 ** 52, 2 ** 52], 0, 1) }, 1, 'tensor "x": U8[4503599627370496,4503599627370496] takes 2.028240960365167e+31 bytes, data_offsets span 1'],
  [{ x: tensor("F32", [2], 0, 4) }, 4,           'tensor "x": F32[2] takes 8 bytes, data_offsets span 4'],
  [{ x: tensor("U8", [2], 0) }, 2,               'tensor "x": data_offsets [0] is not [begin, end]'],
  [{ x: tensor("U8", [2], -1, 1) }, 2,           'tensor "x": data_offsets [-1,1] is not [begin, end]'],
  [{ x: tensor("U8", [2], 0, 3) }, 2,            'tensor "x": data_offsets [0,3] do not lie in the 2 bytes of data'],
  [{ x: tensor("U8", [2], 2, 0) }, 2,            'tensor "x": data_offsets [2,0] do not lie in the 2 bytes of data'],
  [{ x: tensor("U8", [2], 0, 2), y: tensor("U8", [2], 1, 3) }, 3, 'tensor "y" begins at 1, the tensors before it end at 2'],
  [{ x: tensor("U8", [1], 0, 1), y: tensor("U8", [1], 2, 3) }, 3, 'tensor "y" begins at 2, the tensors before it end at 1'],
  [{ x: tensor("U8", [1], 0, 1) }, 2,            "tensors end at 1 of 2 bytes of data"],
  [{ x: tensor("BOOL", [3], 0, 3) }, 3,          'tensor "x": element 2 is 2, a BOOL is 0 or 1'],
  [{ toString: tensor("U8", [0], 0, 0) }, 0,     'tensor "toString": the name is that of a property of every object'],
  ['{"__proto__": 1}', 0,                        'tensor "__proto__": the name is that of a property of every object'],
  ['{"a": {}, "\\u0061": {}}', 0,                'key "a" stands twice'],
  [{ __metadata__: 1 }, 0,                       "__metadata__ is 1, not an object"],
  [{ __metadata__: { a: 1 } }, 0,                '__metadata__ "a" is 1, not a string'],
];

for (const [header, dataBytes, message] of cases)
  test(`a hostile header is refused: ${message}`, () => {
    assert.is(
      refusal(() => readSafetensors(file(header, dataBytes), "w.safetensors")),
      `w.safetensors: ${message}`,
    );
  });

test("header lengths beyond the file, the format's limit or 2^53 are refused", () => {
  const withLength = (low: number, high: number) => {
    const bytes = file("{}");
    new DataView(bytes.buffer).setUint32(0, low, true);
    new DataView(bytes.buffer).setUint32(4, high, true);
    return refusal(() => readSafetensors(bytes));
  };
  assert.is(
    withLength(3, 0),
    "safetensors: the header says 3 bytes, the file has 2 after its length",
  );
  assert.is(
    withLength(100_000_001, 0),
    "safetensors: the header says 100000001 bytes, more than 100000000",
  );
  assert.is(
    withLength(0, 2 ** 32 - 1),
    "safetensors: the header says 18446744069414584000 bytes, more than 100000000",
  );
  assert.is(
    refusal(() => readSafetensors(new Uint8Array(7))),
    "safetensors: 7 bytes, fewer than the 8 of the header's length",
  );
});

test("any tensors come back, each aligned to its element", () => {
  fc.assert(
    fc.property(anyTensors, fc.nat(9), (tensors, shift) => {
      const bytes = writeSafetensors(tensors, { by: "kiln" });
      const moved = new Uint8Array(bytes.length + shift);
      moved.set(bytes, shift);
      const read = readSafetensors(moved.subarray(shift));
      assert.equal(read, { tensors, metadata: { by: "kiln" } });
      assert.is((8 + new DataView(bytes.buffer).getUint32(0, true)) % 8, 0);
      for (const t of Object.values(read.tensors))
        if (t.dtype === "f64") assert.is(t.data.byteOffset % 8, 0);
    }),
  );
});

test("writing refuses names and data that no reader accepts", () => {
  const one = { dtype: "u8", shape: [1], data: new Uint8Array(1) } as const;
  assert.is(
    refusal(() => writeSafetensors({ x: { ...one, shape: [2] } })),
    'writeSafetensors: tensor "x": u8[2] takes 2 bytes, its data have 1',
  );
  assert.is(
    refusal(() => writeSafetensors({ __metadata__: one })),
    'writeSafetensors: tensor "__metadata__": the name is reserved',
  );
});

test("a file flipped, cut or replaced anywhere is read or refused", () => {
  const bytes = writeSafetensors({
    w: { dtype: "f32", shape: [2, 1], data: new Uint8Array(8) },
    mask: { dtype: "bool", shape: [3], data: new Uint8Array([0, 1, 1]) },
  });
  for (let n = 0; n < bytes.length; n++)
    assert.ok(
      isRefused(() => readSafetensors(bytes.subarray(0, n))),
      `length ${n}`,
    );
  for (let i = 0; i < bytes.length; i++)
    for (let bit = 0; bit < 8; bit++)
      isRefused(() => readSafetensors(bytes.with(i, bytes[i]! ^ (1 << bit))));
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(20), (json, n) => {
      isRefused(() => readSafetensors(file(json, n)));
      isRefused(() => readSafetensors(file({ x: json }, n)));
    }),
  );
});

const data = process.env.KILN_DATA ?? "../shared/data";
const archives = [
  `${data}/mnist-models-and-pt-safetensors.tar.gz`,
  `${data}/gguf-safetensors-npy-micro.tar.gz`,
];
const present = archives.every((a) => existsSync(a));
const whenPresent = (name: string, body: () => void) =>
  present ? test(name, body) : skip(name, "no shared data");

whenPresent("files by PyTorch, burn and IREE are read to the last byte", () => {
  let count = 0;
  for (const archive of archives)
    for (const [name, bytes] of readTarGz(archive)) {
      if (!name.endsWith(".safetensors")) continue;
      const { tensors, metadata } = readSafetensors(bytes, name);
      const again = readSafetensors(writeSafetensors(tensors, metadata));
      assert.equal(Object.keys(again.tensors).sort(), Object.keys(tensors).sort());
      for (const [key, t] of Object.entries(tensors))
        assert.ok(Buffer.from(again.tensors[key]!.data).equals(t.data), `${name} ${key}`);
      count++;
    }
  assert.is(count, 9);
});

whenPresent("the MNIST weights have the shapes of the model", () => {
  const files = readTarGz(archives[0]!);
  const path = "tracel-ai+burn/examples/import-model-weights/weights/mnist.safetensors";
  const { tensors } = readSafetensors(files.get(path)!);
  const shapes = Object.entries(tensors).map(([k, t]) => `${k} ${t.dtype}[${t.shape}]`);
  assert.equal(shapes.filter((s) => s.includes("weight") || s.includes("batches")).sort(), [
    "conv1.weight f32[8,1,3,3]",
    "conv2.weight f32[16,8,3,3]",
    "conv3.weight f32[24,16,3,3]",
    "fc1.weight f32[32,11616]",
    "fc2.weight f32[10,32]",
    "norm1.num_batches_tracked i32[]",
    "norm1.weight f32[24]",
    "norm2.num_batches_tracked i32[]",
    "norm2.weight f32[10]",
  ]);
});

test.run();
