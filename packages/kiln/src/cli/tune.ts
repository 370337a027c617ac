/**
 * `kiln tune`: times the compiler's choices for a model's kernels on the adapter, and keeps the
 * fastest.
 */
import { existsSync } from "node:fs";
import { settings } from "../devices/settings.ts";
import { addTuning, readTuning, tuningCache } from "../tune/table-file.ts";
import type { TunedKernel } from "../tune/tune.ts";
import { takeDevice } from "./device.ts";
import { short } from "./failure.ts";
import { madeUpArguments } from "./made-up.ts";
import { frontOf, loadModel, modelHelp } from "./model.ts";
import { helpOf, type Option, shared, tableOf } from "./options.ts";
import { table } from "./table.ts";
import { note, say } from "./terminal.ts";
import { countFrom, dimsFrom, oneFile, parseOptions, targetFrom, UsageError } from "./usage.ts";

export const options: readonly Option[] = [
  {
    name: "target",
    value: "webgpu|wasm|js",
    help: "what is tuned (webgpu); wasm and js have no choices today",
  },
  shared.device,
  { name: "dims", value: "N=32,T=8", help: "values of symbols; 32 for those not named" },
  shared.extents,
  {
    name: "guaranteed-limits",
    help: "kernels as kiln compile writes them, for any WebGPU device",
  },
  { name: "rounds", value: "N", help: "times each choice is run (7); the median counts" },
  {
    name: "most",
    value: "N",
    help: "time at most N choices of a kernel, the most promising (10)",
  },
  {
    name: "output",
    value: "FILE",
    help: "where results are added (a file in the user's cache folder)",
  },
  { name: "all", help: "list the time of every choice" },
  shared.json,
  shared.noCheck,
];

export const help = helpOf(
  "tune model.ts | model.onnx | model.json [options]",
  options,
  `Nothing reads the results unasked: kiln run, bench and compile take --tuning FILE|cache,
compile() takes { tuning: await readTuning(FILE) }. They hold for this adapter, driver and
version of the compiler; elsewhere they are left alone, and a line says so.
${modelHelp}`,
);

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions("tune", args, tableOf(options));
  const path = oneFile("tune", positionals);
  const rounds = countFrom("tune", "rounds", values.rounds, 7);
  const most = countFrom("tune", "most", values.most, 10);
  const dims = dimsFrom("tune", values.dims);
  const target = targetFrom("tune", values.target ?? "webgpu");
  if (target === "auto") throw new UsageError("kiln tune: needs a target, auto is none");
  takeDevice("tune", values.device);
  settings.target = target;
  const output = typeof values.output === "string" ? values.output : tuningCache();
  // What is there already must be readable before anything is timed.
  if (existsSync(output)) await readTuning(output);
  const model = await loadModel("tune", path, values);
  const front = await frontOf(path);
  const compiled = front.compile(model.fn as (...args: unknown[]) => unknown, {
    inputs: model.inputs,
    name: model.name,
    target,
  });
  const { kernels, table: found } = await compiled.tune(
    madeUpArguments("tune", model.inputs, dims),
    {
      rounds,
      most,
      guaranteedLimits: values["guaranteed-limits"] === true,
      observe: ({ name }) => process.stderr.isTTY && note(`${name} is tuned\n`),
    },
  );
  if (kernels.length > 0) await addTuning(found, output);
  if (values.json) {
    say(`${JSON.stringify({ name: model.name, kernels, output }, null, 2)}\n`);
    return 0;
  }
  if (kernels.length === 0) {
    say(`${model.name}: no kernel has a choice on ${target}\n`);
    return 0;
  }
  const { adapter, limits } = found.entries[0]!;
  say(
    `${model.name} on ${adapter}, ${limits}\n${listing(kernels, values.all === true)}wrote ${short(output)}\n`,
  );
  return 0;
}

const times = (ms: number): string => ms.toPrecision(3);

export function listing(kernels: readonly TunedKernel[], all: boolean): string {
  const head = ["kernel", "default", "ms", "best", "ms", "gain"];
  const rows = kernels.map((k) => [
    k.name,
    k.standard,
    times(k.standardMs),
    k.best,
    times(k.bestMs),
    `${((k.standardMs / k.bestMs - 1) * 100).toFixed(1)}%`,
  ]);
  const lines = [table([head, ...rows])];
  for (const k of kernels) {
    const shown = k.tried.filter((t) => all || t.refused !== undefined);
    if (shown.length === 0 && k.settled) continue;
    lines.push(`${k.name}: ${k.key}`);
    const [least, most] = k.standardRange.map(times);
    if (!k.settled)
      lines.push(`  the default took ${least} to ${most}: too unsteady to tell, so it stays`);
    for (const t of shown)
      lines.push(`  ${t.option}: ${t.ms === undefined ? `left out, ${t.refused}` : times(t.ms)}`);
  }
  return `${lines.join("\n")}\n`;
}
