/**
 * Runs kernels of the native target, all from one library, each on arrays of its own and one after
 * the other.
 */
import { evaluateExtent, type KernelText } from "@kiln-ml/artifact";
import { LinearMemory } from "../../runtime/src/devices/linear-memory.ts";
import { type Compiler, findCompiler } from "../../runtime/src/devices/native/compiler.ts";
import {
  loadTable,
  makeLibrary,
  NativeExecutor,
  openPool,
} from "../../runtime/src/devices/native/executor.ts";
import type { TypedArray } from "../printers/run-js.ts";

export interface NativeCall {
  readonly text: KernelText;
  /** One for each binding, which then hold what the kernel left there. */
  readonly arrays: readonly TypedArray[];
}

const hostOf = (a: TypedArray): Uint8Array => new Uint8Array(a.buffer, a.byteOffset, a.byteLength);

/** What is right does not depend on the level, and -O1 takes half of the time. */
export async function runNative(
  calls: readonly NativeCall[],
  level: "-O1" | "-O2" = "-O1",
  found?: Compiler,
): Promise<void> {
  found ??= await findCompiler();
  const flags = found.flags.map((f) => (f === "-O2" ? level : f));
  const compiler = { ...found, flags, identity: `${found.identity} ${level}` };
  const pool = await openPool(compiler);
  const entries = calls.flatMap(({ text }) => text.phases!.map(({ entry }) => entry));
  const texts = calls.map(({ text }) => text.text);
  const table = loadTable(pool, await makeLibrary(compiler, texts, entries));
  const linear = new LinearMemory(false, 2 ** 28);
  const executor = new NativeExecutor(pool, linear, 1);
  executor.put(0, table);
  let entry = 0;
  for (const { text, arrays } of calls) {
    const addresses = arrays.map((a) => linear.reserve(a.byteLength + 64));
    const stackBytes = Math.max(64, evaluateExtent(text.stack!, {}));
    const stacks = { from: linear.reserve(stackBytes), strideBytes: 0 };
    arrays.forEach((a, i) => {
      linear.bytes.set(hostOf(a), addresses[i]!);
    });
    const words = text.phases!.flatMap(({ units }) => [
      ...[arrays.length, entry++, evaluateExtent(units, {}), 1, 1],
      ...addresses,
    ]);
    executor.run({ program: 0, words: Int32Array.from(words), stacks, light: true, times: null });
    arrays.forEach((a, i) => {
      const at = addresses[i]!;
      hostOf(a).set(linear.bytes.subarray(at, at + a.byteLength));
      linear.release(at, a.byteLength + 64);
    });
    linear.release(stacks.from, stackBytes);
  }
}
