/**
 * One input through one reader: accepted, refused as it must be, or a fault. Measures the bytes that were allocated, which a
 * garbage collection in between can only make look fewer, and time: that of the processor where other programs had it, too.
 */
import { getHeapStatistics } from "node:v8";
import { KilnError } from "@kiln-ml/ir/errors";
import type { FuzzReader } from "./readers.ts";

export interface Verdict {
  readonly outcome: "accepted" | "refused" | "fault";
  /** Why it is a fault. */
  readonly fault?: string;
  readonly elapsedMs: number;
  readonly bytes: number;
}

const longestMs = 1000;
const freeBytes = 64 * 2 ** 20;

const allocated = (): number => {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
};

/** The verdict on `bytes`. */
export async function judge(reader: FuzzReader, bytes: Uint8Array): Promise<Verdict> {
  const first = await attempt(reader, bytes);
  // A busy machine is no fault: what was slow must be slow again.
  const slow = first.elapsedMs > longestMs ? await attempt(reader, bytes) : first;
  const { error, allocatedBytes } = first;
  const elapsedMs = Math.min(first.elapsedMs, slow.elapsedMs);
  const most = freeBytes + 8 * bytes.length;
  let fault = error === undefined ? undefined : faultOf(reader, error);
  if (elapsedMs > longestMs) fault ??= `took ${elapsedMs.toFixed(0)} ms`;
  if (allocatedBytes > most)
    fault ??= `allocated ${allocatedBytes} bytes, at most ${most} are fair`;
  const outcome = fault ? "fault" : error === undefined ? "accepted" : "refused";
  return { outcome, ...(fault ? { fault } : {}), elapsedMs, bytes: allocatedBytes };
}

async function attempt(reader: FuzzReader, bytes: Uint8Array) {
  const before = allocated();
  const start = performance.now();
  const cpu = process.cpuUsage();
  let error: unknown;
  try {
    const result = reader.read(bytes);
    // Waiting for what is no promise would let other work in.
    if (result instanceof Promise) await result;
  } catch (thrown) {
    error = thrown ?? "nothing";
  }
  const { user, system } = process.cpuUsage(cpu);
  const elapsedMs = Math.min(performance.now() - start, (user + system) / 1000);
  return { error, elapsedMs, allocatedBytes: Math.max(0, allocated() - before) };
}

function faultOf({ refusal }: FuzzReader, error: unknown): string | undefined {
  if (!(error instanceof KilnError))
    return error instanceof Error ? (error.stack ?? error.message) : `threw ${String(error)}`;
  if (error.message.startsWith("bug in")) return error.message;
  const [first = "", ...more] = error.message.split("\n");
  if (!refusal.test(first)) return `the message does not name file and place: ${error.message}`;
  if (more.length > 1 || first.length > 2000) return `the message is long: ${error.message}`;
  return undefined;
}
