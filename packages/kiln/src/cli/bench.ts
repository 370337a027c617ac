/** `kiln bench`: the time of a model on random inputs, whole and by kernel. */
import { settings } from "../devices/settings.ts";
import { madeUpArguments } from "./made-up.ts";
import { frontOf, loadModel, modelHelp } from "./model.ts";
import { Profile, rate } from "./profile.ts";
import { say } from "./terminal.ts";
import { useTuning } from "./tuning.ts";
import { countFrom, dimsFrom, oneFile, parseOptions, targetFrom, threadsFrom } from "./usage.ts";

export const help = `Usage: kiln bench model.ts [options]

  --target auto|js|wasm|webgpu  where it runs (auto)
  --threads N|auto              threads of wasm (auto: one a core, at most 8)
  --dims N=32,T=8               values of symbols; 32 for those not named
  --tuning FILE|cache           choices that kiln tune found
  --runs N                      timed runs (20), after a quarter as many that are not timed
  --no-fusion                   one kernel for each operation, to compare
  --no-check                    do not type-check the script first

Floating inputs are uniform in [-1, 1), others 0.
${modelHelp}`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions("bench", args, {
    target: { type: "string" },
    threads: { type: "string" },
    dims: { type: "string" },
    runs: { type: "string" },
    tuning: { type: "string" },
    "no-fusion": { type: "boolean" },
    "no-check": { type: "boolean" },
  });
  const path = oneFile("bench", positionals);
  const runs = countFrom("bench", "runs", values.runs, 20);
  const dims = dimsFrom("bench", values.dims);
  settings.target = targetFrom("bench", values.target);
  settings.threads = threadsFrom("bench", values.threads);
  if (values["no-fusion"]) settings.fusion = false;
  await useTuning(values.tuning);
  const model = await loadModel(path, !values["no-check"]);
  const front = await frontOf(path);
  const compiled = front.compile(model.fn as (...args: unknown[]) => unknown, {
    inputs: model.inputs,
    name: model.name,
  });
  const feeds = madeUpArguments("bench", model.inputs, dims);
  const started = performance.now();
  await settle(await compiled(...feeds));
  const first = performance.now() - started;
  for (let i = 0; i < runs / 4; i++) await settle(await compiled(...feeds));
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    await settle(await compiled(...feeds));
    times.push(performance.now() - start);
  }
  const profile = new Profile();
  const timings = await compiled.profile(...feeds);
  profile.add(model.name, timings);
  const flops = timings.reduce((sum, t) => sum + t.flops, 0);
  times.sort((a, b) => a - b);
  const median = times[runs >> 1]!;
  say(
    `${model.name}: ${median.toFixed(3)} ms a run (median of ${runs}, fastest ${times[0]!.toFixed(3)}), ${rate(flops, median)} GFLOP/s, first call ${first.toFixed(0)} ms\n${profile.print()}`,
  );
  return 0;
}

/** Waits until the results are computed, by reading the smallest of them. */
async function settle(result: unknown): Promise<void> {
  const tensors: { shape: readonly unknown[]; data(): Promise<unknown> }[] = [];
  const visit = (x: unknown): void => {
    if (typeof x !== "object" || x === null) return;
    if ("data" in x && "shape" in x) tensors.push(x as (typeof tensors)[number]);
    else Object.values(x).forEach(visit);
  };
  visit(result);
  const size = (shape: readonly unknown[]) => shape.reduce<number>((n, d) => n * Number(d), 1);
  tensors.sort((a, b) => size(a.shape) - size(b.shape));
  await tensors[0]?.data();
}
