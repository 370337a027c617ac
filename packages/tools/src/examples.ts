/**
 * Runs the examples: `npm run examples -- [--quick | --slice] [--only PATTERN] [--jobs 1] [--target
 * js|wasm|webgpu|auto,…]`, a line each; exits with 1 if one fails. `--quick` is a part of each, on
 * data that need no files from elsewhere; `--slice` a few steps of it, which is what a quick run on
 * webgpu comes to: its adapter is one in software, so that every machine has it. Of several
 * targets, each example runs on all, and the end is a table of them. A full run where `auto` puts
 * things writes docs/examples/README.md with what it measured. `--pytorch results.json` runs none:
 * it takes what bench/examples/run.py wrote into that page.
 */

import { examples } from "./examples/list.ts";
import { keepMeasured, writePage } from "./examples/page.ts";
import { keepPytorch } from "./examples/pytorch.ts";
import {
  type ExampleTarget,
  exampleTargets,
  type Mode,
  type Outcome,
  runExamples,
} from "./examples/run.ts";
import { flagsOf } from "./flags.ts";

const { values } = flagsOf("npm run examples --", {
  options: {
    quick: { type: "boolean", default: false },
    slice: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    jobs: { type: "string" },
    target: { type: "string", default: "auto" },
    limit: { type: "string" },
    list: { type: "boolean", default: false },
    pytorch: { type: "string" },
  },
});

const only = new RegExp(values.only);
const chosen = examples.filter(({ name }) => only.test(name));
const targets = values.target.split(",") as ExampleTarget[];
const unknown = targets.find((target) => !exampleTargets.includes(target));

/** How much of an example a target is given. */
function modeOf(target: ExampleTarget): Mode {
  const slices = values.slice || (values.quick && target === "webgpu");
  return slices ? "slice" : values.quick ? "quick" : "full";
}

const limit = values.limit === undefined ? {} : { limit: Number(values.limit) };
// Times are those of an example that has the machine for itself.
const jobs = Number(values.jobs ?? (values.quick || values.slice ? 2 : 1));

function tell(target: ExampleTarget, outcome: Outcome): void {
  const { example, seconds, result, failure, text } = outcome;
  const mark = failure ? "failed" : "ok    ";
  const where = targets.length > 1 ? `${target.padEnd(7)} ` : "";
  console.log(
    `${mark}  ${where}${example.name.padEnd(20)} ${seconds.toFixed(1).padStart(6)} s  ${failure ?? result}`,
  );
  // As each ends: a run that is stopped loses none.
  if (modeOf(target) === "full" && target === "auto") {
    keepMeasured([outcome]);
    writePage();
  }
  if (failure) console.log(text.replace(/^/gm, "        "));
}

/** Seconds by example and target, or that one failed. */
function matrix(all: ReadonlyMap<ExampleTarget, readonly Outcome[]>): string {
  const line = (name: string, cells: readonly string[]): string =>
    name.padEnd(20) + cells.map((cell) => cell.padStart(9)).join("");
  const rows = chosen.map(({ name }) =>
    line(
      name,
      targets.map((target) => {
        const found = all.get(target)?.find(({ example }) => example.name === name);
        return !found || found.failure ? "failed" : `${found.seconds.toFixed(1)} s`;
      }),
    ),
  );
  return [line("", targets), ...rows].join("\n");
}

if (values.pytorch !== undefined) {
  const { kept, failed } = keepPytorch(values.pytorch);
  writePage();
  for (const { name, seed, error } of failed)
    console.log(`failed  ${name}, seed ${seed}: ${error}`);
  console.log(`${kept} rows in bench/results/pytorch.json, ${failed.length} runs failed`);
  if (failed.length) process.exitCode = 1;
} else if (values.list)
  for (const { name, shows } of chosen) console.log(`${name.padEnd(20)} ${shows}`);
else if (unknown !== undefined) {
  console.error(
    `examples: there is no target ${unknown}\n  it is one of ${exampleTargets.join(", ")}`,
  );
  process.exitCode = 1;
} else if (chosen.length === 0) {
  console.error(`examples: none is called like ${values.only}\n  --list names them`);
  process.exitCode = 1;
} else {
  const started = performance.now();
  const all = new Map<ExampleTarget, Outcome[]>();
  for (const target of targets) {
    const options = { mode: modeOf(target), target, ...limit };
    all.set(target, await runExamples(chosen, options, jobs, (o) => tell(target, o)));
  }
  const outcomes = [...all.values()].flat();
  if (targets.length > 1) console.log(matrix(all));
  const failed = outcomes.filter(({ failure }) => failure).length;
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${outcomes.length - failed} passed, ${failed} failed, ${seconds} s`);
  if (failed) process.exitCode = 1;
}
