/**
 * Runs the examples: `npm run examples -- [--quick | --slice] [--only PATTERN] [--jobs 1] [--target
 * js|wasm|webgpu|auto]`, a line each; exits with 1 if one fails. `--quick` is a part of each, on
 * data that need no files from elsewhere; `--slice` a few steps of it, which is what a quick run on
 * webgpu comes to: its adapter is one in software, so that every machine has it. A full run where
 * `auto` puts things writes docs/examples/README.md with what it measured.
 */
import { parseArgs } from "node:util";
import { examples } from "./examples/list.ts";
import { keepMeasured, writePage } from "./examples/page.ts";
import { type ExampleTarget, exampleTargets, type Outcome, runExamples } from "./examples/run.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    slice: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    jobs: { type: "string" },
    target: { type: "string", default: "auto" },
    limit: { type: "string" },
    list: { type: "boolean", default: false },
  },
});

const only = new RegExp(values.only);
const chosen = examples.filter(({ name }) => only.test(name));
const target = values.target as ExampleTarget;
const slices = values.slice || (values.quick && target === "webgpu");
const mode = slices ? "slice" : values.quick ? "quick" : "full";
const limit = values.limit === undefined ? {} : { limit: Number(values.limit) };
// Times are those of an example that has the machine for itself.
const jobs = Number(values.jobs ?? (mode === "full" ? 1 : 2));

function tell(outcome: Outcome): void {
  const { example, seconds, result, failure, text } = outcome;
  const mark = failure ? "failed" : "ok    ";
  console.log(
    `${mark}  ${example.name.padEnd(20)} ${seconds.toFixed(1).padStart(6)} s  ${failure ?? result}`,
  );
  // As each ends: a run that is stopped loses none.
  if (mode === "full" && target === "auto") {
    keepMeasured([outcome]);
    writePage();
  }
  if (failure) console.log(text.replace(/^/gm, "        "));
}

if (values.list) for (const { name, shows } of chosen) console.log(`${name.padEnd(20)} ${shows}`);
else if (!exampleTargets.includes(target)) {
  console.error(
    `examples: there is no target ${target}\n  it is one of ${exampleTargets.join(", ")}`,
  );
  process.exitCode = 1;
} else if (chosen.length === 0) {
  console.error(`examples: none is called like ${values.only}\n  --list names them`);
  process.exitCode = 1;
} else {
  const started = performance.now();
  const outcomes = await runExamples(chosen, { mode, target, ...limit }, jobs, tell);
  const failed = outcomes.filter(({ failure }) => failure).length;
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${outcomes.length - failed} passed, ${failed} failed, ${seconds} s`);
  if (failed) process.exitCode = 1;
}
