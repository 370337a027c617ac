/** `kiln inspect`: what a model or an artifact is made of, in sections that are chosen by name. */
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Artifact } from "@kiln-ml/artifact";
import { readArtifact, writeFileAtomic } from "@kiln-ml/artifact/node";
import type { Stage } from "@kiln-ml/compiler";
import { graphPasses } from "@kiln-ml/compiler";
import type { Inspection } from "@kiln-ml/inspector";
import { inspectionPage } from "@kiln-ml/inspector/node";
import type { TargetOption } from "../devices/session.ts";
import { settings } from "../devices/settings.ts";
import { costs, kernels, plan, signature } from "./artifact-text.ts";
import { takeDevice } from "./device.ts";
import { entryOf, severalIn, tellEntries } from "./entries-text.ts";
import type { Dims } from "./extents.ts";
import { short } from "./failure.ts";
import { madeUpArguments } from "./made-up.ts";
import { frontOf, isGraph, loadModel, modelHelp } from "./model.ts";
import { ofFile } from "./named-file.ts";
import { helpOf, type Option, shared, tableOf } from "./options.ts";
import { placementText } from "./placement-text.ts";
import { isScript } from "./script.ts";
import { groups, kernelIr, programText } from "./stage-text.ts";
import { say } from "./terminal.ts";
import {
  checkDims,
  dimsFrom,
  oneFile,
  type Parsed,
  parseOptions,
  targetFrom,
  threadsFrom,
  UsageError,
} from "./usage.ts";

const passes = [...new Set(graphPasses.map((p) => p.name))];
const ofArtifact = ["signature", "kernels", "plan", "costs", "placement"] as const;
const sections = ["graph", ...passes, "groups", "kernel-ir", ...ofArtifact];
const usual = ["signature", "groups", "plan", "costs", "placement"];

export const options: readonly Option[] = [
  {
    name: "stage",
    value: "NAME[,NAME…]",
    help: `sections to print, or "all" (${usual.join(",")}):
graph ${passes.join(" ")}
groups kernel-ir ${ofArtifact.join(" ")}`,
  },
  { name: "print-after", value: "PASS", help: "the IR after a pass, the same as --stage PASS" },
  { name: "target", value: "js|wasm|webgpu", help: "what a model is compiled for (js)" },
  shared.noFusion,
  { name: "dims", value: "N=32,T=8", help: "values of symbols, for sizes, costs and placement" },
  {
    name: "threads",
    value: "N",
    help: "threads of wasm that placement reckons with (one a core, at most 8)",
  },
  shared.extents,
  shared.entry,
  shared.device,
  { name: "adapter", value: "KIND", help: "reckon with this one: none, integrated, discrete" },
  { ...shared.json, help: "all of it as JSON, in the form of @kiln-ml/inspector" },
  {
    name: "html",
    value: "FILE",
    help: "the same as a page to look at: one file, which opens anywhere",
  },
  {
    name: "profile",
    help: "with times of the kernels, on made-up inputs, for --json and --html",
  },
  shared.noCheck,
];

export const help = helpOf(
  "inspect model.ts | model.onnx | model.json | model.kiln | folder [options]",
  options,
  `An artifact has the sections ${ofArtifact.join(", ")}.
Entries of one that has several are listed, or shown one by one with --entry and --target.
${modelHelp}`,
);

interface Inspected {
  readonly artifact: Artifact;
  readonly stages: readonly (readonly [string, Stage])[];
  readonly print: (stage: Stage) => string;
}

export async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions("inspect", args, tableOf(options));
  const path = oneFile("inspect", positionals);
  const isModel = isScript(path) || isGraph(path);
  const wanted = chosen(values.stage ?? values["print-after"], isModel);
  const dims = dimsFrom("inspect", values.dims);
  const target = targetFrom("inspect", values.target);
  const adapter = adapterFrom(values.adapter);
  settings.threads = threadsFrom("inspect", values.threads);
  takeDevice("inspect", values.device);
  if (values["no-fusion"]) settings.fusion = false;
  if (isModel && values.entry !== undefined)
    throw new UsageError(`kiln inspect: --entry is for artifacts, and ${short(path)} is none`);
  const several = isModel ? undefined : await severalIn(path);
  if (several && values.entry === undefined && Object.keys(several.entries).length > 1)
    return tellEntries(several, values);
  const named = several && entryOf(several, target, values.entry);
  if (values.json || values.html !== undefined) {
    const inspection = isModel
      ? await inspectModel(path, target, dims, values)
      : await inspectFile(named ?? (await readNamed(path)), dims);
    checkDims(
      "inspect",
      dims,
      inspection.dims.map((d) => d.name),
    );
    return tell(inspection, values);
  }
  const inspected = isModel
    ? await compileModel(path, target === "auto" ? "js" : target, values)
    : { artifact: named ?? (await readNamed(path)), stages: [], print: () => "" };
  const { artifact } = inspected;
  checkDims(
    "inspect",
    dims,
    artifact.signature.dims.map((d) => d.name),
  );
  const texts = wanted.map(async (name) =>
    name === "placement" ? placementText(artifact, dims, adapter) : section(name, inspected, dims),
  );
  say((await Promise.all(texts)).join("\n"));
  return 0;
}

/**
 * The sections asked for. Throws UsageError for one that does not exist, or not for an artifact.
 */
function chosen(value: string | boolean | undefined, isScript: boolean): readonly string[] {
  const all = isScript ? sections : [...ofArtifact];
  if (value === undefined) return usual.filter((name) => all.includes(name));
  if (value === "all") return all;
  const names = String(value).split(",");
  for (const name of names)
    if (!all.includes(name))
      throw new UsageError(
        `kiln inspect: no stage ${name}${sections.includes(name) ? " in an artifact" : ""}\n  stages are ${all.join(", ")}`,
      );
  return names;
}

type Values = Parsed["values"];

/** The model as it would be compiled for the target; timed on it if asked for. */
async function inspectModel(
  path: string,
  target: TargetOption,
  dims: Dims,
  values: Values,
): Promise<Inspection> {
  const { fn, inputs, name } = await loadModel("inspect", path, values);
  const front = await frontOf(path);
  const compiled = front.compile(fn as (...args: unknown[]) => unknown, { name, inputs, target });
  return compiled.inspect({
    ...(target === "auto" ? {} : { target }),
    ...(values.profile ? { profile: madeUpArguments("inspect", inputs, dims) } : {}),
    dims,
    site: (site) => site.replace(/^(.*?)((?::\d+)*)$/, (_, file, at) => `${short(file)}${at}`),
  });
}

async function inspectFile(artifact: Artifact, dims: Dims): Promise<Inspection> {
  const { inspectArtifact } = await import("../inspect/inspect.ts");
  return inspectArtifact(artifact, dims);
}

const readNamed = (path: string): Promise<Artifact> => ofFile(path, () => readArtifact(path));

async function tell(inspection: Inspection, { json, html }: Values): Promise<number> {
  if (typeof html === "string") {
    const page = await inspectionPage(inspection);
    await mkdir(dirname(resolve(html)), { recursive: true });
    await writeFileAtomic(html, new TextEncoder().encode(page));
    const { kernels, nodes } = inspection;
    const held = nodes.length ? `${nodes.length} nodes, ` : "";
    if (!json)
      say(
        `wrote ${html}: ${inspection.name} for ${inspection.target}, ${held}${kernels.length} kernels\n`,
      );
  }
  if (json) say(`${JSON.stringify(inspection)}\n`);
  return 0;
}

const adapters = ["none", "integrated", "discrete"];

function adapterFrom(value: string | boolean | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!adapters.includes(String(value)))
    throw new UsageError(
      `kiln inspect: unknown adapter ${value}\n  adapters are ${adapters.join(", ")}`,
    );
  return value === "none" ? "there is no adapter" : String(value);
}

async function compileModel(
  path: string,
  target: Artifact["target"],
  values: Values,
): Promise<Inspected> {
  settings.target = "js";
  const { fn, inputs, name } = await loadModel("inspect", path, values);
  const front = await frontOf(path);
  const stages: [string, Stage][] = [];
  const compiled = front.compile(fn as (...args: unknown[]) => unknown, {
    name,
    inputs,
    observe: (stage, state) => stages.push([stage, state]),
  });
  const artifact = await compiled.artifact({ target, weights: false });
  return { artifact, stages, print: (stage) => programText(front, name, stage) };
}

function section(name: string, { artifact, stages, print }: Inspected, dims: Dims): string {
  if (name === "signature") return signature(artifact, dims);
  if (name === "kernels") return kernels(artifact, dims);
  if (name === "plan") return plan(artifact, dims);
  if (name === "costs") return costs(artifact, dims);
  if (name === "groups" || name === "kernel-ir") {
    const lowered = stages.find(([stage]) => stage === "lower");
    return lowered ? (name === "groups" ? groups : kernelIr)(lowered[1]) : "";
  }
  const found = stages.filter(([stage]) => stage === name);
  return found
    .map(([, state], i) => {
      const times = found.length > 1 ? ` (${i + 1} of ${found.length})` : "";
      const title = name === "graph" ? "graph" : `after ${name}${times}`;
      return `== ${title}\n${print(state)}`;
    })
    .join("\n");
}
