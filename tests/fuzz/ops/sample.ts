/**
 * A sample is one node with its inputs; here it becomes a file. How each input is given (as an
 * initializer, with extents, with symbols, without a shape) is drawn too, since import takes a way
 * of its own for each.
 */
import {
  type AttributeDef,
  type GraphDef,
  type Model,
  type NodeDef,
  type TensorDef,
  type ValueDef,
  writeModel,
} from "@kiln-ml/onnx";
import type { Draw } from "./draw.ts";

export type Attribute = number | string | readonly number[] | AttributeDef | undefined;

export interface Sample {
  readonly opset: number;
  readonly domain?: string;
  /** Numbers are ints unless the name is in `floats`; undefined is left out. */
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly inputs: readonly (TensorDef | undefined)[];
  /** Inputs that must be initializers for the peer or for us, or may be for neither. */
  readonly fixed?: readonly number[];
  readonly outputs?: number;
  /** Differences are judged against the greatest expected number: the op sums. */
  readonly sums?: boolean;
  readonly rtol?: number;
  readonly atol?: number;
  /** The nodes of the graph where `op` is none; they read `x0`, `x1`, … and give `y0`, …. */
  readonly nodes?: readonly NodeDef[];
  /** Tensors of the file that these nodes read by other names. */
  readonly constants?: readonly TensorDef[];
}

export const float = (value: number): AttributeDef => ({ kind: "float", value });
export const floatList = (value: readonly number[]): AttributeDef => ({ kind: "floats", value });
export const stringList = (value: readonly string[]): AttributeDef => ({ kind: "strings", value });
export const ints = (value: readonly number[]): AttributeDef => ({ kind: "ints", value });

export function attributeOf(value: NonNullable<Attribute>): AttributeDef {
  if (typeof value === "string") return { kind: "string", value };
  if (typeof value === "number") return { kind: "int", value };
  return Array.isArray(value) ? ints(value) : (value as AttributeDef);
}

export interface Given {
  readonly bytes: Uint8Array;
  readonly feeds: Readonly<Record<string, TensorDef>>;
  readonly outputs: readonly string[];
  /** For people. */
  readonly text: string;
}

type Extent = number | string | undefined;

/** What the file says of an input's extents. */
function declared(d: Draw, dims: readonly number[], i: number): readonly Extent[] | undefined {
  const how = d.int(0, 9);
  if (how < 5) return dims;
  if (how === 9) return undefined;
  if (how === 8) return dims.map(() => undefined);
  return dims.map((n, axis) => (d.chance(0.6) ? `d${i}_${axis}` : n));
}

export function modelOf(op: string, sample: Sample, d: Draw): Given {
  const { opset, domain = "", attributes = {}, inputs, fixed = [], outputs = 1 } = sample;
  const names = inputs.map((def, i) => (def ? `x${i}` : ""));
  const initializers: TensorDef[] = [...(sample.constants ?? [])];
  const graphInputs: ValueDef[] = [];
  const feeds: Record<string, TensorDef> = {};
  for (const [i, def] of inputs.entries()) {
    if (!def) continue;
    const name = names[i]!;
    if (fixed.includes(i) || d.chance(i === 0 ? 0.05 : 0.4)) {
      initializers.push({ ...def, name });
      continue;
    }
    const shape = declared(d, def.dims, i);
    graphInputs.push({
      name,
      type: { kind: "tensor", type: def.type, ...(shape ? { shape } : {}) },
    });
    feeds[name] = { ...def, name };
  }
  const given = Object.entries(attributes).filter(([, v]) => v !== undefined);
  const outs = Array.from({ length: outputs }, (_, i) => `y${i}`);
  const node: NodeDef = {
    op,
    domain,
    overload: "",
    name: "n",
    inputs: names,
    outputs: outs,
    attributes: new Map(given.map(([k, v]) => [k, attributeOf(v!)])),
  };
  const graph: GraphDef = {
    name: "g",
    nodes: sample.nodes ?? [node],
    initializers,
    inputs: graphInputs,
    outputs: outs.map((name) => ({ name, type: undefined })),
    values: [],
  };
  const opsets = new Map([["", opset]]);
  if (domain) opsets.set(domain, domain === "ai.onnx.ml" ? 3 : 1);
  const irVersion = opset < 9 ? 4 : opset < 16 ? 8 : 10;
  const model: Model = {
    irVersion,
    producer: "",
    opsets,
    graph,
    functions: [],
    metadata: new Map(),
  };
  return { bytes: writeModel(model), feeds, outputs: outs, text: textOf(op, sample, model) };
}

const brief = (def: TensorDef): string => {
  const all = Array.from(def.data as ArrayLike<number>, String);
  const shown = all.length > 12 ? `${all.slice(0, 12).join(",")},…` : all.join(",");
  return `${def.type}[${def.dims}](${shown})`;
};

function textOf(op: string, sample: Sample, { graph }: Model): string {
  const inputs = sample.inputs.map((def, i) => {
    if (!def) return "-";
    const input = graph.inputs.find((v) => v.name === `x${i}`);
    const shape = input?.type?.kind === "tensor" ? input.type.shape : undefined;
    const form = !input ? "initializer" : shape ? `[${shape.map((e) => e ?? "?")}]` : "no shape";
    return `${brief(def)} ${form}`;
  });
  const shown = graph.nodes.map((n) => {
    const attributes = [...n.attributes].map(
      ([k, a]) => `${k}=${JSON.stringify("value" in a ? a.value : a.kind, short)}`,
    );
    const names = graph.nodes.length > 1 ? ` ${n.inputs} → ${n.outputs}` : "";
    return `${n.op}${names} {${attributes.join(" ")}}`;
  });
  return `${op} opset ${sample.opset} ${shown.join("; ")}\n    ${inputs.join("\n    ")}`;
}

const short = (_: string, v: unknown): unknown =>
  typeof v === "bigint" ? Number(v) : ArrayBuffer.isView(v) ? [...(v as Uint8Array)].join() : v;
