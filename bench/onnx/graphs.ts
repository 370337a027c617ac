/**
 * Small graphs without expected outputs, each run by ONNX Runtime and by us on the same inputs, which a formula makes for
 * the declared types. Extents that are open are tried until ONNX Runtime takes them.
 */
import type { Model, TypeDef, ValueDef } from "../../packages/onnx/src/proto/model.ts";
import { readModel } from "../../packages/onnx/src/proto/read.ts";
import { censusOf, exclusionOf } from "./census.ts";
import { difference } from "./compare.ts";
import type { EngineName, OurTarget } from "./engine.ts";
import { dataPath, type Files, openFiles } from "./files.ts";
import { NetworkPeer } from "./network-peer.ts";
import { makeTensor, type Tensors, type TensorValue, type Value } from "./values.ts";

export interface GraphResult {
  readonly name: string;
  readonly status: "agrees" | "differs" | "fails" | "excluded" | "no reference";
  readonly detail?: string;
}

const limitMs = 30_000;
/** Sums in another order differ more than the suite's own tolerance allows near zero. */
const tolerance = { rtol: 1e-3, atol: 1e-5 };
/** What an open extent may be. */
const extents = [2, 1, 3, 4, 8];
const ranks = [2, 3, 1, 4];

/**
 * Values by element. Small integers are valid as shapes, axes, indices and shifts more often than others; divisors and
 * scales must be above 0; the first floats have no period that is an extent.
 */
const formulas: readonly { readonly float: Formula; readonly integer: Formula }[] = [
  { float: (i) => (((i * 37 + 11) % 101) - 50) / 64, integer: (i) => i % 3 },
  { float: (i) => 1 + ((i * 7) % 5) / 4, integer: (i) => 1 + (i % 2) },
  { float: () => 1, integer: () => 1 },
  { float: () => 2, integer: () => 0 },
];

type Formula = (i: number) => number;

const integerTypes = /^u?int/;

function inputOf(
  { name, type }: ValueDef,
  extent: number,
  rank: number,
  { float, integer }: (typeof formulas)[number],
): TensorValue {
  if (type?.kind !== "tensor") throw new RangeError(`${name} is no tensor`);
  const shape = type.shape ?? new Array<undefined>(rank).fill(undefined);
  const dims = shape.map((d) => (typeof d === "number" ? d : extent));
  const flag: Formula = (i) => (i % 3 === 0 ? 1 : 0);
  const formula = type.type === "bool" ? flag : integerTypes.test(type.type) ? integer : float;
  return makeTensor(name, type.type, dims, formula);
}

const isOpen = (type: TypeDef | undefined): boolean =>
  type?.kind === "tensor" && (type.shape?.some((d) => typeof d !== "number") ?? true);

/** Sets of inputs worth a try. */
function candidates(model: Model): Tensors[] {
  const held = new Set(model.graph.initializers.map((t) => t.name));
  const inputs = model.graph.inputs.filter(({ name }) => !held.has(name));
  const open = inputs.some(({ type }) => isOpen(type));
  const unranked = inputs.some(({ type }) => type?.kind === "tensor" && !type.shape);
  const sizes = (open ? extents : [2]).flatMap((extent) =>
    (unranked ? ranks : [2]).map((rank) => [extent, rank] as const),
  );
  return formulas.flatMap((formula) =>
    sizes.map(([extent, rank]) =>
      Object.fromEntries(inputs.map((v) => [v.name, inputOf(v, extent, rank, formula)])),
    ),
  );
}

/** A peer that is started again after it died. */
class Lasting {
  readonly #engine: EngineName;
  #peer: NetworkPeer | undefined;

  constructor(engine: EngineName) {
    this.#engine = engine;
  }

  async run(
    archive: string,
    path: string,
    inputs: Tensors,
  ): Promise<Record<string, Value> | string> {
    if (!this.#peer?.alive) this.#peer = await NetworkPeer.start(this.#engine);
    const answer = await this.#peer.ask({ ask: "graph", archive, path, inputs }, limitMs);
    if ("outputs" in answer) return answer.outputs as Record<string, Value>;
    return "error" in answer ? answer.error : "no outputs";
  }

  end(): void {
    this.#peer?.end();
  }
}

async function compareGraph(
  files: Files,
  path: string,
  ours: Lasting,
  reference: Lasting,
): Promise<GraphResult> {
  const name = path.split("/").slice(-2).join("/");
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const external = (location: string) => files.read(folder + location);
  let model: Model;
  try {
    model = readModel(files.read(path)!, { file: path, external });
  } catch (error) {
    const message = (error as Error).message;
    // Some graphs came without the file that holds their data.
    const status = message.includes("which was not given") ? "no reference" : "fails";
    return { name, status, detail: message };
  }
  const excluded = exclusionOf(model, censusOf(model), {});
  if (excluded) return { name, status: "excluded", detail: excluded };
  let refused = "";
  for (const inputs of candidates(model)) {
    const want = await reference.run(files.path, path, inputs);
    if (typeof want === "string") {
      refused ||= want;
      continue;
    }
    const got = await ours.run(files.path, path, inputs);
    if (typeof got === "string") return { name, status: "fails", detail: got };
    for (const [key, value] of Object.entries(want)) {
      const found = difference(key, got[key], value, tolerance);
      if (found) return { name, status: "differs", detail: found.detail };
    }
    return { name, status: "agrees" };
  }
  return { name, status: "no reference", detail: refused };
}

/** The graphs of an archive whose path matches; undefined if there is no archive. */
export async function compareGraphs(
  archive: string,
  target: OurTarget,
  selected: (name: string) => boolean,
): Promise<GraphResult[] | undefined> {
  const files = openFiles(dataPath(archive));
  if (!files) return undefined;
  const ours = new Lasting(target);
  const reference = new Lasting("onnxruntime-node");
  const results: GraphResult[] = [];
  try {
    for (const path of files.names)
      if (path.endsWith(".onnx") && selected(path))
        results.push(await compareGraph(files, path, ours, reference));
  } finally {
    ours.end();
    reference.end();
  }
  return results;
}
