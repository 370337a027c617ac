/**
 * Which weights a model.json names, of which types, and in which shards they lie. A name of a shard
 * is a path below the folder of the file, whatever it says.
 */
import type { ElementType } from "@kiln-ml/onnx";
import type { Field } from "./field.ts";

/** How the numbers of a weight are stored, where not as they are. */
export interface Quantization {
  readonly type: "uint8" | "uint16" | "float16";
  /** A number is stored · scale + min. */
  readonly scale: number;
  readonly min: number;
}

export interface WeightSpec {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly size: number;
  readonly quantization: Quantization | undefined;
  /** Where the manifest has it, for messages. */
  readonly field: Field;
}

/** Weights that lie one behind the other in shards that do the same. */
export interface WeightGroup {
  readonly shards: readonly string[];
  readonly weights: readonly WeightSpec[];
}

const types: ReadonlySet<string> = new Set(["float32", "int32", "bool", "string", "complex64"]);

/** The groups of a model.json. Throws ArtifactError for what is no manifest. */
export function readManifest(groups: Field): WeightGroup[] {
  const names = new Set<string>();
  return groups.list().map((group) => ({
    shards: group.get("paths").list().map(shardName),
    weights: group
      .get("weights")
      .list()
      .map((field) => weightSpec(field, names)),
  }));
}

/** Throws ArtifactError for a path that leaves the folder, or names another place. */
function shardName(field: Field): string {
  const path = field.text();
  const parts = path.split("/");
  const leaves = parts.some((part) => part === ".." || part === "." || part === "");
  // A scheme, a drive, a query, an escape or a backslash would be read by whoever opens it.
  if (path === "" || leaves || /[\\:?#%\0]/.test(path))
    field.fail(`is ${JSON.stringify(path)}, which is no path below the folder of the model`);
  return path;
}

/** More elements than any memory has. */
const mostElements = 2 ** 40;

export function weightSpec(field: Field, names: Set<string>): WeightSpec {
  const name = field.get("name").text();
  if (names.has(name)) field.fail(`gives the weight ${JSON.stringify(name)} a second time`);
  names.add(name);
  const type = field.get("dtype").text();
  if (!types.has(type))
    field.fail(`gives ${JSON.stringify(name)} the type ${JSON.stringify(type)}, which is unknown`);
  const dims = field
    .get("shape")
    .list()
    .map((d) => d.count());
  const filled = dims.reduce((n, d) => n * Math.max(d, 1), 1);
  if (!(filled <= mostElements)) field.fail(`has the shape [${dims}], more than memory holds`);
  const given = field.maybe("quantization");
  return {
    name,
    type: type as ElementType,
    dims,
    size: dims.reduce((a, b) => a * b, 1),
    quantization: given && quantizationOf(given, type),
    field,
  };
}

function quantizationOf(field: Field, type: string): Quantization {
  const stored = field.get("dtype").text();
  if (stored === "float16") {
    if (type !== "float32") field.fail(`stores ${type} in float16`);
    return { type: "float16", scale: 1, min: 0 };
  }
  if (stored !== "uint8" && stored !== "uint16")
    field.fail(`has dtype ${JSON.stringify(stored)}, not uint8, uint16 or float16`);
  if (type !== "float32" && type !== "int32") field.fail(`stores ${type} in ${stored}`);
  return {
    type: stored as "uint8",
    scale: field.get("scale").number(),
    min: field.get("min").number(),
  };
}
