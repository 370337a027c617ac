/** Artifacts in `kiln run` and `kiln bench`: opened as they are, and run on made-up inputs. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TargetName } from "@kiln-ml/artifact";
import { openModel } from "../node.ts";
import type { OpenedModel } from "../open/open-model.ts";
import type { Progress } from "../open/source.ts";
import type { ModelValue, TensorArray } from "../open/values.ts";
import { bytesText, type Dims } from "./extents.ts";
import { PlainError } from "./failure.ts";
import { ofFile } from "./named-file.ts";
import { inLine, say, status } from "./terminal.ts";
import { checkDims } from "./usage.ts";

/** A file that ends in .kiln, or a folder with a manifest. */
export function isArtifact(path: string): boolean {
  if (/\.kiln$/i.test(path)) return true;
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && existsSync(join(path, "manifest.json"));
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Options that say how a program is compiled, which an artifact is already, and such of scripts.
 */
const ofScripts = [
  "threads",
  "no-fusion",
  "tuning",
  "extents",
  "profile",
  "trace",
  "why-recompiled",
  "no-check",
];

/**
 * Opens an artifact where `--target` says. Throws PlainError for options that mean nothing for it.
 */
async function opened(command: string, path: string, values: Values): Promise<OpenedModel> {
  const given = ofScripts.filter((name) => values[name]);
  if (given.length > 0)
    throw new PlainError(
      `kiln ${command}: ${given.map((name) => `--${name}`).join(", ")} cannot be had for an artifact, which is compiled already: ${path}`,
    );
  const { target } = values;
  const named = typeof target === "string" && target !== "auto";
  const targets = named ? { targets: [target as TargetName] } : {};
  const entry = values.entry === undefined ? {} : { entry: String(values.entry) };
  try {
    const onProgress = (p: Progress): void => status(progressText(p));
    return await ofFile(path, () => openModel(path, { ...targets, ...entry, onProgress }));
  } finally {
    status("");
  }
}

function progressText({ phase, loaded, total }: Progress): string {
  if (phase !== "fetch") return "loading";
  return `fetching ${bytesText(loaded)}${total ? ` of ${bytesText(total)}` : ""}`;
}

const arrays = {
  f32: Float32Array,
  f64: Float64Array,
  i32: Int32Array,
  u32: Uint32Array,
  i8: Int8Array,
  u8: Uint8Array,
} as const;

type Shaped = Extract<ModelValue, { shape: unknown }>;

/** Inputs by name: floats uniform in [-1, 1), others 0; 32 for extents without a value. */
function madeUp(command: string, { inputs }: OpenedModel, dims: Dims): Record<string, Shaped> {
  const symbols = inputs.flatMap((i) => i.shape.filter((d) => typeof d === "string"));
  checkDims(command, dims, [...new Set(symbols)]);
  let seed = 1;
  const next = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 31 - 1;
  };
  return Object.fromEntries(
    inputs.map(({ name, dtype, shape }) => {
      const make = arrays[dtype as keyof typeof arrays];
      if (!make) throw new PlainError(`kiln ${command}: cannot make up an input of dtype ${dtype}`);
      const extents = shape.map((d) => (typeof d === "number" ? d : (dims[d ?? ""] ?? 32)));
      const data = new make(extents.reduce((a, b) => a * b, 1));
      if (dtype.startsWith("f")) for (let i = 0; i < data.length; i++) data[i] = next();
      return [name, { data, shape: extents }];
    }),
  );
}

/** Runs it once and tells its outputs. */
export async function runArtifact(path: string, dims: Dims, values: Values): Promise<number> {
  const model = await opened("run", path, values);
  const results = await model.run(madeUp("run", model, dims));
  const outputs = Object.entries(results).map(([name, { data, shape, dtype }]) => ({
    name,
    dtype,
    shape,
    ...rangeOf(data),
  }));
  await model.dispose();
  if (values.json) {
    say(`${JSON.stringify({ name: model.name, target: model.target, outputs }, null, 2)}\n`);
    return 0;
  }
  const lines = outputs.map(
    ({ name, dtype, shape, least, most }) =>
      `  ${inLine(name)}: ${dtype}[${shape.join(",")}]${least === undefined ? "" : `, from ${short(least)} to ${short(most!)}`}\n`,
  );
  say(`${inLine(model.name)} on ${model.target}, made-up inputs:\n${lines.join("")}`);
  return 0;
}

const short = (v: number): string => String(Number(v.toPrecision(5)));

function rangeOf(data: TensorArray): { least?: number; most?: number } {
  if (data.length === 0) return {};
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const v of data) {
    least = Math.min(least, Number(v));
    most = Math.max(most, Number(v));
  }
  return { least, most };
}

/** Times its runs. */
export async function benchArtifact(
  path: string,
  dims: Dims,
  runs: number,
  values: Values,
): Promise<number> {
  const started = performance.now();
  const model = await opened("bench", path, values);
  const loadMs = performance.now() - started;
  const inputs = madeUp("bench", model, dims);
  const times: number[] = [];
  for (let i = 0; i < Math.ceil(runs / 4) + runs; i++) {
    const start = performance.now();
    await model.run(inputs);
    times.push(performance.now() - start);
  }
  await model.dispose();
  const [firstMs] = times;
  const timed = times.slice(-runs).sort((a, b) => a - b);
  const medianMs = timed[runs >> 1]!;
  const { name, target } = model;
  if (values.json)
    say(
      `${JSON.stringify({ name, target, runs, medianMs, fastestMs: timed[0], firstMs, loadMs }, null, 2)}\n`,
    );
  else
    say(
      `${inLine(name)} on ${target}: ${medianMs.toFixed(3)} ms a run (median of ${runs}, fastest ${timed[0]!.toFixed(3)}), first run ${firstMs!.toFixed(1)} ms, loaded in ${loadMs.toFixed(1)} ms\n`,
    );
  return 0;
}
