/**
 * Large parts go through memory that both processes see, small ones and other machines through the
 * pipe; neither changes a value, and nothing stays open.
 */
import { readdirSync, readlinkSync } from "node:fs";
import { compile, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Decoder, encode } from "../../packages/xla/src/protocol.ts";
import { storeShared } from "../../packages/xla/src/shared-memory.ts";
import { fakeEngine } from "./engine.ts";

const linux = process.platform === "linux";

/** Files of shared memory that this process has open. */
function opened(): number {
  const target = (fd: string): string => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  };
  return linux
    ? readdirSync("/proc/self/fd").filter((fd) => /^\/dev\/shm/.test(target(fd))).length
    : 0;
}

for (const flags of [[], ["--unshared"]])
  test(`batches of half a megabyte there and back ${flags[0] ?? "in shared memory"}`, async () => {
    const engine = fakeEngine(flags);
    const double = compile((x: Tensor) => x.mul(2), { engine, inputs: [["N", 4]] });
    const device = await engine.open();
    assert.is(device.sharesMemory, linux && flags.length === 0);
    for (const rows of [4, 32768, 65536]) {
      const data = Float32Array.from({ length: 4 * rows }, (_, i) => i % 1021);
      const twice = (await double({ data, shape: [rows, 4] } as never)) as Tensor;
      assert.equal(
        await twice.data(),
        data.map((v) => 2 * v),
      );
    }
    assert.is(opened(), 0);
    engine.close();
  });

test("what an engine that dies held in shared memory is closed", async () => {
  const engine = fakeEngine(["--die-at-run=0"]);
  const double = compile((x: Tensor) => x.mul(2), { engine });
  const x = { data: new Float32Array(1 << 18), shape: [1 << 18] };
  try {
    await ((await double(x as never)) as Tensor).data();
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /^xla: the engine's process was ended by SIGKILL/);
  }
  assert.is(opened(), 0);
});

test("a frame mixes parts of the pipe and of shared memory", () => {
  const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => i);
  const stored = storeShared(bytes);
  const parts = [Uint8Array.of(1, 2), stored?.part ?? bytes, Uint8Array.of(3)];
  const frames: Uint8Array[][] = [];
  const decoder = new Decoder<object>((f) => frames.push([...f.parts]));
  for (const chunk of encode({ seq: 1 }, parts)) decoder.push(chunk);
  stored?.close();
  assert.equal(frames, [[Uint8Array.of(1, 2), bytes, Uint8Array.of(3)]]);
});

test.run();
