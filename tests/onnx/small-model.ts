/**
 * Models as plain objects for tests of ops: inputs with declared shapes, nodes as lists, initializers as numbers. Knows what int64 and
 * float32 need and no more.
 */
import {
  type AttributeDef,
  type ElementType,
  ImportedModel,
  type Model,
  type TensorDef,
} from "@kiln-ml/onnx";
import { OnnxModel, type OnnxTensor } from "../../packages/kiln/src/onnx.ts";

export type Attribute = number | string | readonly number[] | AttributeDef;

export interface SmallNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs?: readonly string[];
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly domain?: string;
}

export interface SmallModel {
  readonly opset?: number;
  /** Shapes; an extent is a number or the name of a symbol. Float32 unless `types` says otherwise. */
  readonly inputs: Readonly<Record<string, readonly (number | string)[]>>;
  readonly types?: Readonly<Record<string, ElementType>>;
  readonly initializers?: Readonly<Record<string, TensorDef>>;
  /** The output is `y` where a node does not say. */
  readonly nodes: readonly SmallNode[];
  readonly outputs?: readonly string[];
}

/** int64 values of rank 1, or of rank 0. */
export const int64 = (values: readonly (number | bigint)[] | number): TensorDef => ({
  name: "",
  type: "int64",
  dims: Array.isArray(values) ? [values.length] : [],
  data: BigInt64Array.from([values].flat() as (number | bigint)[], BigInt),
});

/** float32 values row-major. */
export const float32 = (dims: readonly number[], values: readonly number[]): TensorDef => ({
  name: "",
  type: "float32",
  dims,
  data: Float32Array.from(values),
});

/** Different numbers of about one size, without a pattern of period 2 or 3. */
export const wave = (dims: readonly number[], seed = 1): TensorDef => {
  const size = dims.reduce((a, b) => a * b, 1);
  return float32(
    dims,
    Array.from({ length: size }, (_, i) => Math.sin(i * 1.7 + seed * 0.9) * 2),
  );
};

function attributeOf(value: Attribute): AttributeDef {
  if (typeof value === "string") return { kind: "string", value };
  if (typeof value === "number") return { kind: Number.isInteger(value) ? "int" : "float", value };
  if (!Array.isArray(value)) return value as AttributeDef;
  const list = value as readonly number[];
  return { kind: list.every(Number.isInteger) ? "ints" : "floats", value: list };
}

export function modelOf(small: SmallModel): Model {
  const { opset = 21, inputs, types = {}, initializers = {}, nodes, outputs = ["y"] } = small;
  const graph = {
    name: "small",
    nodes: nodes.map(({ op, inputs, outputs = ["y"], attributes = {}, domain = "" }, i) => ({
      op,
      domain,
      overload: "",
      name: `${op}${i}`,
      inputs,
      outputs,
      attributes: new Map(Object.entries(attributes).map(([k, v]) => [k, attributeOf(v)])),
    })),
    initializers: Object.entries(initializers).map(([name, def]) => ({ ...def, name })),
    inputs: Object.entries(inputs).map(([name, shape]) => ({
      name,
      type: { kind: "tensor" as const, type: types[name] ?? ("float32" as const), shape },
    })),
    outputs: outputs.map((name) => ({ name, type: undefined })),
    values: [],
  };
  const opsets = new Map([
    ["", opset],
    ["ai.onnx.ml", 5],
  ]);
  return { irVersion: 10, producer: "", opsets, graph, functions: [], metadata: new Map() };
}

/** The model on the js target, with what symbols stand for. */
export const loadSmall = (
  small: SmallModel,
  dims: Readonly<Record<string, number | string>> = {},
): OnnxModel => new OnnxModel(new ImportedModel(modelOf(small)), { target: "js" }, dims);

export type Arrays = Readonly<Record<string, TensorDef>>;

/** The outputs as tensors. */
export async function runSmall(small: SmallModel, inputs: Arrays): Promise<OnnxTensor[]> {
  const results = await loadSmall(small).run(inputs);
  return Object.values(results) as OnnxTensor[];
}

export const numbers = (t: OnnxTensor): number[] =>
  Array.from(t.data as ArrayLike<number | bigint>, Number);
