/**
 * `kiln run`: a script, with the target and fusion chosen from outside, and a profile at its end.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { settings } from "../devices/settings.ts";
import { takeDevice } from "./device.ts";
import { fail, short } from "./failure.ts";
import { helpOf, type Option, shared, tableOf } from "./options.ts";
import { Profile } from "./profile.ts";
import { isArtifact, runArtifact } from "./ready.ts";
import { whyRecompiled } from "./recompiles.ts";
import { isScript, loadScript } from "./script.ts";
import { note, say } from "./terminal.ts";
import { Trace } from "./trace.ts";
import { useTuning } from "./tuning.ts";
import {
  dimsFrom,
  oneFile,
  type Parsed,
  parseOptions,
  targetFrom,
  threadsFrom,
  UsageError,
} from "./usage.ts";

export const options: readonly Option[] = [
  {
    name: "target",
    value: "auto|js|wasm|native|webgpu",
    help: "where compiled functions run that name no target (auto)",
  },
  shared.device,
  shared.threads,
  { ...shared.noFusion, help: "one kernel for each operation, to compare" },
  shared.tuning,
  {
    name: "dims",
    value: "N=32,T=8",
    help: "of an artifact: values of symbols, 32 for those not named",
  },
  shared.entry,
  { name: "profile", help: "times of all kernels, when the script has ended" },
  {
    name: "trace",
    value: "FILE",
    help: "stages of the compiler and all kernels, for Perfetto",
  },
  { name: "json", help: "the profile as JSON; of an artifact, its outputs" },
  {
    name: "why-recompiled",
    help: "what is new about each program but a function's first",
  },
  shared.noCheck,
];

export const help = helpOf(
  "run script.ts | model.kiln [options] [-- arguments of the script]",
  options,
  `An artifact is run once on made-up inputs, and tells its outputs.
TypeScript needs esbuild, or a Node that strips types; types are checked if typescript is there.
A script that throws ends with its message, the place in the script, and exit code 1.
`,
);

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals, rest } = parseOptions("run", args, tableOf(options));
  const script = oneFile("run", positionals);
  settings.target = targetFrom("run", values.target);
  settings.threads = threadsFrom("run", values.threads);
  takeDevice("run", values.device);
  if (isArtifact(script)) return runArtifact(script, dimsFrom("run", values.dims), values);
  // What has another ending is data, which Node would read as a script.
  if (/\.\w+$/.test(script) && !isScript(script))
    throw new UsageError(
      `kiln run: ${script} is neither a script nor an artifact\n  ${/\.onnx$/i.test(script) ? "kiln compile makes an artifact of it, kiln bench times it" : "name a .ts, .js or .kiln file"}`,
    );
  if (values.dims !== undefined)
    throw new UsageError(`kiln run: --dims is for artifacts, and ${script} is a script`);
  if (values.entry !== undefined)
    throw new UsageError(`kiln run: --entry is for artifacts, and ${script} is a script`);
  if (values["no-fusion"]) settings.fusion = false;
  await useTuning(values.tuning);
  watch(values);
  if (values["why-recompiled"])
    settings.compiled = (...program) => {
      const why = whyRecompiled(...program);
      if (why) process.stderr.write(`${why}\n`);
    };
  process.argv = [process.argv[0]!, resolve(script), ...rest];
  // What a script throws after its first turn reaches no promise of ours.
  process.on("uncaughtException", (error) => process.exit(fail(error)));
  await loadScript(script, { check: !values["no-check"] });
  return 0;
}

/** What is told of the script's programs when it has ended. */
function watch({ profile: asked, trace: path, json }: Parsed["values"]): void {
  const profile = asked ? new Profile() : undefined;
  const file = traceFile(path);
  const trace = file === undefined ? undefined : new Trace();
  if (!profile && !trace) return;
  if (trace) settings.compiling = (stage, ms) => trace.stage(stage, ms);
  settings.profile = (program, timings) => {
    profile?.add(program, timings);
    trace?.run(program, timings);
  };
  process.once("exit", () => {
    if (profile) say(json ? profile.json() : profile.print());
    if (!trace || file === undefined) return;
    trace.write(file);
    note(`wrote ${short(file)}: ${trace.size} slices\n`);
  });
}

/** Where the trace is to be. Throws UsageError before the script runs, for what is no file. */
function traceFile(path: Parsed["values"][string]): string | undefined {
  if (typeof path !== "string") return undefined;
  const found = statSync(path, { throwIfNoEntry: false });
  if (path === "" || found?.isDirectory())
    throw new UsageError(`kiln run: --trace takes the path of a file, got ${path || '""'}`);
  return resolve(path);
}
