/**
 * The options of a session: what means something here is read, the rest is named once and left alone. Values are checked where ONNX
 * Runtime checks them.
 */
import { quietestOf } from "./env.ts";
import type { InferenceSession } from "./inference-session.ts";
import { warnOnce } from "./warn.ts";

type Options = InferenceSession.SessionOptions;

/** Options that are read; `true` where any value will do because there is nothing to choose. */
const read: ReadonlySet<string> = new Set([
  "executionProviders",
  "externalData",
  "freeDimensionOverrides",
  "graphOptimizationLevel",
  "intraOpNumThreads",
  "logSeverityLevel",
  "preferredOutputLocation",
]);

const levels: readonly unknown[] = ["disabled", "basic", "extended", "layout", "all"];

const isExtent = (d: unknown): boolean => Number.isSafeInteger(d) && (d as number) >= 0;

/** Throws TypeError or Error for a value that ONNX Runtime refuses too. */
export function checkSessionOptions(options: Options): void {
  const { graphOptimizationLevel: level, freeDimensionOverrides: dims = {} } = options;
  if (level !== undefined && !levels.includes(level))
    throw new TypeError(`unsupported graph optimization level: ${String(level)}`);
  if (typeof dims !== "object" || dims === null)
    throw new TypeError("'freeDimensionOverrides' must be an object.");
  for (const [name, d] of Object.entries(dims))
    if (!isExtent(d))
      throw new TypeError(`freeDimensionOverrides: ${name} must be a non-negative integer: ${d}`);
  const { logSeverityLevel: severity } = options;
  if (severity !== undefined && !(isExtent(severity) && severity <= 4))
    throw new Error(`log severity level is not valid: ${String(severity)}`);
}

/** Names, once, what was asked for and does not happen. */
export function tellIgnored(options: Options, passed: readonly string[]): void {
  const quietest = quietestOf(options.logSeverityLevel);
  const unread = Object.entries(options).filter(([k, v]) => v !== undefined && !read.has(k));
  for (const [name] of unread)
    warnOnce(`the session option ${name} means nothing here, and is left alone`, quietest);
  for (const name of passed)
    warnOnce(`there is no execution provider ${name} here, and it is passed over`, quietest);
  const places = options.preferredOutputLocation;
  const asked = typeof places === "object" ? Object.values(places) : [places ?? "cpu"];
  if (asked.some((place) => place !== "cpu" && place !== "cpu-pinned"))
    warnOnce("outputs are in the memory of the CPU, wherever they are preferred", quietest);
}
