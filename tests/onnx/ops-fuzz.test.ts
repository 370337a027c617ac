/**
 * A slice of `npm run fuzz -- --ops`: a random model of each op gives what ONNX Runtime gives.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { fuzzOps } from "../fuzz/ops/front.ts";
import { samplers } from "../fuzz/ops/samplers.ts";
import { runtimeTest } from "../support/onnxruntime.ts";

runtimeTest("random models of one node agree with ONNX Runtime", async () => {
  const count = Object.keys(samplers).length;
  const lines: string[] = [];
  const options = { seed: 4, count, only: undefined, first: 0, lenient: false };
  const agrees = await fuzzOps(options, (line) => lines.push(line));
  assert.ok(agrees, lines.join("\n"));
});

test.run();
