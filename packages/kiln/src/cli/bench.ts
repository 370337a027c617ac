/** `kiln bench`: the time of a model on random inputs, whole and by kernel. */
import { settings } from "../devices/settings.ts";
import { takeDevice } from "./device.ts";
import { madeUpArguments } from "./made-up.ts";
import { frontOf, loadModel, modelHelp } from "./model.ts";
import { helpOf, type Option, shared, tableOf } from "./options.ts";
import { Profile, rate } from "./profile.ts";
import { benchArtifact, isArtifact } from "./ready.ts";
import { say } from "./terminal.ts";
import { useTuning } from "./tuning.ts";
import {
  countFrom,
  dimsFrom,
  oneFile,
  parseOptions,
  targetFrom,
  threadsFrom,
  UsageError,
} from "./usage.ts";

export const options: readonly Option[] = [
  { name: "target", value: "auto|js|wasm|native|webgpu", help: "where it runs (auto)" },
  shared.device,
  shared.threads,
  { name: "dims", value: "N=32,T=8", help: "values of symbols; 32 for those not named" },
  shared.extents,
  shared.entry,
  shared.tuning,
  {
    name: "runs",
    value: "N",
    help: "timed runs (20), after a quarter as many that are not timed",
  },
  { ...shared.noFusion, help: "one kernel for each operation, to compare" },
  shared.json,
  shared.noCheck,
];

export const help = helpOf(
  "bench model.ts | model.onnx | model.json | model.kiln [options]",
  options,
  `Floating inputs are uniform in [-1, 1), others 0.
${modelHelp}`,
);

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions("bench", args, tableOf(options));
  const path = oneFile("bench", positionals);
  const runs = countFrom("bench", "runs", values.runs, 20);
  const dims = dimsFrom("bench", values.dims);
  settings.target = targetFrom("bench", values.target);
  settings.threads = threadsFrom("bench", values.threads);
  takeDevice("bench", values.device);
  if (values["no-fusion"]) settings.fusion = false;
  await useTuning(values.tuning);
  if (isArtifact(path)) return benchArtifact(path, dims, runs, values);
  if (values.entry !== undefined)
    throw new UsageError(`kiln bench: --entry is for artifacts, and ${path} is none`);
  const model = await loadModel("bench", path, values);
  const front = await frontOf(path);
  const compiled = front.compile(model.fn as (...args: unknown[]) => unknown, {
    inputs: model.inputs,
    name: model.name,
  });
  const feeds = madeUpArguments("bench", model.inputs, dims);
  const { compileMs, kept, firstMs } = await firstCall(async () =>
    settle(await compiled(...feeds)),
  );
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
  if (values.json) {
    const result = {
      name: model.name,
      runs,
      medianMs: median,
      fastestMs: times[0],
      compileMs,
      kept,
      firstMs,
    };
    say(`${JSON.stringify({ ...result, flops, kernels: timings }, null, 2)}\n`);
    return 0;
  }
  say(
    `${model.name}: ${median.toFixed(3)} ms a run (median of ${runs}, fastest ${times[0]!.toFixed(3)}), ${rate(flops, median)} GFLOP/s; compiled in ${compileMs.toFixed(1)} ms${kept ? " (kept from earlier)" : ""}, first run ${firstMs.toFixed(1)} ms\n${profile.print()}`,
  );
  return 0;
}

interface First {
  /** From the call to the program: tracing, what the compiler does, and placing. */
  readonly compileMs: number;
  /** Whether the program was found where compiled ones are kept, so that no stage ran. */
  readonly kept: boolean;
  /** The rest: loading, uploading, and the run. */
  readonly firstMs: number;
}

/** The first call, apart by what it takes. */
async function firstCall(call: () => Promise<void>): Promise<First> {
  const { compiled, compiling } = settings;
  let kept = true;
  let ready = 0;
  settings.compiling = (...stage) => {
    kept = false;
    compiling?.(...stage);
  };
  settings.compiled = () => {
    ready = performance.now();
  };
  const started = performance.now();
  try {
    await call();
    const ended = performance.now();
    return { compileMs: ready - started, kept, firstMs: ended - ready };
  } finally {
    delete settings.compiled;
    delete settings.compiling;
    Object.assign(settings, { ...(compiled && { compiled }), ...(compiling && { compiling }) });
  }
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
