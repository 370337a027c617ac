/** Graph models as tests write them: a GraphDef in JSON, and its weights as one shard. */
type Values = readonly number[];

export type Attribute = number | boolean | string | readonly number[] | readonly string[] | object;

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A whole number is `i`, a text is bytes; `{ f: 1 }` and the like say what they are. */
function attribute(value: Attribute): object {
  if (typeof value === "boolean") return { b: value };
  if (typeof value === "number")
    return Number.isInteger(value) ? { i: String(value) } : { f: value };
  if (typeof value === "string")
    return value.startsWith("DT_") ? { type: value } : { s: base64(value) };
  if (!Array.isArray(value)) return value;
  if (!value.length) return { list: {} };
  return typeof value[0] === "string"
    ? { list: { s: value.map((v) => base64(v as string)) } }
    : { list: { i: value.map(String) } };
}

const types: Readonly<Record<string, string>> = {
  float32: "DT_FLOAT",
  int32: "DT_INT32",
  bool: "DT_BOOL",
};

export interface Feed {
  readonly name: string;
  readonly type: "float32" | "int32" | "bool";
  readonly dims: readonly number[];
  readonly values: Values;
}

interface Weight {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
}

export class GraphWriter {
  readonly nodes: object[] = [];
  readonly feeds: Feed[] = [];
  readonly outputs: string[] = [];
  readonly library: object[] = [];
  readonly #weights: Weight[] = [];
  readonly #bytes: Uint8Array[] = [];
  #next = 0;

  #name(prefix: string): string {
    return `${prefix}_${this.#next++}`;
  }

  input(dims: readonly number[], values: Values, type: Feed["type"] = "float32"): string {
    const name = this.#name("in");
    this.feeds.push({ name, type, dims, values });
    return name;
  }

  constant(dims: readonly number[], values: Values, dtype: Feed["type"] = "float32"): string {
    const name = this.#name("const");
    this.nodes.push({ name, op: "Const", attr: { dtype: { type: types[dtype] } } });
    this.#weights.push({ name, shape: dims, dtype });
    const data =
      dtype === "bool"
        ? Uint8Array.from(values)
        : dtype === "int32"
          ? Int32Array.from(values)
          : Float32Array.from(values);
    this.#bytes.push(new Uint8Array(data.buffer));
    return name;
  }

  /** The node's name, by which its first output is meant. */
  node(
    op: string,
    inputs: readonly string[],
    attrs: Readonly<Record<string, Attribute>> = {},
  ): string {
    const name = this.#name(op);
    const attr = Object.fromEntries(Object.entries(attrs).map(([k, v]) => [k, attribute(v)]));
    this.nodes.push({ name, op, input: inputs, attr });
    return name;
  }

  /** An output of the model under a name of its own. */
  output(reference: string): string {
    const name = this.node("Identity", [reference]);
    this.outputs.push(name);
    return name;
  }

  /** The file; with `open` no extent of an input is known. */
  model(open = false): { json: object; bytes: Uint8Array } {
    const placeholders = this.feeds.map(({ name, type, dims }) => ({
      name,
      op: "Placeholder",
      attr: {
        dtype: { type: types[type] },
        shape: { shape: { dim: dims.map((d) => ({ size: String(open ? -1 : d) })) } },
      },
    }));
    const names = (list: readonly string[]) =>
      Object.fromEntries(list.map((name) => [name, { name: `${name}:0` }]));
    return {
      json: {
        format: "graph-model",
        signature: { inputs: names(this.feeds.map((f) => f.name)), outputs: names(this.outputs) },
        modelTopology: {
          node: [...placeholders, ...this.nodes],
          library: { function: this.library },
          versions: { producer: 1 },
        },
        weightsManifest: [{ paths: ["group1-shard1of1.bin"], weights: this.#weights }],
      },
      bytes: Buffer.concat(this.#bytes),
    };
  }
}
