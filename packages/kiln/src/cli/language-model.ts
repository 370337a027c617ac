/**
 * What `kiln generate` and `kiln chat` share: options of sampling, and the package that they are
 * about, which is loaded when one of them runs and need not be installed for the others.
 */
import { basename } from "node:path";
import { settings } from "../devices/settings.ts";
import { PlainError } from "./failure.ts";
import { type Option, shared } from "./options.ts";
import { countFrom, type Parsed, targetFrom, threadsFrom, UsageError } from "./usage.ts";

export const samplingOptions: readonly Option[] = [
  { name: "max-tokens", value: "N", help: "the most tokens to make (256)" },
  { name: "temperature", value: "X", help: "0 takes the likeliest token (0); 1 draws by its odds" },
  { name: "top-k", value: "N", help: "draw among the N likeliest" },
  { name: "top-p", value: "P", help: "draw among the likeliest that make up P of the odds" },
  { name: "min-p", value: "P", help: "draw among those at least P times as likely as the first" },
  { name: "repetition-penalty", value: "X", help: "above 1, tokens of the text are less likely" },
  { name: "seed", value: "N", help: "the same draws for the same seed (0)" },
  { name: "stop", value: "TEXT", help: "end before this text" },
  { name: "target", value: "auto|js|wasm|webgpu", help: "where the model runs (auto)" },
  shared.threads,
];

/** What the matrices of a model are kept as. */
export const weightOptions: readonly Option[] = [
  { name: "quantize", value: "int8|int4|f16", help: "what matrices are kept as (as in the file)" },
  { name: "activations", value: "f32|i8", help: "what meets quantized matrices (f32)" },
  { name: "keep", value: "PATTERN", help: "names of weights that --quantize leaves as they are" },
  { name: "embeddings", help: "--quantize the table of tokens too, and a head tied to it" },
];

/** Those options as `loadModel` takes them. */
export function loadingFrom(
  command: string,
  values: Parsed["values"],
): import("@kiln-ml/llm").LoadModelOptions {
  const one = <T extends string>(name: string, known: readonly T[]): T | undefined => {
    const value = values[name];
    const found = known.find((k) => k === value);
    if (value !== undefined && found === undefined)
      throw new UsageError(`kiln ${command}: --${name} must be ${known.join(", ")}, got ${value}`);
    return found;
  };
  const weights = one("quantize", ["int8", "int4", "f16"]);
  const activations = one("activations", ["f32", "i8"]);
  const keep = patternFrom(command, values.keep);
  return {
    ...(weights && { weights }),
    ...(activations && { activations }),
    ...(keep && { keep }),
    ...(values.embeddings && { embeddings: true }),
  };
}

function patternFrom(command: string, value: Parsed["values"][string]): RegExp | undefined {
  if (value === undefined) return undefined;
  try {
    return new RegExp(String(value));
  } catch {
    throw new UsageError(
      `kiln ${command}: --keep must be a pattern, got ${value}\n  a part of a name is one: --keep lm_head`,
    );
  }
}

export const modelNotes = `MODEL is a folder with config.json, tokenizer.json and safetensors, a .gguf file, or the folder
that kiln compile made of one. Needs the package @kiln-ml/llm.
`;

type Package = typeof import("@kiln-ml/llm") & typeof import("@kiln-ml/llm/node");

const load = async (): Promise<Package> => ({
  ...(await import("@kiln-ml/llm")),
  ...(await import("@kiln-ml/llm/node")),
});

/** The package. Throws PlainError where it is not installed. */
export async function languageModels(
  command: string,
  from: () => Promise<Package> = load,
): Promise<Package> {
  try {
    return await from();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes("'@kiln-ml/llm'")) throw error;
    throw new PlainError(
      `kiln ${command}: needs the package @kiln-ml/llm\n  npm install @kiln-ml/llm`,
    );
  }
}

/** The one model that the command line names. */
export function modelPath(command: string, positionals: readonly string[]): string {
  const [path, extra] = positionals;
  if (path === undefined)
    throw new UsageError(`kiln ${command}: needs a model\n  see kiln ${command} --help`);
  if (extra !== undefined)
    throw new UsageError(
      `kiln ${command}: takes one model, got ${positionals.length}: ${positionals.join(" ")}\n  put a text of several words into quotes`,
    );
  return path;
}

/** Options as `generate` takes them; where it runs goes to the settings. */
export function samplingFrom(command: string, values: Parsed["values"]) {
  settings.target = targetFrom(command, values.target);
  settings.threads = threadsFrom(command, values.threads);
  const real = (name: string): number | undefined => {
    const value = values[name];
    if (value === undefined) return undefined;
    const n = Number(value);
    if (value === "" || !Number.isFinite(n))
      throw new UsageError(`kiln ${command}: --${name} must be a number, got ${value}`);
    return n;
  };
  const given = {
    temperature: real("temperature"),
    topK: real("top-k"),
    topP: real("top-p"),
    minP: real("min-p"),
    repetitionPenalty: real("repetition-penalty"),
    seed: real("seed"),
    stop: values.stop === undefined ? undefined : String(values.stop),
  };
  const told = Object.entries(given).filter(([, value]) => value !== undefined);
  return {
    maxTokens: countFrom(command, "max-tokens", values["max-tokens"], 256),
    ...(Object.fromEntries(told) as { [K in keyof typeof given]?: NonNullable<(typeof given)[K]> }),
  };
}

/** The name of a model in a line. */
export const nameOf = (path: string): string => basename(path);
