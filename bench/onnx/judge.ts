/**
 * Runs one case on one engine and judges it: every output of every data set has the expected element type, shape and
 * values. An error is a verdict, not an exception.
 */
import type { Model } from "../../packages/onnx/src/proto/model.ts";
import { readModel } from "../../packages/onnx/src/proto/read.ts";
import type { Case, DataSet } from "./cases.ts";
import { type Difference, difference, type Tolerance } from "./compare.ts";
import type { Engine } from "./engine.ts";
import type { Files } from "./files.ts";
import { readValue, suiteInput, type Tensors } from "./values.ts";

export interface Verdict {
  readonly passed: boolean;
  readonly ms: number;
  /** What went wrong in words that failures share; undefined if nothing. */
  readonly kind?: string;
  readonly detail?: string;
  /** Ops that the importer does not know. */
  readonly unsupported?: readonly string[];
}

/** Ops that the suite's own generator compares with a wider absolute tolerance. */
const transforms = new Set(["DFT", "STFT"]);

export function toleranceOf(c: Case, model: Model): Tolerance {
  const wide = model.graph.nodes.some((n) => transforms.has(n.op));
  return { rtol: c.rtol, atol: c.atol ?? (wide ? 1e-5 : 1e-7) };
}

const bytesOf = (files: Files, path: string): Uint8Array => {
  const bytes = files.read(path);
  if (!bytes) throw new RangeError(`conformance: ${path} is missing`);
  return bytes;
};

/** The inputs that a run is given: those without an initializer, or as many as there are files. */
export function inputsOf(c: Case, set: DataSet, model: Model, files: Files): Tensors {
  const { graph } = model;
  if (c.made) {
    const held = new Set(graph.initializers.map((t) => t.name));
    const fed = graph.inputs.filter(({ name }) => !held.has(name));
    return Object.fromEntries(fed.map(({ name, type }) => [name, suiteInput(name, type)]));
  }
  const entries = set.inputs.flatMap((path, i) => {
    const input = graph.inputs[i];
    return input ? [[input.name, readValue(bytesOf(files, path), input.type, path)] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** The ops that an error of the importer lists: `Abs ×2 (a, b); Exp ×1 (c)`. */
function unsupportedOps(message: string): string[] | undefined {
  const list = message.match(/ops? (?:is|are) not supported: (.*)/s)?.[1];
  return list === undefined
    ? undefined
    : Array.from(list.matchAll(/([\w.]+) ×\d+ \(/g), ([, op]) => op!);
}

/** Numbers, names and lists in a message differ from case to case; the rest is the kind of error. */
function kindOf(error: Error): string {
  const line = error.message.split("\n")[0]!.slice(0, 200);
  const plain = line
    .replace(/\[[^\]]*\]/g, "[…]")
    .replace(/(["'`]).*?\1/g, "…")
    .replace(/-?\d+(\.\d+)?(e[+-]?\d+)?/g, "N");
  return `${error.name}: ${plain}`;
}

export function failure(error: unknown, ms: number): Verdict {
  const e = error instanceof Error ? error : new Error(String(error));
  const stack = e.stack?.split("\n").filter((l) => l.includes("    at ")) ?? [];
  // Errors of our own classes say what is wrong; of others it matters where they come from.
  const own = /^(Shape|Dtype|Graph|Artifact|Device)Error$/.test(e.name);
  const where = own ? "" : `\n${stack.slice(0, 3).join("\n")}`;
  const unsupported = unsupportedOps(e.message);
  const kind = unsupported ? "unsupported ops" : kindOf(e);
  const detail = `${e.name}: ${e.message}${where}`;
  return { passed: false, ms, kind, detail, ...(unsupported ? { unsupported } : {}) };
}

async function judgeSets(c: Case, files: Files, engine: Engine): Promise<Difference | undefined> {
  const bytes = bytesOf(files, c.model);
  const beside = new Map(c.beside.map((name) => [name, bytesOf(files, `${c.folder}/${name}`)]));
  const external = (location: string) => beside.get(location);
  const model = readModel(bytes, { file: c.model, external });
  const tolerance = toleranceOf(c, model);
  const opened = await engine.open({ name: c.model, bytes, beside });
  try {
    for (const set of c.sets) {
      const results = await opened.run(inputsOf(c, set, model, files));
      for (const [i, path] of set.outputs.entries()) {
        const output = model.graph.outputs[i];
        if (!output) continue;
        const want = readValue(bytesOf(files, path), output.type, path);
        const found = difference(output.name, results[output.name], want, tolerance);
        if (found) return found;
      }
    }
    return undefined;
  } finally {
    await opened.close();
  }
}

export async function judge(c: Case, files: Files, engine: Engine): Promise<Verdict> {
  const start = performance.now();
  const took = (): number => Math.round(performance.now() - start);
  try {
    const found = await judgeSets(c, files, engine);
    return { passed: !found, ms: took(), ...found };
  } catch (error) {
    return failure(error, took());
  }
}
