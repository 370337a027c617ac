/**
 * What a token of a decoder takes: kernels of a step, by target. A Llama of five layers in the
 * shape of stories260K, with grouped heads and with heads of their own, in floats and in few bits.
 */
import { Decoder, decoderConfig, TextSession } from "@kiln-ml/llm";
import { openWebGpu } from "@kiln-ml/runtime/loader";
import { nn, useDevice } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { heldGpu } from "../support/webgpu.ts";
import { storiesJson } from "./stories.ts";

async function kernelsOf(
  target: "wasm" | "webgpu",
  kvHeads: number,
  bits: 4 | 8 | undefined,
): Promise<number> {
  const config = decoderConfig({
    ...storiesJson,
    intermediate_size: 192,
    num_key_value_heads: kvHeads,
  });
  const net = new Decoder(config);
  if (bits) nn.quantizeWeights(net, { bits });
  const session = new TextSession(net, { target });
  const { plan } = await session.programs().decode.artifact({ target, weights: false });
  await session.dispose();
  return plan.steps.length;
}

/** The layers', and those around them. */
const five = (layer: number, around: number): number => 5 * layer + around;

test("a token on wasm", async () => {
  for (const [kvHeads, bits, most] of [
    [4, undefined, five(11, 3)],
    [8, undefined, five(11, 3)],
    [4, 4, five(11, 3)],
  ] as const)
    assert.is(await kernelsOf("wasm", kvHeads, bits), most, `${kvHeads} heads, ${bits} bits`);
});

test("a token on webgpu", async () => {
  const device = await openWebGpu({ gpu: await heldGpu("backend=null"), allowSoftware: true });
  useDevice(device);
  for (const [kvHeads, bits, most] of [
    [4, undefined, five(8, 2)],
    [8, undefined, five(8, 2)],
    // A kernel of queries beside keys and values in words would bind more than eight tensors.
    [4, 4, five(9, 2)],
  ] as const)
    assert.is(await kernelsOf("webgpu", kvHeads, bits), most, `${kvHeads} heads, ${bits} bits`);
  device.destroy();
});

test.run();
