/**
 * Threads are shared by the devices of a process: each device's runs keep to the stacks that it
 * has.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { LinearMemory } from "../../runtime/src/devices/linear-memory.ts";
import { findCompiler } from "../../runtime/src/devices/native/compiler.ts";
import {
  loadTable,
  makeLibrary,
  NativeExecutor,
  openPool,
} from "../../runtime/src/devices/native/executor.ts";
import { nativeTest } from "../support/native.ts";

/** Writes the stack that each unit was given, and takes long enough for all threads to come. */
const recording = `void recording(char *mem, const int32_t *args, long from, long to, long stack) {
  for (long unit = from; unit < to; unit++) {
    for (volatile int i = 0; i < 20000; i++) {}
    store_int(mem + args[0] + 4 * unit, stack);
  }
}`;

nativeTest("runs of a device use its own threads, though another has more", async () => {
  const compiler = await findCompiler();
  const pool = await openPool(compiler);
  const linear = new LinearMemory(true, 2 ** 24);
  const table = loadTable(pool, await makeLibrary(compiler, [recording], ["recording"]));
  const units = 250;
  const out = linear.reserve(4 * units);
  const [two, six, three] = [2, 6, 3].map((n) => new NativeExecutor(pool, linear, n));
  assert.equal([two!.threads, six!.threads, three!.threads], [2, 6, 3]);
  for (const executor of [two!, six!, three!]) {
    executor.put(0, table);
    const words = Int32Array.from([1, 0, units, 1, units, out]);
    const stacks = { from: 4096, strideBytes: 64 };
    executor.run({ program: 0, words, stacks, light: true, times: null });
    const used = new Set(new Int32Array(linear.bytes.buffer, out, units));
    const most = 4096 + 64 * (executor.threads - 1);
    assert.ok(
      [...used].every((at) => at >= 4096 && at <= most),
      `${executor.threads} threads: stacks at ${[...used]}`,
    );
  }
});

test.run();
