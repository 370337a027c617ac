/**
 * Remainders through the whole pipeline: the loop for far quotients assigns to its locals, which a constant is not.
 */
import type { Tensor } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compile } from "../../packages/kiln/src/index.ts";

test("a compiled remainder is exact for near and for far quotients", async () => {
  const x = Float32Array.of(7.5, -7.5, 5, 1e30, -3e20, 0.25, 8);
  const y = Float32Array.of(2, 2, -3, 3, 7, 1e20, 0.1);
  const rem = compile((a: Tensor, b: Tensor) => a.rem(b), { target: "wasm" });
  const got = await (await rem(x, y)).data();
  assert.equal(
    Array.from(got),
    Array.from(x, (v, i) => Math.fround(v % y[i]!)),
  );
});

test.run();
