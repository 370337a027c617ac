/**
 * `--quantize` of `kiln compile`: weights in few bits, with what that costs: sizes, errors of each
 * weight, and of what the model says beside the one in floats.
 */
import { readFileSync } from "node:fs";
import type { QuantizationReport } from "@kiln-ml/llm";
import type { OutputError } from "../quantize/output-errors.ts";
import type {
  KeptWeight,
  PlainFunction,
  QuantizedFunctions,
  QuantizedWeightReport,
} from "../quantize/quantize-functions.ts";
import { bytesText, type Dims } from "./extents.ts";
import { PlainError, short } from "./failure.ts";
import { argumentsFrom } from "./given-inputs.ts";
import { loadingFrom } from "./language-model.ts";
import { madeUpArguments } from "./made-up.ts";
import type { Option } from "./options.ts";
import { table } from "./table.ts";
import { inLine } from "./terminal.ts";
import { type Parsed, UsageError } from "./usage.ts";

export const reportOptions: readonly Option[] = [
  {
    name: "text",
    value: "FILE",
    help: "of --quantize, of a language model: what its perplexity is told of",
  },
  {
    name: "data",
    value: "FILE",
    help: "of --quantize: inputs to compare results on, by name\n(made up; .safetensors or .npz)",
  },
];

/** What was found, for people and for programs. */
export interface Told {
  readonly text: string;
  readonly json: object;
}

type Front = typeof import("../index.ts");
type Functions = Readonly<Record<string, PlainFunction>>;
type Values = Parsed["values"];

/** Throws UsageError for an option that is for language models alone, or for --quantize. */
export function checkQuantize(values: Values, isLanguageModel: boolean): void {
  loadingFrom("compile", values);
  const only = ["keep", "text", "data", ...(isLanguageModel ? ["activations", "embeddings"] : [])];
  const odd = only.find((name) => values[name] !== undefined && values.quantize === undefined);
  if (odd !== undefined)
    throw new UsageError(`kiln compile: --${odd} is for --quantize\n  say --quantize int8 too`);
  if (isLanguageModel && values.data !== undefined)
    throw new UsageError(
      "kiln compile: --data is for models of tensors\n  a language model is compared on --text FILE",
    );
  if (values.quantize !== undefined && values.target === "stablehlo")
    throw new UsageError(
      "kiln compile: --quantize is for js, wasm, native and webgpu, not for --target stablehlo\n  XLA quantizes by itself",
    );
}

/** Functions with weights of few bits, and what it costs. */
export async function quantizedOf(
  front: Front,
  functions: Functions,
  values: Values,
  dims: Dims = {},
): Promise<{ readonly functions: Functions; readonly told: Told }> {
  const { weights: format, keep } = loadingFrom("compile", values);
  const made = await front.quantizeFunctions(functions, {
    weights: format as "int8",
    ...(keep && { keep }),
  });
  const lines: string[] = [];
  const outputs: Record<string, readonly OutputError[]> = {};
  for (const [name, before] of Object.entries(functions)) {
    const found = await outputsOf(front, { name, before, made, dims, data: values.data });
    if (typeof found === "string") lines.push(found);
    else outputs[name] = found;
    const on = values.data === undefined ? "made-up inputs" : short(String(values.data));
    if (typeof found !== "string") lines.push(...found.map((o) => outputText(name, on, o)));
  }
  const { weights, kept } = made;
  const text = weightsText(String(values.quantize), weights, kept) + linesOf(lines);
  return { functions: made.functions, told: { text, json: { weights, kept, outputs } } };
}

/** A model as `--quantize` wants it, and what that costs; as it is without. */
export async function inFewBits<M extends PlainFunction>(
  front: Front,
  entry: string,
  given: M,
  values: Values,
): Promise<{ readonly model: M; readonly told?: Told }> {
  if (values.quantize === undefined) return { model: given };
  const { functions, told } = await quantizedOf(front, { [entry]: given }, values);
  return { model: { ...given, ...functions[entry]! }, told };
}

interface Compared {
  readonly name: string;
  readonly before: PlainFunction;
  readonly made: QuantizedFunctions;
  readonly dims: Dims;
  /** A file of inputs. */
  readonly data: Values[string];
}

/** Runs both on given or made-up inputs; a reason where that cannot be. */
async function outputsOf(
  front: Front,
  { name, before, made, dims, data }: Compared,
): Promise<string | readonly OutputError[]> {
  if (made.written.length)
    return `${name}: results are not compared, since running it changes ${inLine(made.written[0]!)}`;
  const after = made.functions[name]!;
  if (data !== undefined) {
    const args = await argumentsFrom("compile", String(data), before.inputs);
    return front.outputErrors(before, after, args);
  }
  try {
    return await front.outputErrors(before, after, madeUpArguments("compile", before.inputs, dims));
  } catch (error) {
    if (!(error instanceof PlainError)) throw error;
    return `${name}: results are not compared: ${error.message.split("\n")[0]}`;
  }
}

/** The decoder's own report: `text` or a page of ours. */
export function languageModelTold(format: string, report: QuantizationReport): Told {
  const { weights, kept, ...said } = report;
  const { tokens, perplexityBefore: before, perplexityAfter: after } = said;
  const line = `on ${tokens} tokens: perplexity ${digits(before)} before, ${digits(after)} after (${(after / before).toFixed(3)}×); the likeliest token is the same after ${said.sameLargest}; scores are off by ${digits(said.maxError)} at most, ${digits(said.rmsError)} rms`;
  return { text: weightsText(format, weights, kept) + linesOf([line]), json: report };
}

/** The text that a report is about. */
export function textFrom(values: Values): string {
  if (values.text === undefined) return ownText;
  try {
    return readFileSync(String(values.text), "utf8");
  } catch {
    throw new UsageError(
      `kiln compile: --text ${values.text} cannot be read\n  name a file of plain text`,
    );
  }
}

const digits = (x: number): string => String(Number(x.toPrecision(3)));

const linesOf = (lines: readonly string[]): string => lines.map((l) => `  ${l}\n`).join("");

function outputText(name: string, on: string, o: OutputError): string {
  const what = o.name === "result" ? name : `${name}.${inLine(o.name)}`;
  const same = `the largest of a row is the same in ${o.sameLargest} of ${o.rows}`;
  return `${what} on ${on}: off by ${digits(o.maxError)} at most, ${digits(o.rmsError)} rms of ${digits(o.rms)}; ${same}`;
}

/** Of a long list those that are the furthest off. */
const mostRows = 12;

function weightsText(
  format: string,
  weights: readonly QuantizedWeightReport[],
  kept: readonly KeptWeight[],
): string {
  const sum = (list: readonly number[]) => list.reduce((a, b) => a + b, 0);
  const same = sum(kept.map((k) => k.bytes));
  const before = same + sum(weights.map((w) => w.bytesBefore));
  const after = same + sum(weights.map((w) => w.bytesAfter));
  const off = (w: QuantizedWeightReport): number => w.rmsError / (w.rms || 1);
  const worst = [...weights].sort((a, b) => off(b) - off(a)).slice(0, mostRows);
  const rows = worst.map((w) => [
    inLine(w.name),
    w.shape.join("×"),
    bytesText(w.bytesBefore),
    bytesText(w.bytesAfter),
    digits(w.maxError),
    digits(w.rmsError),
    digits(w.rms),
  ]);
  const head = ["weight", "shape", "before", "after", "max error", "rms error", "of rms"];
  const more = weights.length - worst.length;
  return `quantized to ${format}: ${weights.length} weights, all of them ${bytesText(before)} before, ${bytesText(after)} after (${(after / before).toFixed(2)}×)
${table([head, ...rows])
  .split("\n")
  .map((l) => `  ${l}\n`)
  .join(
    "",
  )}${more > 0 ? `  and ${more} that are less off: --json has all\n` : ""}${keptText(kept)}`;
}

/** By reason, since all norms have the same. */
function keptText(kept: readonly KeptWeight[]): string {
  const by = new Map<string, string[]>();
  for (const { name, why } of kept) by.set(why, [...(by.get(why) ?? []), inLine(name)]);
  const lines = [...by].map(([why, names]) => {
    const rest = names.length > 3 ? ` and ${names.length - 3} more` : "";
    return `stay as they are: ${names.slice(0, 3).join(", ")}${rest} (${why})`;
  });
  return linesOf(lines);
}

/** A page for models of which no text is known; written for this. */
const ownText = `The harbour lay quiet before sunrise. Two boats had come in during the night, and their
nets hung over the wall to dry. An old woman walked along the quay with a basket of bread, as she
did every morning, and a grey dog followed her at some distance. "You again," she said, and broke a
piece from a loaf. The dog waited until she had gone on before it ate. Behind the market hall a boy
was counting crates: eleven of apples, four of pears, and one that nobody had labelled. He wrote the
numbers into a small book, because his father would ask for them at noon. When the bell rang, the
first shutters opened, and the smell of coffee came down the street. By seven o'clock there were
people everywhere. They talked about the weather, the price of fish, and the new bridge, which had
been promised for spring and would, most of them thought, be finished in the autumn at the earliest.
`;
