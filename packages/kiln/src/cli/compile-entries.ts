/**
 * `kiln compile` of what becomes several programs over shared parameters: entries of a script, one
 * model for several targets, prefill and decode of a language model.
 */
import { existsSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { TargetName } from "@kiln-ml/artifact";
import type { ArtifactEntries } from "@kiln-ml/artifact/entries";
import { bytesOfState } from "@kiln-ml/artifact/entries";
import { writeEntries, writeFileAtomic } from "@kiln-ml/artifact/node";
import type { EntryFunction } from "../compile/export-entries.ts";
import { to } from "../devices/move.ts";
import { countsOf, nominalDims } from "../devices/placement.ts";
import type { TargetOption } from "../devices/session.ts";
import { wasmMissing } from "../devices/wasm-support.ts";
import { bytesText } from "./extents.ts";
import { PlainError, short } from "./failure.ts";
import { languageModels, loadingFrom } from "./language-model.ts";
import type { Option } from "./options.ts";
import { placed } from "./placement-text.ts";
import { languageModelTold, type Told, textFrom } from "./quantize.ts";
import { say } from "./terminal.ts";
import { tuningFrom } from "./tuning.ts";
import { countFrom, type Parsed, UsageError } from "./usage.ts";

export const languageModelOptions: readonly Option[] = [
  { name: "capacity", value: "N", help: "of a language model: the most tokens of a text" },
  { name: "batch", value: "N", help: "of a language model: texts at once (1)" },
  {
    name: "cache",
    value: "f32|f16|int8",
    help: "of a language model: what keys are kept as (f32)",
  },
];

type Front = typeof import("../index.ts");

interface Where {
  readonly script: string;
  readonly out: string;
  readonly targets: readonly TargetOption[];
  readonly values: Parsed["values"];
  /** What few bits cost, where weights have them. */
  readonly told?: Told | undefined;
  /** Files that lie beside those of the artifact, where it is a folder. */
  readonly beside?: ReadonlyMap<string, Uint8Array> | undefined;
}

/** A folder, or a `.gguf` file: no script, and no file of ONNX. */
export const isLanguageModel = (path: string): boolean =>
  /\.gguf$/i.test(path) || (existsSync(path) && statSync(path).isDirectory());

/** Throws UsageError for options of a language model where there is none. */
export function checkLanguageModelOptions(values: Parsed["values"], path: string): void {
  const names = [...languageModelOptions.map((o) => o.name), "activations", "embeddings", "text"];
  const odd = names.find((name) => values[name] !== undefined);
  if (odd)
    throw new UsageError(
      `kiln compile: --${odd} is for language models, and ${short(path)} is none`,
    );
}

/** A name as entries have them. */
export const entryName = (name: string): string =>
  name.replace(/\W/g, "_").replace(/^(?=\d|$)/, "_");

/** The functions that a script exports. Throws PlainError for what is none by name. */
export function entriesOf(path: string, entries: unknown): Readonly<Record<string, EntryFunction>> {
  const isMap = typeof entries === "object" && entries !== null && !Array.isArray(entries);
  const list = isMap ? Object.entries(entries) : [];
  if (list.length === 0)
    throw new PlainError(
      `${short(path)}: entries has no functions by name\n  export const entries = { prefill: { fn, inputs }, decode: { fn, inputs } }`,
    );
  return entries as Readonly<Record<string, EntryFunction>>;
}

export async function compileEntries(
  where: Where,
  front: Front,
  functions: Readonly<Record<string, EntryFunction>>,
  named = basename(where.script).replace(/\.\w+$/, ""),
): Promise<number> {
  const { targets: asked, values } = where;
  const tuning = await tuningFrom(values.tuning);
  const targets = asked.includes("auto")
    ? await fastest(front, functions)
    : (asked as readonly TargetName[]);
  const all = await front.exportEntries(functions, {
    targets,
    weights: !values["no-weights"],
    ...(tuning ? { tuning } : {}),
    ...(typeof values.adapter === "string" ? { adapter: values.adapter } : {}),
    name: typeof values.name === "string" ? values.name : named,
  });
  return write(where, all);
}

/** The target that is the fastest for the entry that does the most. */
async function fastest(
  front: Front,
  functions: Readonly<Record<string, EntryFunction>>,
): Promise<TargetName> {
  const { entries } = await front.exportEntries(functions, { targets: "js", weights: false });
  const work = Object.values(entries).map(([program]) => ({
    program: program!,
    flops: countsOf(program!, nominalDims(program!)).steps.reduce((n, s) => n + s.flops, 0),
  }));
  work.sort((a, b) => b.flops - a.flops);
  return (await placed(work[0]!.program, {})).placement.target;
}

async function write(where: Where, all: ArtifactEntries): Promise<number> {
  const { out, values, told: cost, beside } = where;
  await mkdir(dirname(resolve(out)), { recursive: true });
  await writeEntries(out, all);
  if (!out.endsWith(".kiln"))
    for (const [name, bytes] of beside ?? [])
      await writeFileAtomic(join(resolve(out), name), bytes);
  const bytes = Object.entries(all.weights).reduce((n, [name, w]) => {
    const row = all.states.find((s) => s.name === name)!;
    return n + (w === "zeros" ? 0 : bytesOfState(row));
  }, 0);
  const targets = Object.values(all.entries)[0]!.map((p) => p.target);
  const entries = Object.entries(all.entries).map(([name, [program]]) => ({
    name,
    steps: program!.plan.steps.length,
    kernels: program!.kernels.length,
  }));
  if (values.json) {
    const { name, states } = all;
    const sizes = { states: states.length, weightBytes: bytes };
    const result = { out, name, targets, entries, ...sizes, ...(cost && { quantized: cost.json }) };
    say(`${JSON.stringify(result, null, 2)}\n`);
    return 0;
  }
  const told = entries.map(
    ({ name, steps, kernels }) => `${name} ${steps} steps, ${kernels} kernels`,
  );
  say(
    `wrote ${out}: ${all.name} for ${targets.join(", ")}, ${all.states.length} states, ${bytesText(bytes)} of weights\n  ${told.join("\n  ")}\n${cost?.text ?? ""}`,
  );
  return 0;
}

/** Prefill, decode and greedy of a language model. */
export async function compileLanguageModel(where: Where): Promise<number> {
  const { script: path, values } = where;
  if (values.extents !== undefined)
    throw new UsageError(`kiln compile: --extents is for ONNX files, and ${short(path)} is none`);
  const caches = ["f32", "f16", "int8"] as const;
  const cache = caches.find((name) => name === values.cache);
  if (values.cache !== undefined && !cache)
    throw new UsageError(
      `kiln compile: --cache must be one of ${caches.join(", ")}, got ${values.cache}`,
    );
  const { loadModel, TextSession, quantizationReport } = await languageModels("compile");
  const text = textFrom(values);
  const { net, tokenizer } = await loadModel(path, loadingFrom("compile", values));
  let told: Told | undefined;
  if (values.quantize !== undefined) {
    const { net: before } = await loadModel(path, { weights: "f32" });
    const target = wasmMissing() ? "js" : "wasm";
    const report = await quantizationReport(before, net, tokenizer.encode(text), { target });
    told = languageModelTold(String(values.quantize), report);
    // Artifacts are made where values were loaded.
    await to(net, "js");
  }
  const session = new TextSession(net, {
    target: "js",
    capacity: countFrom("compile", "capacity", values.capacity, net.config.context),
    batch: countFrom("compile", "batch", values.batch, 1),
    ...(cache ? { cache } : {}),
  });
  try {
    const { modelFilesAt, textFilesOf } = await languageModels("compile");
    const beside = await textFilesOf(modelFilesAt(path), session);
    const name = basename(resolve(path)).replace(/\.gguf$/i, "");
    const front = await import("../index.ts");
    return await compileEntries({ ...where, told, beside }, front, session.programs(), name);
  } finally {
    await session.dispose();
  }
}
