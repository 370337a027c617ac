/**
 * Weights of few bits on webgpu: words and scales are read by the product's kernel, and are what
 * they stand for.
 */
import { quantizedOf } from "@kiln-ml/ir";
import { test } from "uvu";
import { gpuTest } from "../support/webgpu.ts";
import { agrees, open, programOf, x } from "./agree.ts";

gpuTest("products with weights of 4 and 8 bits are those of their floats", async () => {
  const device = await open();
  for (const [bits, rows, inputs, activations] of [
    [4, 1, 256, "f32"],
    [4, 9, 70, "f32"],
    [8, 2, 256, "i8"],
  ] as const) {
    const blocks = Math.ceil(inputs / 32);
    const words = x("w", [33, blocks * bits], "u32");
    const scales = x("s", [33, blocks]);
    const a = x("a", [rows, inputs]);
    // Small words leave high bits empty: a few are spread over all fields.
    const spread = words.add(7).mul(0x1357_9bdf);
    const w = quantizedOf({ words: spread, scales }, { bits }, inputs);
    const y = w.product(a, { activations }).div(1000);
    await agrees(device, `${bits} bits, ${rows}×${inputs}`, programOf([a, words, scales], y));
  }
  device.destroy();
});

test.run();
