/**
 * The most memory that this process held. `getrusage` counts what the process that started it held
 * as well, since that figure outlives `exec`; Linux tells the process's own.
 */
import { readFileSync } from "node:fs";

/** Bytes of resident memory at their most. */
export function peakBytes(): number {
  const { maxRSS } = process.resourceUsage();
  if (process.platform !== "linux") return maxRSS * 1024;
  const own = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(own?.[1] ?? maxRSS) * 1024;
}
