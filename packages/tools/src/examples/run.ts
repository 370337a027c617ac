/**
 * Runs examples as a user does, each in a process of its own, and says of each in one line what it reached and how long it took.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

/** How long an example may take, in seconds: one that hangs fails. */
const limits = { quick: 300, full: 3600 };

export async function runExample(example: Example, mode: "quick" | "full"): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-example-"));
  const args = (example[mode] ?? []).map((arg) => arg.replaceAll("{folder}", folder));
  const flags = ["--conditions=@kiln-ml/source", "--import", "tsx", example.script, ...args];
  const started = performance.now();
  try {
    const { code, out, err } = await finished(flags, folder, limits[mode]);
    const seconds = (performance.now() - started) / 1000;
    const result = out.trimEnd().split("\n").at(-1) ?? "";
    const failure =
      code === 0
        ? missed(example, out, mode)
        : `exit code ${code}: ${err.trim().split("\n").at(-1) ?? ""}`;
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
  folder: string,
  limitSeconds: number,
): Promise<Finished> {
  const child = spawn(process.execPath, flags, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1", KILN_EXAMPLE_OUT: folder },
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

/** Where the number that an example printed last misses its bound, or is not there. */
export function missed(
  { number, reaches }: Example,
  out: string,
  mode: "quick" | "full",
): string | undefined {
  const found = [...out.matchAll(new RegExp(number, "gm"))].at(-1)?.[1];
  const result = out.trimEnd().split("\n").at(-1) ?? "";
  if (found === undefined) return `no line has ${String(number)}, the last is: ${result}`;
  const [sign, bound]: Bound = reaches[mode];
  const value = Number(found);
  const holds = sign === ">=" ? value >= bound : value <= bound;
  return holds ? undefined : `${found} is not ${sign} ${bound}: ${result}`;
}

/** Runs all, `jobs` at once, in the order of the list; `tell` hears of each as it ends. */
export async function runExamples(
  list: readonly Example[],
  mode: "quick" | "full",
  jobs: number,
  tell: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const left = [...list];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const outcome = await runExample(next, mode);
      outcomes.push(outcome);
      tell(outcome);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return outcomes;
}
