/**
 * What a network is, as a table and as data: by module its result, parameters, operations and
 * memory. A graph is built for the inputs given and dropped; nothing is computed.
 */
import {
  addDim,
  bytesOf,
  type Dim,
  type Dtype,
  evaluateDim,
  GraphError,
  input,
  lastNodeId,
  mulDim,
  opRecord,
  printDim,
  printShape,
  reductionExtents,
  type Scope,
  type Shape,
  sizeOf,
  Tensor,
  topologicalOrder,
  trace,
} from "@kiln-ml/ir";
import { hook } from "./hooks.ts";
import { checkModule, type Module } from "./module.ts";

export interface SummaryRow {
  /** `blocks.0.fc1`; "" of the whole. */
  readonly path: string;
  readonly type: string;
  /**
   * Of the first tensor of the result, as the last call left it; undefined where it was not called.
   */
  readonly output: Shape | undefined;
  /** Elements of parameters, those of modules below included. */
  readonly parameters: number;
  /**
   * Operations of one forward pass: 2·m·n·k of products, one an element of all else. Modules below
   * included.
   */
  readonly flops: Dim;
  /** Bytes of parameters and buffers, those of modules below included. */
  readonly bytes: number;
}

export interface Summary {
  readonly rows: readonly SummaryRow[];
  /** The row of the whole. */
  readonly total: SummaryRow;
  /** The table. */
  toString(): string;
}

const firstTensor = (x: unknown): Tensor | undefined => {
  if (x instanceof Tensor) return x;
  if (typeof x !== "object" || x === null) return undefined;
  for (const value of Object.values(x)) {
    const found = firstTensor(value);
    if (found) return found;
  }
  return undefined;
};

const tensorsIn = (x: unknown): Tensor[] => {
  if (x instanceof Tensor) return [x];
  return typeof x === "object" && x !== null ? Object.values(x).flatMap(tensorsIn) : [];
};

function flopsOf(t: Tensor): Dim {
  const { family } = opRecord(t.op);
  if (family === "contraction")
    return [2, ...t.shape, ...reductionExtents(t)].reduce<Dim>(mulDim, 1);
  if (family === "reduce") return sizeOf(t.operands[0]!.shape);
  return family === "movement" || family === "source" || family === "control" ? 0 : sizeOf(t.shape);
}

/** Modules in whose course a node was made. */
function* ownersOf(scope: Scope | undefined): Generator<object> {
  for (let s = scope; s; s = s.outer) yield s.owner;
}

/** An input of a summary: a tensor, or the shape of one of f32. */
export type SummaryInput = Tensor | readonly (Dim | string)[];

const placeholder = (given: SummaryInput, i: number): Tensor =>
  given instanceof Tensor ? input(`x${i}`, given.dtype, given.shape) : input(`x${i}`, "f32", given);

/**
 * Rows of a network and all modules below it, for inputs of these shapes, which may have symbols.
 * Dropout and the like are as `training` says.
 *
 * Throws what `forward` throws for them; GraphError without inputs. `torchinfo.summary`.
 * `keras.Model.summary`, `torchinfo.summary`.
 *
 * @param net A module.
 * @param inputs Shapes of what forward takes, which may name symbols, or tensors.
 * @example
 *   const summary = nn.summary(new nn.Linear(784, 10), ["N", 784]);
 *   `${summary}`.includes("7,850") // true; a table of shapes, parameters, FLOPs and memory
 */
export function summary(net: Module, ...inputs: readonly SummaryInput[]): Summary {
  checkModule("summary", net);
  if (!inputs.length)
    throw new GraphError("summary: takes inputs, or their shapes\n  nn.summary(net, [1, 784])");
  const outputs = new Map<Module, Shape>();
  const modules = [...net.modules()];
  const off = modules.map(([, m]) =>
    hook(m, (_inputs, output) => {
      const t = firstTensor(output);
      if (t) outputs.set(m, t.shape);
    }),
  );
  const from = lastNodeId();
  let made: Tensor[] = [];
  try {
    const run = net.forward as unknown as (...xs: Tensor[]) => unknown;
    const { value, updates } = trace(() => run.call(net, ...inputs.map(placeholder)));
    made = topologicalOrder([...tensorsIn(value), ...updates.values()]);
  } finally {
    for (const take of [...off].reverse()) take();
  }
  const flops = new Map<object, Dim>();
  for (const t of made) {
    if (t.id <= from) continue;
    for (const owner of ownersOf(t.scope)) flops.set(owner, sum(flops.get(owner) ?? 0, flopsOf(t)));
  }
  const rows = modules.map(([path, m]): SummaryRow => {
    const state = [...m.state().values()];
    const size = (t: Tensor) => evaluateDim(sizeOf(t.shape), {});
    return {
      path,
      type: m.constructor.name,
      output: outputs.get(m),
      parameters: m.parameterCount,
      flops: flops.get(m) ?? 0,
      bytes: state.reduce((n, t) => n + size(t) * bytesOf(t.dtype as Dtype), 0),
    };
  });
  return { rows, total: rows[0]!, toString: () => tableOf(rows) };
}

const sum = (a: Dim, b: Dim): Dim =>
  typeof a === "number" && typeof b === "number" ? a + b : addDim(a, b);

const grouped = (d: Dim): string =>
  typeof d === "number" ? d.toLocaleString("en-US") : printDim(d);

function tableOf(rows: readonly SummaryRow[]): string {
  const cells = [
    ["module", "result", "parameters", "FLOPs", "bytes"],
    ...rows.map((r) => [
      `${"  ".repeat(r.path ? r.path.split(".").length : 0)}${r.path ? `${r.path}: ` : ""}${r.type}`,
      r.output ? printShape(r.output) : "",
      grouped(r.parameters),
      grouped(r.flops),
      grouped(r.bytes),
    ]),
  ];
  const widths = cells[0]!.map((_, i) => Math.max(...cells.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((c, i) => (i < 2 ? c.padEnd(widths[i]!) : c.padStart(widths[i]!)))
      .join("  ")
      .trimEnd();
  return cells.map(line).join("\n");
}
