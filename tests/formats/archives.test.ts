/** Files that others made: each of the public archives loads, or is refused for a stated reason. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ArtifactError } from "@kiln-ml/artifact";
import { readNpyList, readTensors } from "@kiln-ml/formats";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { dataTest } from "../support/data.ts";
import { numbersOf } from "./read.ts";

const models = "mnist-models-and-pt-safetensors";
const micro = "gguf-safetensors-npy-micro";

const filesUnder = (folder: string, pattern: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => pattern.test(path))
    .sort();

/** Why a file of an archive is not read; the others must be. */
const refusals: readonly (readonly [end: string, reason: string])[] = [
  ["broken.pt", "offset 0: not a safetensors, PyTorch, .npy or .npz file"],
  ["/npy/empty.npy", "offset 0: not a safetensors, PyTorch, .npy or .npz file"],
  ["/npy/array_shapes.npy", "bytes stand after the array"],
  ["/npy/array_types.npy", "bytes stand after the array"],
  ["/npy/multiple.npy", "bytes stand after the array"],
  [".gguf", "offset 0: GGUF files are not read"],
];

function checkAll(folder: string, pattern: RegExp, least: number): void {
  const paths = filesUnder(folder, pattern);
  assert.ok(paths.length >= least, `${paths.length} files`);
  for (const path of paths) {
    const reason = refusals.find(([end]) => path.endsWith(end))?.[1];
    try {
      const { tensors } = readTensors(readFileSync(join(folder, path)), { file: path });
      assert.not(reason, `${path} is read`);
      if (!path.endsWith("empty.safetensors")) assert.ok(Object.keys(tensors).length > 0, path);
    } catch (error) {
      assert.instance(error, ArtifactError, `${path}: ${error}`);
      const { message } = error as Error;
      assert.ok(reason !== undefined && message.includes(reason), message);
    }
  }
}

dataTest("every PyTorch and safetensors fixture is read or refused", models, (folder) =>
  checkAll(folder, /\.(pt|pth|safetensors)$/, 58),
);

dataTest("every safetensors, npy and GGUF fixture is read or refused", micro, (folder) =>
  checkAll(folder, /\.(safetensors|npy|gguf)$/, 17),
);

/** Files of a name and the numbers they are known to hold: dtype, shape, the first elements. */
// biome-ignore format: one tensor a row
const known: readonly (readonly [file: string, tensor: string, type: string, ...numbers: number[]])[] = [
  ["bfloat16", "tensor", "bf16[3]", 1.5, -2.5, 3.5],
  ["float16", "tensor", "f16[3]", 1.5, -2.25, 3.125],
  ["float32", "tensor", "f32[4]", 1, 2.5, Math.fround(-3.7), 0],
  ["float64", "tensor", "f64[3]", 1.1, 2.2, 3.3],
  ["int64", "tensor", "i32[4]", 100, -200, 300, 0],
  ["int32", "tensor", "i32[3]", 10, 20, -30],
  ["int16", "tensor", "i32[3]", 1000, -2000, 3000],
  ["int8", "tensor", "i8[4]", 127, -128, 0, 50],
  ["uint8", "tensor", "u8[4]", 0, 128, 255, 42],
  ["bool", "tensor", "bool[5]", 1, 0, 1, 1, 0],
  ["scalar", "tensor", "f32[]", 42],
  ["empty", "tensor", "f32[0]"],
  ["special_values", "tensor", "f32[5]", Number.NaN, Infinity, -Infinity, 0, 1],
  ["tensor_2d", "tensor", "f32[3,2]", 1, 2, 3, 4, 5, 6],
  ["legacy_uncloned_views", "tensor1", "f32[10]", 10, 11, 12],
  ["legacy_uncloned_views", "tensor2", "f32[10]", 50, 51, 52],
  ["legacy_with_offsets", "tensor3", "f32[5]", 3, Math.fround(3.1), Math.fround(3.2)],
  ["simple_legacy", "bias", "f32[2]", 1, 1],
  ["state_dict", "running_var", "f32[3]", 1, 1, 1],
];

dataTest("fixtures hold the numbers their names tell", models, (folder) => {
  const paths = filesUnder(folder, /test_data\/.*\.pt$/);
  for (const [file, name, type, ...numbers] of known) {
    const path = paths.find((p) => p.endsWith(`/${file}.pt`)) ?? assert.unreachable(file);
    const t = readTensors(readFileSync(join(folder, path as string))).tensors[name]!;
    assert.is(`${t.dtype}[${t.shape.join(",")}]`, type, file);
    assert.equal(numbersOf(t).slice(0, numbers.length), numbers, file);
  }
});

dataTest("a configuration beside the weights is kept as it is", models, (folder) => {
  const [path] = filesUnder(folder, /weights_with_config\.pt$/);
  const { tensors, other } = readTensors(readFileSync(join(folder, path!)));
  const names = ["fc1.weight", "fc1.bias", "fc2.weight"].map((name) => `my_model.${name}`);
  assert.equal(Object.keys(tensors), names);
  const { my_config: config } = other as { readonly my_config: Readonly<Record<string, unknown>> };
  assert.is(config.d_model, 512);
  assert.is(config.some_bool, true);
  assert.equal(config.some_list_str, ["hello", "world"]);
});

dataTest("several arrays in one file are read one after the other", micro, (folder) => {
  const list = (end: string) => {
    const [path] = filesUnder(folder, new RegExp(`${end}\\.npy$`));
    return readNpyList(readFileSync(join(folder, path!)));
  };
  assert.equal(
    list("array_shapes").map((a) => a.shape),
    [[], [0], [1], [2, 1], [8, 1], [2, 2], [2, 2, 1]],
  );
  assert.equal(
    list("multiple").map((a) => a.dtype),
    ["f32", "i32", "i32"],
  );
  assert.throws(
    () => list("array_types"),
    /tensor "4": element 0 is -20000000000, which i32 cannot hold/,
  );
});

test.run();
