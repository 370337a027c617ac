/** `kiln compile --target native`: a program as a folder of C that depends on nothing. */
import { mkdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { writeFileAtomic } from "@kiln-ml/artifact/node";
import { settings } from "../devices/settings.ts";
import { entryName, isLanguageModel } from "./compile-entries.ts";
import { bytesText, weightBytes } from "./extents.ts";
import { short } from "./failure.ts";
import { exportsOf, frontOf, isGraph, loadModel, modelOf } from "./model.ts";
import { inFewBits } from "./quantize.ts";
import { standaloneOf } from "./standalone/files.ts";
import { say } from "./terminal.ts";
import { type Parsed, UsageError } from "./usage.ts";

const lanesGiven = ["4", "8", "16"];

/** Throws UsageError for what no folder of C can be. */
function checkOptions(script: string, out: string, values: Parsed["values"]): number {
  if (/\.kiln$/i.test(out))
    throw new UsageError(
      `kiln compile: --target native writes a folder of C, and ${short(out)} is a file\n  give --out a folder, such as net`,
    );
  for (const name of ["tuning", "adapter", "no-weights"])
    if (values[name] !== undefined)
      throw new UsageError(`kiln compile: --${name} is not for --target native`);
  if (isLanguageModel(script))
    throw new UsageError(
      `kiln compile: --target native takes one function, and ${short(script)} is a language model`,
    );
  const lanes = values.lanes ?? "8";
  if (typeof lanes !== "string" || !lanesGiven.includes(lanes))
    throw new UsageError(
      `kiln compile: --lanes must be one of ${lanesGiven.join(", ")}, got ${lanes}`,
    );
  return Number(lanes);
}

export async function compileStandalone(
  script: string,
  out: string,
  values: Parsed["values"],
): Promise<number> {
  const lanes = checkOptions(script, out, values);
  const exports = isGraph(script) ? {} : await exportsOf("compile", script, values);
  if (exports.entries !== undefined)
    throw new UsageError(
      `kiln compile: --target native takes one function, and ${short(script)} exports entries\n  export a model`,
    );
  const given = isGraph(script)
    ? await loadModel("compile", script, values)
    : await modelOf(script, exports);
  const name = typeof values.name === "string" ? values.name : basename(resolve(out));
  settings.target = "js";
  const front = await frontOf(script);
  const { model, told } = await inFewBits(front, entryName(given.name), given, values);
  const artifact = await front.exportArtifact(model.fn as (...args: unknown[]) => unknown, {
    inputs: model.inputs,
    target: "native",
    features: [`lanes-${lanes}`],
    name: typeof values.name === "string" ? values.name : model.name,
  });
  const embed = values.embed === true;
  const { files, prefix, runBytes } = standaloneOf(artifact, { name, lanes, embed });
  await mkdir(out, { recursive: true });
  for (const [file, bytes] of files) await writeFileAtomic(join(out, file), bytes);
  const { plan, kernels } = artifact;
  const counts = { steps: plan.steps.length, kernels: kernels.length, lanes };
  if (values.json) {
    const sizes = Object.fromEntries([...files].map(([file, { length }]) => [file, length]));
    const weights = weightBytes(artifact);
    const named = { out, name: artifact.name, prefix, ...counts };
    const quantized = told && { quantized: told.json };
    const result = { ...named, files: sizes, weights, runBytes, ...quantized };
    say(`${JSON.stringify(result, null, 2)}\n`);
    return 0;
  }
  const sizes = [...files].map(([file, { length }]) => `${file} ${bytesText(length)}`);
  say(
    `wrote ${out}: ${artifact.name} as C of ${lanes} lanes, ${counts.steps} steps, ${counts.kernels} kernels; a run takes ${bytesText(runBytes)}\n  ${sizes.join(", ")}\n  build it: make -C ${out}\n${told?.text ?? ""}`,
  );
  return 0;
}
