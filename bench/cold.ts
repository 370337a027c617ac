/**
 * `bench --cold`: what a process pays that starts from nothing, and what the second one does. Each
 * number is the median of five processes; programs are bundled first, as an application would be,
 * so that no loader of the repository is measured.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { packArtifact, type TargetName } from "@kiln-ml/artifact";
import { build } from "esbuild";
import { buildDefine } from "../packages/tools/src/build-hash.ts";
import { batchTypes, mlpStep } from "./cold/mlp.ts";
import { relaxedFlag } from "./cpu/columns.ts";
import { timingOf } from "./measure.ts";
import { bounded, type Row } from "./row.ts";

const processes = 5;
const stepGoalMs = 200;
const artifactGoalMs = 80;
const compileGoalMs = 300;
const folder = resolve("node_modules/.cache/kiln-bench/cold");

interface Outcome {
  /** From the start of the process to its line. */
  readonly elapsedMs: number;
  readonly printed: Readonly<Record<string, number>>;
}

/** What a process finds of those before it. */
type Start = "without a store" | "first start" | "second start";

async function bundle(name: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [`bench/cold/${name}.ts`],
    outfile,
    bundle: true,
    conditions: ["@kiln-ml/source"],
    external: ["webgpu", "esbuild"],
    format: "esm",
    platform: "node",
    target: "node20",
    define: buildDefine("."),
    logLevel: "error",
  });
  return outfile;
}

/**
 * One process, whose kept programs lie in the folder, or nowhere; never in the user's own cache.
 */
function once(script: string, args: readonly string[], store = "off"): Promise<Outcome> {
  return new Promise((done, fail) => {
    const start = performance.now();
    const child = spawn(process.execPath, [...relaxedFlag, script, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, KILN_CACHE: store },
    });
    let output = "";
    let errors = "";
    let elapsedMs = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      elapsedMs ||= performance.now() - start;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.on("error", fail);
    child.on("close", (code) => {
      if (code === 0) done({ elapsedMs, printed: JSON.parse(output) });
      else fail(new Error(/^.*Error: .*$/m.exec(errors)?.[0] ?? `the process ended with ${code}`));
    });
  });
}

/** A process as it starts, in a store that nobody else has; what it took from there is checked. */
async function started(script: string, args: readonly string[], start: Start): Promise<Outcome> {
  if (start === "without a store") return once(script, args);
  const folder = mkdtempSync(join(tmpdir(), "kiln-cold-"));
  try {
    const store = join(folder, "programs");
    const first = await once(script, args, store);
    const found = start === "second start" ? await once(script, args, store) : first;
    const { compiled, fromStore } = found.printed;
    const expected = found === first ? fromStore === 0 : compiled === 0 && fromStore! > 0;
    if (!expected) throw new Error(`${start}: ${compiled} compiled, ${fromStore} found`);
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Reading = (outcome: Outcome) => number;

/** Rows of several processes of one script; a script that fails is rows without a value. */
async function measured(
  base: Pick<Row, "case" | "target">,
  [script, ...args]: readonly [script: string, ...args: string[]],
  readings: readonly (readonly [metric: string, unit: string, read: Reading, most?: number])[],
  start: Start = "without a store",
): Promise<Row[]> {
  const path = await bundle(script);
  const outcomes: Outcome[] = [];
  try {
    for (let i = 0; i < processes; i++) outcomes.push(await started(path, args, start));
  } catch (error) {
    const note = (error as Error).message;
    return readings.map(([metric, unit, , most]): Row => {
      const missed = most === undefined ? {} : { goal: `≤ ${most}`, met: false };
      return { ...base, metric, unit, value: null, note, ...missed };
    });
  }
  return readings.map(([metric, unit, read, most]) => {
    const { median, spread } = timingOf(outcomes.map(read));
    return bounded({ ...base, metric, unit, value: median, spread }, most);
  });
}

const peakMib: Reading = ({ printed }) => printed.peakBytes! / 2 ** 20;

async function stepRows(target: string, threads: number): Promise<Row[]> {
  const name = `mlp step from nothing, ${threads === 1 ? "1 thread" : `${threads} threads`}`;
  const starts: readonly Start[] = ["first start", "second start"];
  const rows: Row[] = [];
  for (const start of starts)
    rows.push(
      ...(await measured(
        { case: `${name}, ${start}`, target },
        ["step", target, `${threads}`],
        [
          ["process to first loss", "ms", ({ elapsedMs }) => elapsedMs, stepGoalMs],
          ["programs compiled", "", ({ printed }) => printed.compiled!],
          ["programs found", "", ({ printed }) => printed.fromStore!],
          ["peak memory", "MiB", peakMib],
        ],
        start,
      )),
    );
  return rows;
}

/** The same step from a file, by the runtime alone. */
async function artifactRows(target: string): Promise<Row[]> {
  const file = join(folder, `mlp-${target}.kiln`);
  const artifact = await mlpStep(target as TargetName).artifact({ inputs: batchTypes });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, packArtifact(artifact));
  return measured(
    { case: "mlp step from an artifact, 1 thread", target },
    ["artifact", file],
    [
      ["process to first loss", "ms", ({ elapsedMs }) => elapsedMs, artifactGoalMs],
      ["peak memory", "MiB", peakMib],
    ],
  );
}

const compileRows = (target: string): Promise<Row[]> =>
  measured(
    { case: "50-layer mlp step", target },
    ["compile", target],
    [
      ["first compile", "ms", ({ printed }) => printed.first!, compileGoalMs],
      ["later compile", "ms", ({ printed }) => printed.warm!, compileGoalMs],
      ["peak memory", "MiB", peakMib],
    ],
  );

export async function coldRows(
  selected: (name: string) => boolean,
  target: string,
  threads: readonly number[],
): Promise<Row[]> {
  const rows: Row[] = [];
  if (selected("mlp step"))
    for (const count of target === "wasm" ? threads : [1])
      rows.push(...(await stepRows(target, count)));
  if (selected("artifact") && target !== "webgpu") rows.push(...(await artifactRows(target)));
  if (selected("compile")) rows.push(...(await compileRows(target)));
  return rows;
}
