/** `kiln run`: a script, with the target and fusion chosen from outside, and a profile at its end. */
import { resolve } from "node:path";
import { settings } from "../devices/settings.ts";
import { fail } from "./failure.ts";
import { Profile } from "./profile.ts";
import { loadScript } from "./script.ts";
import { say } from "./terminal.ts";
import { useTuning } from "./tuning.ts";
import { oneFile, parseOptions, targetFrom, threadsFrom } from "./usage.ts";

export const help = `Usage: kiln run script.ts [options] [-- arguments of the script]

  --target auto|js|wasm|webgpu  where compiled functions run that name no target (auto)
  --threads N|auto              threads of wasm (auto: one a core, at most 8)
  --no-fusion                   one kernel for each operation, to compare
  --tuning FILE|cache           choices that kiln tune found
  --profile                     times of all kernels, when the script has ended
  --no-check                    do not type-check the script first

TypeScript needs tsx, or a Node that strips types. Types are checked where typescript is installed.
A script that throws ends with its message, the place in the script, and exit code 1.
`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals, rest } = parseOptions("run", args, {
    target: { type: "string" },
    threads: { type: "string" },
    "no-fusion": { type: "boolean" },
    profile: { type: "boolean" },
    tuning: { type: "string" },
    "no-check": { type: "boolean" },
  });
  const script = oneFile("run", positionals);
  settings.target = targetFrom("run", values.target);
  settings.threads = threadsFrom("run", values.threads);
  if (values["no-fusion"]) settings.fusion = false;
  await useTuning(values.tuning);
  if (values.profile) {
    const profile = new Profile();
    settings.profile = (program, timings) => profile.add(program, timings);
    process.once("exit", () => say(profile.print()));
  }
  process.argv = [process.argv[0]!, resolve(script), ...rest];
  // What a script throws after its first turn reaches no promise of ours.
  process.on("uncaughtException", (error) => process.exit(fail(error)));
  await loadScript(script, { check: !values["no-check"] });
  return 0;
}
