/**
 * Programs that are typed against `onnxruntime-common` compile against the face: its values fit
 * where those types are asked for.
 */
import {
  env,
  InferenceSession,
  type InferenceSession as Session,
  Tensor,
} from "@kiln-ml/onnxruntime";
import type * as ort from "onnxruntime-common";
import { test } from "uvu";
import * as assert from "uvu/assert";

// The type checker is the test; what runs is that they exist.
const session: ort.InferenceSessionFactory = InferenceSession;
const tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => ort.Tensor =
  Tensor;
const settings: ort.Env = env as ort.Env;
const options: Session.SessionOptions = {} as ort.InferenceSession.SessionOptions;

/** As a program would write it. */
async function program(run: Session, x: Tensor.DataTypeMap["float32"]): Promise<Float32Array> {
  const feeds: Record<string, Tensor> = {};
  feeds.x = new Tensor("float32", x, [1, x.length]);
  const results: Session.OnnxValueMapType = await run.run(feeds, ["y"]);
  const type: Tensor.Type = results.y!.type;
  assert.is(type, "float32");
  return results.y!.data as Float32Array;
}

test("the names of the interface are values", () => {
  for (const value of [session.create, tensor, settings, options, program]) assert.ok(value);
  assert.is(env.versions.common, "1.30.0");
  // Programs that read a version of the web's fetch its files from a server of theirs.
  assert.is(env.versions.web, undefined);
});

test.run();
