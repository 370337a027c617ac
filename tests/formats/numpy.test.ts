/** What is written as .npy and .npz comes back, in any order of elements and bytes that NumPy has. */
import { readNpy, readNpyList, readNpz, writeNpy, writeNpz } from "@kiln-ml/formats";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { anyTensors } from "../artifact/arbitrary.ts";
import { bytesOf, little } from "../fuzz/pickle-text.ts";
import { zipOf } from "../fuzz/zip-text.ts";
import { runs } from "../support/setup.ts";
import { constant, fixture, numbersOf } from "./read.ts";

const npy = (descr: string, fortran: boolean, shape: string, data: Uint8Array): Uint8Array => {
  const order = fortran ? "True" : "False";
  const header = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}, }`;
  return bytesOf(0x93, "NUMPY", 1, 0, little(header.length, 2), header, data);
};

test("whatever is written comes back, but for bf16, which NumPy lacks", () => {
  fc.assert(
    fc.property(anyTensors, fc.boolean(), (tensors, compress) => {
      const kept = Object.fromEntries(
        Object.entries(tensors).filter(([name, t]) => t.dtype !== "bf16" && isFileName(name)),
      );
      const read = readNpz(writeNpz(kept, { compress }));
      assert.equal(read, kept);
      for (const t of Object.values(kept)) assert.equal(readNpy(writeNpy(t)), t);
    }),
    { numRuns: runs(50) },
  );
});

/** Names that a zip may hold. */
const isFileName = (name: string): boolean =>
  name !== "" && !/[\\\0]|^\/|^[A-Za-z]:/.test(name) && !name.split("/").includes("..");

test("the elements begin at a multiple of 64, as NumPy aligns them", () => {
  const bytes = writeNpy(constant("f32", [3], [1, 2, 3]));
  assert.is(bytes.length, 64 + 64 + 12);
  assert.is(readNpy(bytes).data.buffer, bytes.buffer);
});

test("equal arrays are equal files", () => {
  const arrays = { a: constant("i32", [2], [1, -1]), b: constant("bool", [], [1]) };
  assert.equal(writeNpz(arrays), writeNpz(arrays));
});

test("Fortran order becomes row-major for elements of any width", () => {
  const shape = [2, 3, 2];
  const byFirstAxis = [0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11];
  for (const [descr, dtype] of [
    ["|u1", "u8"],
    ["<f2", "f16"],
    ["<i4", "i32"],
    ["<f8", "f64"],
  ] as const) {
    const { data } = constant(dtype, shape, byFirstAxis);
    const read = readNpy(npy(descr, true, "(2, 3, 2)", data));
    assert.equal(
      numbersOf(read),
      Array.from({ length: 12 }, (_, i) => i),
      descr,
    );
  }
});

test("big-endian elements are swapped", () => {
  assert.equal(numbersOf(readNpy(npy(">i2", false, "(2,)", bytesOf(1, 2, 0xff, 0xfe)))), [258, -2]);
  assert.equal(
    numbersOf(readNpy(npy(">u8", false, "(1,)", bytesOf(0, 0, 0, 0, 0, 0, 1, 0)))),
    [256],
  );
});

test("arrays saved one after the other are read one after the other", () => {
  const files = ["version1.npy", "version2.npy", "version3.npy"].map(fixture);
  const arrays = readNpyList(bytesOf(...files));
  assert.is(arrays.length, 3);
  for (const a of arrays) assert.equal(numbersOf(a), [-1.5, -0.5, 0.5, 1.5, 2.5, 3.5]);
});

test("archives with 64-bit sizes, or with a comment, are read", () => {
  const bytes = writeNpy(constant("u8", [2], [5, 6]));
  const most = 2 ** 32 - 1;
  const extra = bytesOf(
    9,
    9,
    2,
    0,
    0,
    0,
    1,
    0,
    24,
    0,
    little(bytes.length, 8),
    little(bytes.length, 8),
    little(0, 8),
  );
  const large = { name: "a.npy", bytes, size: most, packedSize: most, header: most, extra };
  for (const file of [
    zipOf([large], { large: true }),
    zipOf([{ name: "a.npy", bytes }], { comment: bytesOf("PK", 5, 6, new Uint8Array(30)) }),
  ])
    assert.equal(numbersOf(readNpz(file).a!), [5, 6]);
});

test("headers of Python 2 are read", () => {
  const header = '{"descr": "<i4", "fortran_order": False, "shape": (2L, 1L)}';
  const bytes = bytesOf(
    0x93,
    "NUMPY",
    1,
    0,
    little(header.length, 2),
    header,
    little(7, 4),
    little(8, 4),
  );
  assert.equal(numbersOf(readNpy(bytes)), [7, 8]);
});

test.run();
