/** What sessions refuse, with ONNX Runtime's codes where programs look for them. */
import { InferenceSession, Tensor } from "@kiln-ml/onnxruntime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { externalModel, weights } from "./external.ts";
import { bytesOf, identity, pair, relu } from "./models.ts";

const x = (values: readonly number[], dims: readonly number[]) =>
  new Tensor("float32", [...values], [...dims]);
const good = () => x([1, 2, 3], [1, 3]);

async function refused(what: Promise<unknown>, name: string, message: string): Promise<Error> {
  try {
    await what;
  } catch (error) {
    assert.is(`${(error as Error).name}: ${(error as Error).message}`, `${name}: ${message}`);
    return error as Error;
  }
  throw new Error(`it went through, though: ${message}`);
}

const run = "failed to call OrtRun(). ERROR_CODE:";
const create = "Can't create a session. ERROR_CODE:";

test("feeds that do not fit the model", async () => {
  const s = await InferenceSession.create(relu());
  const no = (feeds: unknown, name: string, message: string) =>
    refused(s.run(feeds as never), name, message);
  await no({}, "Error", "input 'x' is missing in 'feeds'.");
  await no({ X: good() }, "Error", "input 'x' is missing in 'feeds'.");
  await no({ x: null }, "Error", "input 'x' is missing in 'feeds'.");
  const feeds = "'feeds' must be an object of tensors by the names of inputs";
  for (const wrong of [undefined, null, [], good(), 5]) await no(wrong, "TypeError", feeds);
  for (const wrong of [5, [1], Float32Array.of(1), { dims: [1, 3] }])
    await no({ x: wrong }, "TypeError", "input 'x' must be a Tensor: it has type, dims and data");
  const type = new Tensor("float64", [1, 2, 3], [1, 3]);
  const error = await no(
    { x: type },
    "SessionError",
    `${run} 2, ERROR_MESSAGE: Unexpected input data type. Actual: (tensor(double)) , expected: (tensor(float))\n  input x is float32`,
  );
  assert.is((error as unknown as { errorCode: number }).errorCode, 2);
  await no(
    { x: x([1, 2, 3], [3]) },
    "SessionError",
    `${run} 2, ERROR_MESSAGE: Invalid rank for input: x Got: 1 Expected: 2\n  x is [N,3], got [3]`,
  );
  await no(
    { x: x([1, 2, 3, 4], [1, 4]) },
    "SessionError",
    `${run} 2, ERROR_MESSAGE: Got invalid dimensions for input: x for the following indices\n index: 1 Got: 4 Expected: 3`,
  );
  const gone = good();
  gone.dispose();
  await no({ x: gone }, "SessionError", `${run} 2, ERROR_MESSAGE: input x: the tensor is disposed`);
  const shrunk = { type: "float32", dims: [2, 3], data: Float32Array.of(1) };
  await no(
    { x: shrunk },
    "SessionError",
    `${run} 2, ERROR_MESSAGE: input x has dims [2,3] and 1 elements`,
  );
});

test("fetches and options that do not fit", async () => {
  const s = await InferenceSession.create(pair());
  const feeds = { a: x([1], [1]), b: x([1], [1]) };
  const no = (second: unknown, name: string, message: string, third?: unknown) =>
    refused(s.run(feeds, second as never, third as never), name, message);
  await no(null, "TypeError", "Unexpected argument[1]: cannot be null.");
  await no(5, "TypeError", "Unexpected argument[1]: must be 'fetches' or 'options'.");
  await no([], "TypeError", "'fetches' cannot be an empty array.");
  await no([5], "TypeError", "'fetches' must be a string array or an object.");
  await no(["y"], "RangeError", "'fetches' contains invalid output name: y.");
  await no(good(), "TypeError", "'fetches' cannot be a Tensor");
  await no(["sum"], "TypeError", "'options' must be an object.", 5);
  await no({ sum: 5 }, "TypeError", "output 'sum' must be a Tensor or null");
  await no(
    { sum: new Tensor("int32", [0], [1]) },
    "SessionError",
    `${run} 2, ERROR_MESSAGE: Unexpected output data type. Actual: (tensor(int32)) , expected: (tensor(float))\n  output sum is float32`,
  );
  await no(
    { sum: x([0, 0], [2]) },
    "SessionError",
    `${run} 2, ERROR_MESSAGE: Got invalid dimensions for output: sum for the following indices\n index: 0 Got: 2 Expected: 1`,
  );
  await no(
    { terminate: true },
    "SessionError",
    `${run} 1, ERROR_MESSAGE: Exiting due to terminate flag being set to true.`,
  );
});

test("what is no model", async () => {
  const no = (model: unknown, name: string, message: string, ...rest: unknown[]) =>
    refused(InferenceSession.create(model as never, ...(rest as [])), name, message);
  const argument = "Unexpected argument[0]: must be 'path' or 'buffer'.";
  for (const wrong of [undefined, null, 5, {}, [1, 2]]) await no(wrong, "TypeError", argument);
  await no(
    new Uint8Array(0),
    "SessionError",
    `${create} 7, ERROR_MESSAGE: model: a model without an IR version, at byte 0`,
  );
  await no(
    Uint8Array.of(1, 2, 3),
    "SessionError",
    `${create} 7, ERROR_MESSAGE: model: illegal tag: field no 0 wire type 1, at byte 0`,
  );
  const wobble = { inputs: { x: [1] }, nodes: [{ op: "Wobble", inputs: ["x"] }] };
  await no(
    bytesOf(wobble),
    "SessionError",
    `${create} 9, ERROR_MESSAGE: onnx: an op is not supported: Wobble ×1 (Wobble0)`,
  );
  const gone = await refused(
    InferenceSession.create("/nowhere/model.onnx"),
    "SessionError",
    "Load model from /nowhere/model.onnx failed. ERROR_CODE: 3, ERROR_MESSAGE: File doesn't exist",
  );
  assert.is((gone as NodeJS.ErrnoException).code, "ENOENT");
  const buffer = relu().slice().buffer;
  await no(buffer, "RangeError", "'byteOffset' must be an integer.", 0.5);
  await no(buffer, "RangeError", `'byteOffset' is out of range [0, ${buffer.byteLength}).`, -1);
  await no(buffer, "RangeError", "'byteLength' must be an integer.", 0, 0.5);
  await no(
    buffer,
    "RangeError",
    `'byteLength' is out of range (0, ${buffer.byteLength}].`,
    0,
    buffer.byteLength + 1,
  );
});

test("options that ONNX Runtime refuses too", async () => {
  const no = (options: unknown, name: string, message: string) =>
    refused(InferenceSession.create(relu(), options as never), name, message);
  await no(5, "TypeError", "'options' must be an object.");
  await no(
    { graphOptimizationLevel: "most" },
    "TypeError",
    "unsupported graph optimization level: most",
  );
  await no(
    { executionProviders: ["foo"] },
    "Error",
    "no available backend found. ERR: [foo] backend not found.",
  );
  await no({ executionProviders: "cpu" }, "TypeError", "'executionProviders' must be an array.");
  await no({ logSeverityLevel: 9 }, "Error", "log severity level is not valid: 9");
  await no(
    { freeDimensionOverrides: { N: -1 } },
    "TypeError",
    "freeDimensionOverrides: N must be a non-negative integer: -1",
  );
  await no({ externalData: "w.bin" }, "TypeError", "'externalData' must be an array.");
});

test("weights that lie outside of the model's folder are not read", async () => {
  const bytes = externalModel("../w.bin");
  await refused(
    InferenceSession.create(bytes, { externalData: [{ path: "../w.bin", data: weights }] }),
    "SessionError",
    `${create} 7, ERROR_MESSAGE: model: tensor "w" lies in "../w.bin", which leaves the model's folder, at byte 27`,
  );
});

test("integers that do not fit into 32 bits are named, not wrapped", async () => {
  const s = await InferenceSession.create(identity("int64"));
  await refused(
    s.run({ x: new Tensor("int64", [2n ** 40n], [1]) }),
    "SessionError",
    `${run} 6, ERROR_MESSAGE: onnx: element 0 of x is 1099511627776, beyond the 32 bits that hold int64\n  values from -2147483648 to 2147483647 can be held`,
  );
});

test("a session whose run failed runs on", async () => {
  const s = await InferenceSession.create(relu());
  await s.run({ x: x([1], [1]) }).catch(() => {});
  assert.equal([...((await s.run({ x: good() })).y!.data as Float32Array)], [1, 2, 3]);
});

test("files that were cut or changed are errors of a session, or run", async () => {
  const bytes = externalModel();
  const options = { externalData: [{ path: "w.bin", data: weights }] };
  for (let at = 0; at < bytes.length; at++) {
    const flipped = bytes.slice();
    flipped[at]! ^= 1 + (at % 255);
    for (const hostile of [bytes.slice(0, at), flipped]) {
      try {
        const s = await InferenceSession.create(hostile, options);
        await s.release();
      } catch (error) {
        assert.is((error as Error).name, "SessionError", `byte ${at}: ${error}`);
      }
    }
  }
});

test.run();
