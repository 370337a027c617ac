/**
 * Random kernels: the emitted text does what the IR says statement by statement, however its parts were moved.
 */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { emitJs } from "../../compiler/src/targets/js/emit.ts";
import { emitWasm } from "../../compiler/src/targets/wasm/emit.ts";
import { emitWgsl } from "../../compiler/src/targets/wgsl/emit.ts";
import { runs } from "../support/setup.ts";
import { nullDevice } from "../support/webgpu.ts";
import { anyKernel, choices, size } from "./any-kernel.ts";
import { interpret } from "./interpret.ts";
import { runJs } from "./run-js.ts";
import { runWasm } from "./run-wasm.ts";
import { problemsOf } from "./run-wgsl.ts";

const start = Array.from({ length: size }, (_, i) => (i % 5) - 2);

test("js: a random kernel does what its IR says", () => {
  fc.assert(
    fc.property(choices, (c) => {
      const k = anyKernel(c);
      const wanted = [...start];
      interpret(k, [start, wanted], { N: 3 });
      const out = Float32Array.from(start);
      const text = emitJs(k, { rounding: "each-op" });
      runJs(text, [Float32Array.from(start), out], [3]);
      assert.equal([...out], wanted, `${out}\n${wanted}\n${text.text}`);
    }),
    { numRuns: runs(300) },
  );
});

test("wasm: a random kernel without vectors does what its IR says", () => {
  fc.assert(
    fc.property(choices, (c) => {
      const k = anyKernel(c, false);
      const wanted = [...start];
      interpret(k, [start, wanted], { N: 3 });
      const out = Float32Array.from(start);
      const text = emitWasm(k);
      runWasm(text, [Float32Array.from(start), out], { N: 3 });
      assert.equal([...out], wanted, `${out}\n${wanted}\n${text.text}`);
    }),
    { numRuns: runs(200) },
  );
});

/** A store in two loops of vectors, whose place stops depending on the inner one when the outer one is unrolled. */
const cancelled = [
  [
    906, 173, 912, 467, 556, 130, 430, 639, 528, 400, 0, 974, 496, 508, 738, 305, 166, 344, 652,
    629, 29, 922, 622, 395, 211,
  ],
] as [number[]];

/** The same, of a value that still depends on the inner one. */
const cancelledOnly = [
  [
    190, 19, 204, 191, 8, 212, 0, 201, 471, 112, 488, 842, 0, 365, 143, 444, 932, 0, 0, 0, 437, 0,
    178, 93, 0, 513, 640, 468, 561, 470, 402, 791, 897, 615, 88, 468, 276, 452,
  ],
] as [number[]];

test("wgsl: a random kernel is valid", async () => {
  const device = await nullDevice();
  await fc.assert(
    fc.asyncProperty(choices, async (c) => {
      const text = emitWgsl(anyKernel(c));
      assert.equal(await problemsOf(device, text), [], text.text);
    }),
    { numRuns: runs(40), examples: [cancelled, cancelledOnly] },
  );
  device.destroy();
});

test.run();
