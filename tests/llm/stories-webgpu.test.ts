/**
 * The 260K-parameter Llama on WebGPU: its greedy tokens are those of wasm, from state saved and
 * loaded, with prompts in chunks, alone and three at once. `FC_RUNS=25` compares all 200.
 */
import { readFileSync } from "node:fs";
import { Decoder, generateTokens, TextSession } from "@kiln-ml/llm";
import { openWebGpu } from "@kiln-ml/runtime/loader";
import { loadState, loadWeights, stateBytes, useDevice } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { dataFolder } from "../support/data.ts";
import { runs } from "../support/setup.ts";
import { skip } from "../support/skip.ts";
import { gpuTest, heldGpu } from "../support/webgpu.ts";
import { llama2cTensors, storiesConfig } from "./stories.ts";

const folder = dataFolder("stories260K");

async function greedy(
  session: TextSession,
  prompts: readonly (readonly number[])[],
  maxTokens: number,
): Promise<number[][]> {
  const texts = prompts.map((p) => [...p]);
  for await (const tokens of generateTokens(session, prompts, { maxTokens }))
    for (const [b, t] of tokens.entries()) if (t !== undefined) texts[b]!.push(t);
  return texts;
}

async function onSoftware(body: (net: Decoder, other: Decoder) => Promise<void>): Promise<void> {
  const device = await openWebGpu({ gpu: await heldGpu("backend=vulkan"), allowSoftware: true });
  useDevice(device);
  try {
    const file = new Uint8Array(readFileSync(`${folder}/weights/stories260K.bin`));
    const net = new Decoder(storiesConfig);
    await loadWeights(net, llama2cTensors(file));
    const other = new Decoder(storiesConfig);
    await loadState(other, await stateBytes(net));
    await body(net, other);
  } finally {
    device.destroy();
  }
}

if (folder === undefined) skip("stories260K on webgpu", "no data: stories260K");
else {
  const count = Math.min(200, runs(8));
  gpuTest("webgpu tells the story of wasm, from saved state, with its prompt in chunks", () =>
    onSoftware(async (net, saved) => {
      const wasm = new TextSession(net, { target: "wasm" });
      const [story] = await greedy(wasm, [[1]], count + 20);
      await wasm.dispose();
      const session = new TextSession(saved, { target: "webgpu", chunk: 7, capacity: 256 });
      assert.equal(await greedy(session, [story!.slice(0, 21)], count), [story]);
      if (count === 200) assert.equal(await greedy(session, [[1]], 200), [story!.slice(0, 201)]);
      await session.dispose();
    }),
  );

  const three = "webgpu tells three texts at once as wasm does";
  if (count < 24) skip(three, "compiles for half a minute: set FC_RUNS=3");
  else
    gpuTest(three, () =>
      onSoftware(async (net, saved) => {
        const [wasm, webgpu] = (
          [
            [net, "wasm"],
            [saved, "webgpu"],
          ] as const
        ).map(
          ([n, target]) => new TextSession(n, { target, batch: 3, chunk: 4, capacity: 256 }),
        ) as [TextSession, TextSession];
        const prompts = [[1], [1, 403, 407, 261, 378], [1, 410, 429, 301]];
        const texts = await greedy(wasm, prompts, count);
        assert.equal(await greedy(webgpu, prompts, count), texts);
        await wasm.dispose();
        await webgpu.dispose();
      }),
    );
}

test.run();
