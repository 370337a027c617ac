/** Every row of the table gives what tfjs's own cpu backend gives: dtypes, shapes and values. */
import { counts } from "@kiln-ml/tfjs";
import * as tf from "@tensorflow/tfjs-core";
import type { TargetName } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { rows } from "../../packages/tfjs/src/rows/index.ts";
import { onCpu, onKiln } from "./backend.ts";
import { samples } from "./samples.ts";

/** Kernels of rows that tfjs's own functions do not call, or that share data where they can. */
const unreached = new Set(["BroadcastTo", "LogSoftmax", "LogicalXor", "Reshape"]);

interface Plain {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

function plain(made: tf.Tensor | tf.Tensor[]): Plain[] {
  const list = Array.isArray(made) ? made : [made];
  return list.map((t) => ({
    dtype: t.dtype,
    shape: t.shape,
    values: [...t.dataSync()] as number[],
  }));
}

function resultsOf(): Plain[][] {
  tf.engine().startScope();
  const found = samples.map((call) => plain(call()));
  tf.engine().endScope();
  return found;
}

function agree(got: readonly Plain[], wanted: readonly Plain[], where: string): void {
  assert.is(got.length, wanted.length, where);
  for (const [i, { dtype, shape, values }] of wanted.entries()) {
    assert.is(`${got[i]!.dtype}[${got[i]!.shape}]`, `${dtype}[${shape}]`, where);
    for (const [k, v] of values.entries()) {
      const other = got[i]!.values[k]!;
      const near = Math.abs(other - v) <= 2e-5 * Math.max(1, Math.abs(v));
      assert.ok(near || Object.is(other, v), `${where} [${k}]: ${other}, not ${v}`);
    }
  }
}

for (const target of ["js", "wasm"] satisfies TargetName[])
  test(`${target}: rows give what the cpu backend gives`, async () => {
    const wanted = await onCpu(resultsOf);
    const { got, fallbacks } = await onKiln(target, () => {
      const got = resultsOf();
      return { got, fallbacks: counts().fallbacks };
    });
    assert.equal(fallbacks, {}, "what has a row runs by it");
    for (const [i, call] of samples.entries()) agree(got[i]!, wanted[i]!, String(call));
  });

test("every row has a sample", () =>
  onKiln("js", async () => {
    const called = new Set<string>();
    for (const call of samples) {
      const info = await tf.profile(() => tf.tidy(() => call()) as tf.Tensor);
      for (const name of info.kernelNames) called.add(name);
    }
    const missing = Object.keys(rows).filter((name) => !called.has(name) && !unreached.has(name));
    assert.equal(missing, []);
  }));

test.run();
