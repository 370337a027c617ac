/** Files that PyTorch and NumPy wrote hold what Python says they hold. */
import { readTensors, readTorch, type TensorFile } from "@kiln-ml/formats";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { checkTensors, type Expected, fixture } from "./read.ts";

const expected: Readonly<Record<string, Expected>> = JSON.parse(
  new TextDecoder().decode(fixture("expected.json")),
);
const formats: readonly (readonly [RegExp, TensorFile["format"]])[] = [
  [/\.pt$/, "torch"],
  [/\.npy$/, "npy"],
  [/\.npz$/, "npz"],
];

for (const [name, tensors] of Object.entries(expected))
  test(`${name} holds what Python read`, () => {
    const file = readTensors(fixture(name), { file: name, unknown: "skip" });
    assert.is(file.format, formats.find(([pattern]) => pattern.test(name))?.[1]);
    checkTensors(file.tensors, tensors);
  });

test("what is no tensor is plain data", () => {
  for (const name of ["nested.pt", "nested.legacy.pt", "protocol4.pt"]) {
    const { other } = readTorch(fixture(name));
    assert.equal(other, {
      epoch: 3,
      lr: 0.125,
      note: "né",
      done: true,
      none: null,
      large: 2n ** 70n,
      bytes: new Uint8Array([0, 255]),
      size: [2, 3],
      device: "cpu",
      dtype: "torch.float16",
      set: [1],
      counts: { a: [1, 2] },
      scalar: 0.5,
      optimizer: { lrs: [0.1, 0.2] },
    });
  }
  assert.equal(readTorch(fixture("tar-form.pt")).other, { epoch: 5 });
});

test("plain values are the same in all protocols of pickles", () => {
  for (const protocol of [0, 1, 2, 3, 4, 5])
    assert.equal(readTorch(fixture(`plain${protocol}.pt`)).other, {
      text: "né\\ 'x'\n\u4e2d\u{1f600}",
      bytes: new Uint8Array([0, 255, 39]),
      ints: [0, 255, 65536, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, 2n ** 64n, -(2n ** 100n)],
      floats: [0.1, -0, 1e300, Infinity],
      flags: [true, false, null],
      one: [1],
      four: [1, 2, 3, 4],
      sets: [[1], [2]],
      shared: [[7], [7]],
      path: "a/b",
      args: { lr: 0.5, layers: [1, 2] },
      complex: { real: 1, imag: 2 },
      array: new Uint8Array([97, 98]),
    });
});

test("a whole module is read by its state where unknown names are skipped", () => {
  const { tensors, other } = readTorch(fixture("module.pt"), { unknown: "skip" });
  const name = "torch.nn.modules.container.Sequential";
  assert.equal((other as { readonly opaque: string }).opaque, name);
  assert.equal(Object.keys(tensors), Object.keys(readTorch(fixture("state-dict.pt")).tensors));
});

test("contiguous tensors of a stored file are views of it", () => {
  const bytes = new Uint8Array(fixture("state-dict.pt"));
  const { tensors } = readTorch(bytes);
  for (const name of ["0.weight", "0.bias", "3.weight"])
    assert.is(tensors[name]!.data.buffer, bytes.buffer, name);
});

test("a key at the top, or several below each other, choose what is read", () => {
  const names = (topLevelKey: string | string[]) =>
    Object.keys(readTorch(fixture("nested.pt"), { topLevelKey }).tensors);
  assert.equal(names("model"), ["layers.0.w", "layers.1.w", "p"]);
  assert.equal(names(["optimizer", "state", "0"]), ["step"]);
});

test("tensors that are not selected are not read", () => {
  const select = (name: string) => name.startsWith("i");
  const { tensors } = readTensors(fixture("dtypes.pt"), { select });
  assert.equal(Object.keys(tensors), ["i64", "i32", "i16", "i8"]);
  const arrays = readTensors(fixture("arrays.npz"), { select });
  assert.equal(Object.keys(arrays.tensors), ["i64"]);
});

test.run();
