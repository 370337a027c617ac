/**
 * Functions with the weights of their products in few bits, whatever built them: a module, ONNX, a
 * script. Their graphs are traced once to see how weights are read, and again, with what stands for
 * each, whenever they are compiled.
 */
import {
  assign,
  checkOptions,
  currentValue,
  GraphError,
  ignoringAssignments,
  type OptionNames,
  param,
  quantized,
  quantizedOf,
  replaceNodes,
  Tensor,
  trace,
} from "@kiln-ml/ir";
import type { EntryFunction } from "../compile/export-entries.ts";
import { declare, type InputSpec, inputTree, isSpec } from "../compile/inputs.ts";
import { type AnyFunction, traceFunction } from "../compile/traced.ts";
import { mapTree } from "../compile/tree.ts";
import { type TensorErrors, tensorErrors } from "./tensor-errors.ts";
import { type WeightUse, weightUses } from "./weight-uses.ts";

/** What weights are kept as: steps of 8 or 4 bits in blocks of 32 inputs, or halves. */
export type WeightFormat = "int8" | "int4" | "f16";

export interface QuantizeFunctionsOptions {
  /** What matrices of products become. */
  readonly weights: WeightFormat;
  /** Names of weights that stay as they are. */
  readonly keep?: RegExp;
}

/** A function with the types of its arguments. */
export type PlainFunction = Exclude<EntryFunction, (...args: never[]) => unknown>;

/** A weight that became another, and how far what it stands for is from what it was. */
export interface QuantizedWeightReport extends TensorErrors {
  readonly name: string;
  readonly shape: readonly number[];
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** A weight that stayed as it was. */
export interface KeptWeight {
  readonly name: string;
  readonly bytes: number;
  /** `a vector`, `is read by gather`. */
  readonly why: string;
}

export interface QuantizedFunctions {
  /** In the place of those that were given, with the same inputs and results. */
  readonly functions: Readonly<Record<string, PlainFunction>>;
  readonly weights: readonly QuantizedWeightReport[];
  readonly kept: readonly KeptWeight[];
  /** Names of the states that the functions change as they run. */
  readonly written: readonly string[];
}

const quantizeOptions: OptionNames<QuantizeFunctionsOptions> = { weights: 1, keep: 1 };
const formats: readonly WeightFormat[] = ["int8", "int4", "f16"];

const width: Readonly<Record<string, number>> = { f64: 8, f32: 4, u32: 4, f16: 2, bf16: 2 };
const bytesOf = (t: Tensor): number =>
  (t.shape as number[]).reduce((a, b) => a * b, width[t.dtype] ?? 4);
const toKeep = "is to be kept";
const nameOf = (t: Tensor): string => String(t.attrs.name);

/**
 * Functions whose products have weights of few bits: each matrix that products alone read becomes
 * words of 4 or 8 bits with a scale for each block of 32 inputs, or halves; all else stays as it is
 * and is named with the reason, as a weight with NaN, infinities, or numbers beyond those of "f16".
 * With "f16", whatever has two axes or more becomes halves. Functions that share a weight share
 * what stands for it.
 *
 * An error of int8 is at most half of 1/127 of the largest element of its block, of int4 1/8 of it,
 * of f16 2^-11 of the element. Rejects with GraphError for a format that is not known, a function
 * without declared inputs, and functions without such a weight. No counterpart in PyTorch's core;
 * `quantize_` of torchao.
 *
 * @param functions By name, as `exportEntries` takes them: `{ fn, inputs }` each.
 * @example
 *   const net = new nn.Linear(64, 8);
 *   const model = { fn: (x) => net.forward(x), inputs: [["N", 64]] };
 *   const { functions, weights } = await quantizeFunctions({ model }, { weights: "int8" });
 *   weights.length // 1
 *   const artifact = await exportArtifact(functions.model.fn, { inputs: functions.model.inputs });
 */
export async function quantizeFunctions(
  functions: Readonly<Record<string, PlainFunction>>,
  options: QuantizeFunctionsOptions,
): Promise<QuantizedFunctions> {
  const op = "quantizeFunctions";
  const { weights: format, keep } = checkOptions(op, options, quantizeOptions) ?? {};
  if (!formats.includes(format))
    throw new GraphError(
      `${op}: weights ${JSON.stringify(format)} are not known\n  take one of ${formats.join(", ")}`,
    );
  // A pattern with "g" or "y" would go on where it ended in the name before.
  const isKept = keep && ((name: string): boolean => name.search(keep) >= 0);
  const by = new Map<Tensor, Tensor>();
  const [weights, kept]: [QuantizedWeightReport[], KeptWeight[]] = [[], []];
  const { roots, written } = readingOf(op, functions);
  for (const [leaf, use] of weightUses(roots, written)) {
    const keeps = (why: string): number =>
      kept.push({ name: nameOf(leaf), bytes: bytesOf(leaf), why });
    const why = isKept?.(nameOf(leaf)) ? toKeep : reasonToKeep(leaf, use, format);
    if (why !== undefined) {
      keeps(why);
      continue;
    }
    const made = format === "f16" ? halvesOf(leaf) : blocksOf(leaf, use, format === "int8" ? 8 : 4);
    const told = await reported(leaf, made);
    // One number that is none, or is infinite, makes those of its whole block so.
    if (!Number.isFinite(told.maxError)) {
      keeps(`holds numbers that ${format} has not`);
      continue;
    }
    by.set(leaf, made.value);
    weights.push(told);
  }
  if (keep && !kept.some(({ why }) => why === toKeep))
    throw new GraphError(
      `${op}: keep ${keep} is like no name of a weight\n  names are ${[...weights, ...kept]
        .map(({ name }) => name)
        .slice(0, 8)
        .join(", ")}`,
    );
  if (!weights.length)
    throw new GraphError(
      `${op}: no weight of ${Object.keys(functions).join(", ") || "nothing"} is ${format === "f16" ? "a matrix of f32" : "a matrix that products alone read"}\n  ${kept.length ? `weights are ${said(kept)}` : "the functions have no parameters"}`,
    );
  const made = Object.entries(functions).map(([name, { fn, inputs }]) => [
    name,
    { fn: substituted(fn as AnyFunction, by), inputs },
  ]);
  return {
    functions: Object.fromEntries(made),
    weights,
    kept,
    written: [...written].map(nameOf),
  };
}

const said = (kept: readonly KeptWeight[]): string =>
  kept
    .slice(0, 4)
    .map(({ name, why }) => `${name} (${why})`)
    .join(", ") + (kept.length > 4 ? ` and ${kept.length - 4} more` : "");

/** What all functions return and assign: a weight that one reads otherwise is kept for all. */
function readingOf(
  op: string,
  functions: Readonly<Record<string, PlainFunction>>,
): { readonly roots: readonly Tensor[]; readonly written: ReadonlySet<Tensor> } {
  const roots: Tensor[] = [];
  const written = new Set<Tensor>();
  for (const [name, given] of Object.entries(functions)) {
    const { fn, inputs } = (given ?? {}) as PlainFunction;
    if (typeof given === "function" || typeof fn !== "function" || !Array.isArray(inputs))
      throw new GraphError(
        `${op}: ${name} is not { fn, inputs }\n  give { fn: (x) => net.forward(x), inputs: [["N", 4]] }`,
      );
    const tree = inputTree(inputs as readonly InputSpec[], isSpec, declare);
    const { program } = traceFunction(fn as AnyFunction, tree);
    roots.push(...program.outputs.map((o) => o.value));
    for (const [target, value] of program.updates) {
      written.add(target);
      roots.push(value);
    }
  }
  return { roots, written };
}

function reasonToKeep(leaf: Tensor, use: WeightUse, format: WeightFormat): string | undefined {
  if ("kept" in use && (format !== "f16" || use.kept === "changes as it runs")) return use.kept;
  if (format === "f16" && leaf.rank < 2) return "a vector";
  if (format === "f16" && leaf.dtype !== "f32") return `is ${leaf.dtype}`;
  return undefined;
}

/** What stands for a weight: its states, and the value that they make. */
interface Stand {
  readonly states: readonly Tensor[];
  readonly value: Tensor;
  /** The same as a function of the weight: a read that is built before an assignment sees none. */
  readonly made: Tensor;
}

/** An empty parameter for what is computed; reads of it are built before it is assigned. */
function emptyFor(name: string, { shape, dtype }: Tensor): Tensor {
  const extents = shape as number[];
  const size = extents.reduce((a, b) => a * b, 1);
  const zeros = dtype === "u32" ? new Uint32Array(size) : new Float32Array(size);
  return param(zeros, { name, shape: extents, dtype: dtype as "f32", trainable: false });
}

function halvesOf(leaf: Tensor): Stand {
  const values = leaf.convert("f16");
  const half = emptyFor(nameOf(leaf), values);
  const value = half.convert(leaf.dtype);
  assign(half, values);
  return { states: [half], value, made: values };
}

/** Blocks lie along the axis that products sum over. */
function blocksOf(leaf: Tensor, use: WeightUse, bits: 4 | 8): Stand {
  const isTurned = "contracts" in use && use.contracts === 0;
  const parts = quantized(isTurned ? leaf.transpose([1, 0]) : leaf, { bits });
  const words = emptyFor(`${nameOf(leaf)}.words`, parts.words);
  const scales = emptyFor(`${nameOf(leaf)}.scales`, parts.scales);
  const inputs = leaf.shape[isTurned ? 0 : 1] as number;
  const own = quantizedOf({ words, scales }, { bits }, inputs).dequantize().convert(leaf.dtype);
  const value = isTurned ? own.transpose([1, 0]) : own;
  assign(words, parts.words);
  assign(scales, parts.scales);
  const made = parts.dequantize();
  return { states: [words, scales], value, made: isTurned ? made.transpose([1, 0]) : made };
}

async function reported(leaf: Tensor, { states, made }: Stand): Promise<QuantizedWeightReport> {
  return {
    name: nameOf(leaf),
    shape: leaf.shape as readonly number[],
    bytesBefore: bytesOf(leaf),
    bytesAfter: states.reduce((sum, t) => sum + bytesOf(t), 0),
    ...(await tensorErrors(leaf, made)),
  };
}

/** The function, with other values in the place of weights, in what it assigns too. */
function substituted(fn: AnyFunction, by: ReadonlyMap<Tensor, Tensor>): AnyFunction {
  const isTensor = (x: unknown): boolean => x instanceof Tensor;
  return (...args: never[]): unknown => {
    const leaves: Tensor[] = [];
    const { value: tree, updates } = trace(() =>
      mapTree(fn(...args), isTensor, (leaf) => {
        if (leaf instanceof Tensor) leaves.push(currentValue(leaf));
        return leaf;
      }),
    );
    const roots = [...leaves, ...updates.values()];
    const made = ignoringAssignments(() => replaceNodes(roots, by));
    for (const [i, target] of [...updates.keys()].entries())
      assign(target, made[leaves.length + i]!);
    let next = 0;
    return mapTree(tree, isTensor, (leaf) => (leaf instanceof Tensor ? made[next++] : leaf));
  };
}
