/**
 * When values are computed and freed: what is recorded, how often it is compiled, and what memory
 * says of it.
 */
import { counts } from "@kiln-ml/tfjs";
import * as tf from "@tensorflow/tfjs-core";
import type { TargetName } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { onKiln } from "./backend.ts";

const targets: readonly TargetName[] = ["js", "wasm"];

/** What `counts` grew by. */
async function counted(work: () => unknown): Promise<{ compiled: number; runs: number }> {
  const before = counts();
  await work();
  const after = counts();
  return { compiled: after.compiled - before.compiled, runs: after.runs - before.runs };
}

for (const target of targets) {
  test(`${target}: data and dataSync give the same elements, of every dtype`, () =>
    onKiln(target, async () => {
      const a = tf.tensor1d([1.5, -2, 3]);
      const made = [tf.mul(a, 2), tf.cast(a, "int32"), tf.greater(a, 0), tf.complex(a, tf.neg(a))];
      const now = made.map((t) => t.dataSync());
      for (const [i, t] of made.entries()) assert.equal(await t.data(), now[i]);
      assert.equal(now.slice(0, 3), [
        Float32Array.of(3, -4, 6),
        Int32Array.of(1, -2, 3),
        Uint8Array.of(1, 0, 1),
      ]);
      assert.equal([...now[3]!], [1.5, -1.5, -2, 2, 3, -3]);
    }));

  test(`${target}: a loop that reads a value each step compiles one program`, () =>
    onKiln(target, async () => {
      const w = tf.variable(tf.ones([4]));
      const step = (x: number) =>
        tf.tidy(() => {
          const loss = tf.sum(tf.square(tf.sub(w, x)));
          w.assign(tf.sub(w, tf.mul(tf.sub(w, x), 0.1)) as tf.Tensor1D);
          return loss.dataSync()[0];
        });
      step(0);
      const grew = await counted(() => {
        for (let i = 1; i < 20; i++) step(i);
      });
      assert.equal(grew, { compiled: 0, runs: 19 });
      w.dispose();
    }));

  test(`${target}: what is freed before a read is not computed`, () =>
    onKiln(target, async () => {
      const x = tf.ones([8]);
      const pending = counts().pending;
      const chain = tf.tidy(() => tf.exp(tf.exp(tf.exp(x))));
      assert.is(counts().pending, pending + 3);
      chain.dispose();
      assert.is(counts().pending, pending);
      x.dispose();
    }));

  test(`${target}: the memory of an operand that is freed lives until it is read`, () =>
    onKiln(target, async () => {
      const x = tf.fill([1000], 2) as tf.Tensor1D;
      x.dataSync();
      const y = tf.square(x);
      x.dispose();
      assert.is(y.dataSync()[999], 4);
      y.dispose();
    }));

  test(`${target}: an array that is written into afterwards is not what was uploaded`, () =>
    onKiln(target, async () => {
      for (const n of [4, 400]) {
        const host = new Float32Array(n).fill(1);
        const y = tf.add(tf.tensor1d(host), 1);
        host.fill(7);
        assert.is(y.dataSync()[n - 1], 2);
        const read = y.dataSync();
        read.fill(9);
        assert.is(y.dataSync()[0], 2);
      }
    }));

  test(`${target}: a loop that reads nothing is computed in pieces`, () =>
    onKiln(target, async () => {
      let x: tf.Tensor = tf.zeros([2]);
      const grew = await counted(() => {
        for (let i = 0; i < 5000; i++) {
          const next = tf.add(x, 1);
          x.dispose();
          x = next;
        }
      });
      assert.is(grew.runs, 2);
      assert.equal(x.dataSync(), Float32Array.of(5000, 5000));
    }));
}

test("tensors and bytes stay flat over 1,000 steps", () =>
  onKiln("wasm", async () => {
    const w = tf.variable(tf.randomNormal([16, 4]));
    const x = tf.randomNormal([8, 16]);
    const optimizer = tf.train.adam(0.01);
    const step = () => {
      const cost = () => tf.mean(tf.square(tf.matMul(x, w as tf.Tensor2D))) as tf.Scalar;
      const loss = optimizer.minimize(cost, true, [w])!;
      loss.dataSync();
      loss.dispose();
    };
    for (let i = 0; i < 3; i++) step();
    const before = tf.memory();
    const grew = await counted(() => {
      for (let i = 0; i < 1000; i++) step();
    });
    assert.equal(tf.memory(), before);
    assert.equal(grew, { compiled: 0, runs: 1000 });
  }));

test("kernels without a row run on the cpu backend, and are counted", () =>
  onKiln("wasm", async () => {
    const before = counts().fallbacks.Unique ?? 0;
    const { values } = tf.unique(tf.mul(tf.tensor1d([1, 1, 2]), 3));
    assert.equal(values.dataSync(), Float32Array.of(3, 6));
    assert.is(counts().fallbacks.Unique, before + 1);
  }));

test("a kernel without a row says so where there is no cpu backend", () =>
  onKiln("wasm", () => {
    const { factory, priority } = tf.engine().registryFactory.cpu!;
    tf.removeBackend("cpu");
    try {
      assert.throws(
        () => tf.unique(tf.tensor1d([1, 1, 2])),
        (error: Error) =>
          error.message ===
          'kiln: Unique has no row here, and the cpu backend is not there to compute it\n  import "@tensorflow/tfjs-backend-cpu", or @tensorflow/tfjs, which has it',
      );
    } finally {
      tf.registerBackend("cpu", factory, priority);
    }
  }));

test("tensors move between backends", async () => {
  const x = tf.tensor1d([1, 2]);
  const y = await onKiln("wasm", () => tf.add(x, 1));
  assert.equal(tf.mul(y, 2).dataSync(), Float32Array.of(4, 6));
});

test("slices of one loop share few programs", () =>
  onKiln("wasm", async () => {
    const x = tf.range(0, 400);
    const grew = await counted(() => {
      for (let i = 0; i < 20; i++)
        assert.is(tf.sum(tf.slice1d(x as tf.Tensor1D, i * 20, 20)).dataSync()[0], 190 + 400 * i);
    });
    assert.ok(grew.compiled < 10, `${grew.compiled} programs`);
  }));

test.run();
