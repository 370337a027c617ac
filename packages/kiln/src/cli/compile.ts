/** `kiln compile`: a model as an artifact, a file or a folder. */
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { TargetName } from "@kiln-ml/artifact";
import { writeArtifact } from "@kiln-ml/artifact/node";
import { settings } from "../devices/settings.ts";
import {
  checkLanguageModelOptions,
  compileEntries,
  compileLanguageModel,
  entriesOf,
  entryName,
  isLanguageModel,
  languageModelOptions,
} from "./compile-entries.ts";
import { bytesText, weightBytes } from "./extents.ts";
import { weightOptions } from "./language-model.ts";
import {
  entriesHelp,
  exportsOf,
  frontOf,
  isGraph,
  loadModel,
  modelHelp,
  modelOf,
} from "./model.ts";
import { helpOf, type Option, shared, tableOf } from "./options.ts";
import { placed } from "./placement-text.ts";
import { checkQuantize, inFewBits, quantizedOf, reportOptions } from "./quantize.ts";
import { say } from "./terminal.ts";
import { tuningFrom } from "./tuning.ts";
import { oneFile, type Parsed, parseOptions, targetsFrom, UsageError } from "./usage.ts";

export const options: readonly Option[] = [
  { name: "out", short: "o", value: "PATH", help: "one file if it ends in .kiln, else a folder" },
  {
    name: "target",
    value: "js|wasm|webgpu|native|stablehlo",
    help: "what it is compiled for; no device need be here: js,wasm for both\n(what kiln inspect finds the fastest for this machine)\nnative: a folder of C that depends on nothing, and its Makefile",
  },
  { name: "lanes", value: "4|8|16", help: "of native: elements of 32 bits in a vector (8)" },
  { name: "embed", help: "of native: weights as part of the C, not a file" },
  ...languageModelOptions,
  ...weightOptions,
  ...reportOptions,
  { name: "mesh", value: "data=4,model=2", help: "of stablehlo: the devices, by axes" },
  { name: "shard", value: "data|fsdp|tensor", help: "of stablehlo: how parameters lie on them" },
  { name: "dims", value: "N=64,…", help: "of stablehlo: a number for each symbol" },
  shared.extents,
  { ...shared.tuning, help: "choices that kiln tune --guaranteed-limits found" },
  {
    name: "adapter",
    value: "NAME",
    help: "the adapter they were found on, where there are several",
  },
  shared.noFusion,
  { name: "no-weights", help: "leave out the values of parameters" },
  { name: "name", value: "NAME", help: "the name of the program" },
  { ...shared.json, help: "what was written, as JSON" },
  shared.noCheck,
];

export const help = helpOf(
  "compile model.ts | .onnx | .json | .gguf | FOLDER -o out.kiln | folder [options]",
  options,
  modelHelp + entriesHelp,
);

/** Options that only one target takes. */
const ofTarget: Readonly<Record<string, readonly string[]>> = {
  stablehlo: ["mesh", "shard", "dims"],
  native: ["lanes", "embed"],
};

/** Throws UsageError for an option of another target than this. */
function checkTargetOptions(values: Parsed["values"], target: string | undefined): void {
  for (const [name, list] of Object.entries(ofTarget)) {
    const extra = name !== target && list.find((option) => values[option] !== undefined);
    if (extra) throw new UsageError(`kiln compile: --${extra} is for --target ${name} alone`);
  }
}

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions("compile", args, tableOf(options));
  const script = oneFile("compile", positionals);
  const out = values.out;
  if (typeof out !== "string" || out === "")
    throw new UsageError("kiln compile: needs --out\n  kiln compile model.ts -o model.kiln");
  const outside = values.target === "stablehlo";
  const targets = outside ? ["js" as const] : targetsFrom("compile", values.target);
  const [target] = targets;
  const standalone = targets.length === 1 && target === "native" && !outside;
  checkTargetOptions(values, outside ? "stablehlo" : standalone ? "native" : undefined);
  // First values are computed on the CPU, whatever the artifact is for.
  settings.target = "js";
  if (values["no-fusion"]) settings.fusion = false;
  const where = { script, out, targets, values };
  checkQuantize(values, isLanguageModel(script));
  if (!outside && !standalone && isLanguageModel(script)) return compileLanguageModel(where);
  checkLanguageModelOptions(values, script);
  if (standalone) {
    const { compileStandalone } = await import("./standalone.ts");
    return compileStandalone(script, out, values);
  }
  const exports = isGraph(script) ? {} : await exportsOf("compile", script, values);
  const front = await frontOf(script);
  if (!outside && exports.entries !== undefined) {
    const functions = entriesOf(script, exports.entries);
    if (values.quantize === undefined) return compileEntries(where, front, functions);
    const few = await quantizedOf(front, functions as never, values);
    return compileEntries({ ...where, told: few.told }, front, few.functions);
  }
  const given = isGraph(script)
    ? await loadModel("compile", script, values)
    : await modelOf(script, exports);
  const entry = entryName(given.name);
  const { model, told } = await inFewBits(front, entry, given, values);
  if (targets.length > 1)
    return compileEntries({ ...where, told }, front, { [entry]: model as never }, model.name);
  if (outside) {
    const { writeStableHlo } = await import("./stablehlo.ts");
    return writeStableHlo(front, model, out, values);
  }
  const tuning = await tuningFrom(values.tuning);
  const fn = model.fn as (...args: unknown[]) => unknown;
  const { inputs } = model;
  // Counts of a program are the same for all targets, nearly: one is compiled for them.
  const counted =
    target === "auto" && (await front.exportArtifact(fn, { inputs, target: "js", weights: false }));
  const artifact = await front.exportArtifact(fn, {
    inputs,
    target: counted ? (await placed(counted, {})).placement.target : (target as TargetName),
    weights: !values["no-weights"],
    ...(tuning ? { tuning } : {}),
    ...(typeof values.adapter === "string" ? { adapter: values.adapter } : {}),
    name: typeof values.name === "string" ? values.name : model.name,
  });
  await mkdir(dirname(resolve(out)), { recursive: true });
  await writeArtifact(out, artifact);
  const { plan, kernels, modules, signature } = artifact;
  const code = modules ? `, a module of ${bytesText(modules.plain.length)}` : "";
  if (values.json) {
    const { name, target: compiledFor } = artifact;
    const counts = { steps: plan.steps.length, kernels: kernels.length };
    const result = {
      out,
      name,
      target: compiledFor,
      ...counts,
      weightBytes: weightBytes(artifact),
      ...(told && { quantized: told.json }),
    };
    say(`${JSON.stringify(result, null, 2)}\n`);
    return 0;
  }
  say(
    `wrote ${out}: ${artifact.name} for ${artifact.target}, ${plan.steps.length} steps, ${kernels.length} kernels${code}, ${signature.states.length} states, ${bytesText(weightBytes(artifact))} of weights\n${told?.text ?? ""}`,
  );
  return 0;
}
