/** `kiln compile`: a model as an artifact, a file or a folder. */
import { writeArtifact } from "@kiln-ml/artifact/node";
import { settings } from "../devices/settings.ts";
import { bytesText, weightBytes } from "./extents.ts";
import { frontOf, loadModel, modelHelp } from "./model.ts";
import { say } from "./terminal.ts";
import { tuningFrom } from "./tuning.ts";
import { oneFile, parseOptions, targetFrom, UsageError } from "./usage.ts";

export const help = `Usage: kiln compile model.ts | model.onnx -o out.kiln | folder [options]

  -o, --out PATH           one file if it ends in .kiln, else a folder
  --target js|wasm|webgpu  what it is compiled for (js); the device need not be here
  --tuning FILE|cache      choices that kiln tune --guaranteed-limits found
  --adapter NAME           the adapter they were found on, where there are several
  --no-fusion              one kernel for each operation
  --no-weights             leave out the values of parameters
  --name NAME              the name of the program
  --no-check               do not type-check the script first

${modelHelp}`;

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions("compile", args, {
    out: { type: "string", short: "o" },
    target: { type: "string" },
    tuning: { type: "string" },
    adapter: { type: "string" },
    "no-fusion": { type: "boolean" },
    "no-weights": { type: "boolean" },
    name: { type: "string" },
    "no-check": { type: "boolean" },
  });
  const script = oneFile("compile", positionals);
  const out = values.out;
  if (typeof out !== "string" || out === "")
    throw new UsageError("kiln compile: needs --out\n  kiln compile model.ts -o model.kiln");
  const target = targetFrom("compile", values.target);
  // First values are computed on the CPU, whatever the artifact is for.
  settings.target = "js";
  if (values["no-fusion"]) settings.fusion = false;
  const model = await loadModel(script, !values["no-check"]);
  const front = await frontOf(script);
  const tuning = await tuningFrom(values.tuning);
  const artifact = await front.exportArtifact(model.fn as (...args: unknown[]) => unknown, {
    inputs: model.inputs,
    target: target === "auto" ? "js" : target,
    weights: !values["no-weights"],
    ...(tuning ? { tuning } : {}),
    ...(typeof values.adapter === "string" ? { adapter: values.adapter } : {}),
    name: typeof values.name === "string" ? values.name : model.name,
  });
  await writeArtifact(out, artifact);
  const { plan, kernels, modules, signature } = artifact;
  const code = modules ? `, a module of ${bytesText(modules.plain.length)}` : "";
  say(
    `wrote ${out}: ${artifact.name} for ${artifact.target}, ${plan.steps.length} steps, ${kernels.length} kernels${code}, ${signature.states.length} states, ${bytesText(weightBytes(artifact))} of weights\n`,
  );
  return 0;
}
