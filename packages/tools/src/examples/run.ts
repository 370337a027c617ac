/**
 * Runs examples as a user does, each in a process of its own, and says of each in one line what it
 * reached and how long it took.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bound, Example } from "./list.ts";

export interface Outcome {
  readonly example: Example;
  readonly seconds: number;
  /** The last line that it printed. */
  readonly result: string;
  /** Why it failed, if it did. */
  readonly failure: string | undefined;
  readonly text: string;
}

/** Where an example computes what names no target. */
export const exampleTargets = ["auto", "js", "wasm", "webgpu"] as const;
export type ExampleTarget = (typeof exampleTargets)[number];

/**
 * What `kiln run --target` does before a script: settings that every copy of the package reads. An
 * adapter in software will do for webgpu, since it is there on every machine.
 */
export const preloadOf = (target: ExampleTarget): string => {
  const settings = JSON.stringify({ target, softwareAdapter: target === "webgpu" });
  const code = `globalThis[Symbol.for("kiln-ml.settings")] = ${settings};`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
};

/** Where a process finds the driver in software that tests have, unless it is told of another. */
async function softwareDriver(): Promise<Record<string, string>> {
  if (process.env.VK_DRIVER_FILES) return {};
  const module: string = new URL("../../chromium.mjs", import.meta.url).href;
  const { unpackChromium } = await import(module);
  return unpackChromium(fileURLToPath(new URL("../../../..", import.meta.url)));
}

/** How much of an example is run. */
export type Mode = "slice" | "quick" | "full";

/** How a set of examples is run. */
export interface RunOptions {
  readonly mode: Mode;
  /** "auto" by default. */
  readonly target?: ExampleTarget;
  /** Seconds that one may take; what suits the mode by default. */
  readonly limit?: number;
}

/** How long an example may take, in seconds: one that hangs fails. */
const limits = { slice: 300, quick: 300, full: 3600 };

export async function runExample(
  example: Example,
  { mode, target = "auto", limit = limits[mode] }: RunOptions,
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-example-"));
  const args = (example[mode] ?? (mode === "slice" ? example.quick : undefined) ?? []).map((arg) =>
    arg.replaceAll("{folder}", folder),
  );
  const source = ["--conditions=@kiln-ml/source", "--import", "tsx"];
  const flags = [...source, "--import", preloadOf(target), example.script, ...args];
  // A full run is for the machine's own adapter: in software it would take hours.
  const inSoftware = target === "webgpu" && mode !== "full";
  const env = inSoftware ? await softwareDriver() : {};
  const started = performance.now();
  try {
    const { code, out, err } = await finished(flags, { ...env, KILN_EXAMPLE_OUT: folder }, limit);
    const seconds = (performance.now() - started) / 1000;
    const result = out.trimEnd().split("\n").at(-1) ?? "";
    const failure =
      code === 0
        ? missed(example, out, mode)
        : `${typeof code === "number" ? "exit code" : "ended by"} ${code}: ${err.trim().split("\n").at(-1) ?? ""}`;
    return { example, seconds, result, failure, text: out + err };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Finished {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

function finished(
  flags: readonly string[],
  env: Readonly<Record<string, string>>,
  limitSeconds: number,
): Promise<Finished> {
  const child = spawn(process.execPath, flags, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    err += text;
  });
  const timer = setTimeout(() => child.kill(), 1000 * limitSeconds);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code: code ?? signal ?? "none", out, err });
    });
  });
}

/** A few steps learn nothing yet: what they are held to is that there is a number. */
const finite: Bound = ["<=", Number.MAX_VALUE];

/** Where the number that an example printed last misses its bound, or is not there. */
export function missed(example: Example, out: string, mode: Mode): string | undefined {
  const { number, reaches } = example;
  const found = [...out.matchAll(new RegExp(number, "gm"))].at(-1)?.[1];
  const result = out.trimEnd().split("\n").at(-1) ?? "";
  if (found === undefined) return `no line has ${String(number)}, the last is: ${result}`;
  const [sign, bound]: Bound = reaches[mode] ?? (example.slice ? finite : reaches.quick);
  const value = Number(found);
  const holds = sign === ">=" ? value >= bound : value <= bound;
  return holds ? undefined : `${found} is not ${sign} ${bound}: ${result}`;
}

/** Runs all, `jobs` at once, in the order of the list; `tell` hears of each as it ends. */
export async function runExamples(
  list: readonly Example[],
  options: RunOptions,
  jobs: number,
  tell: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const left = [...list];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const outcome = await runExample(next, options);
      outcomes.push(outcome);
      tell(outcome);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return outcomes;
}
