/** A few lines an op: graphs of ONNX as a network's code would have them, with weights that a formula makes. */
import {
  type AttributeDef,
  type ElementType,
  type NodeDef,
  type TensorDef,
  type ValueDef,
  writeModel,
} from "@kiln-ml/onnx";

type Extent = number | string;
type Attribute = number | string | readonly number[];

const attributeOf = (value: Attribute): AttributeDef => {
  if (typeof value === "string") return { kind: "string", value };
  if (typeof value === "number") return { kind: Number.isInteger(value) ? "int" : "float", value };
  return { kind: "ints", value };
};

export class Graph {
  readonly #nodes: NodeDef[] = [];
  readonly #initializers: TensorDef[] = [];
  readonly #inputs: ValueDef[] = [];
  readonly #outputs: ValueDef[] = [];
  #names = 0;
  #state = 1;

  input(name: string, type: ElementType, shape: readonly Extent[]): string {
    this.#inputs.push({ name, type: { kind: "tensor", type, shape } });
    return name;
  }

  output(name: string, value: string, shape: readonly Extent[]): void {
    this.#add("Identity", [value], {}, [name]);
    this.#outputs.push({ name, type: { kind: "tensor", type: "float32", shape } });
  }

  /** Of the standard's ops, or of those of another domain. */
  op(
    op: string,
    inputs: readonly string[],
    attributes: Record<string, Attribute> = {},
    domain = "",
  ): string {
    return this.#add(op, inputs, attributes, [this.#name(op)], domain)[0]!;
  }

  split(value: string, parts: number, axis: number): string[] {
    const outputs = Array.from({ length: parts }, () => this.#name("split"));
    return this.#add("Split", [value], { axis, num_outputs: parts }, outputs);
  }

  /** Weights that look like chance, of this standard deviation about `mean`. */
  weight(dims: readonly number[], deviation: number, mean = 0): string {
    const data = new Float32Array(dims.reduce((a, b) => a * b, 1));
    for (let i = 0; i < data.length; i++) {
      this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
      // Uniform numbers of that deviation.
      data[i] = mean + deviation * Math.sqrt(12) * (this.#state / 2 ** 32 - 0.5);
    }
    return this.#constant({ type: "float32", dims, data });
  }

  ints(values: readonly number[], dims: readonly number[] = [values.length]): string {
    return this.#constant({ type: "int64", dims, data: BigInt64Array.from(values, BigInt) });
  }

  float(value: number): string {
    return this.#constant({ type: "float32", dims: [], data: Float32Array.of(value) });
  }

  floats(values: readonly number[]): string {
    return this.#constant({
      type: "float32",
      dims: [values.length],
      data: Float32Array.from(values),
    });
  }

  /** Bytes that look like chance. */
  bytesOf(dims: readonly number[]): string {
    const data = new Uint8Array(dims.reduce((a, b) => a * b, 1));
    for (let i = 0; i < data.length; i++) {
      this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
      data[i] = this.#state >>> 24;
    }
    return this.#constant({ type: "uint8", dims, data });
  }

  bytes(): Uint8Array {
    const domains = new Set(this.#nodes.map((n) => n.domain).filter((d) => d !== ""));
    return writeModel({
      irVersion: 8,
      producer: "kiln",
      opsets: new Map([["", 18], ...[...domains].map((d) => [d, 1] as const)]),
      functions: [],
      metadata: new Map(),
      graph: {
        name: "model",
        nodes: this.#nodes,
        initializers: this.#initializers,
        inputs: this.#inputs,
        outputs: this.#outputs,
        values: [],
      },
    });
  }

  #constant(def: Omit<TensorDef, "name">): string {
    const name = this.#name("w");
    this.#initializers.push({ name, ...def });
    return name;
  }

  #name(of: string): string {
    this.#names += 1;
    return `${of}_${this.#names}`;
  }

  #add(
    op: string,
    inputs: readonly string[],
    attributes: Record<string, Attribute>,
    outputs: string[],
    domain = "",
  ): string[] {
    this.#nodes.push({
      op,
      domain,
      overload: "",
      name: `/${op}_${this.#nodes.length}`,
      inputs,
      outputs,
      attributes: new Map(Object.entries(attributes).map(([k, v]) => [k, attributeOf(v)])),
    });
    return outputs;
  }
}
