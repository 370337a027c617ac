/**
 * What a network is to the tables: its files, and work on it that is the same for every engine. Knows no engine.
 */
import type { Opened } from "../engine.ts";
import type { Source } from "../sources.ts";
import { makeTensor, sizeOf, type Tensors, type TensorValue, type Value } from "../values.ts";

export interface ModelRef {
  readonly from: Source;
  /** The end of its path in the source. */
  readonly path: string;
  readonly dims?: Readonly<Record<string, number | string>>;
}

/** Values that engines must agree on, by name. */
export type Results = Record<string, TensorValue>;

export interface Work {
  /** Everything the network is compared by. */
  readonly check: () => Promise<{ readonly results: Results; readonly note?: string }>;
  /** One unit of what is timed: a run, a chunk of sound. */
  readonly unit: () => Promise<unknown>;
  /** Inputs of one run of each model, by its key, for counting kernels. */
  readonly inputs: Readonly<Record<string, Tensors>>;
}

export interface Network {
  readonly name: string;
  /** What a unit of time is one of. */
  readonly unit: string;
  readonly models: Readonly<Record<string, ModelRef>>;
  /** Other sources its work reads. */
  readonly reads?: readonly Source[];
  readonly work: (models: Readonly<Record<string, Opened>>) => Promise<Work> | Work;
}

export const tensorOf = (v: Value | undefined): TensorValue => {
  if (!v || !("data" in v)) throw new TypeError("models: an output is no tensor");
  return v;
};

export const floatsOf = (v: Value | undefined): Float32Array => {
  const { data } = tensorOf(v);
  if (!(data instanceof Float32Array)) throw new TypeError("models: an output is not float32");
  return data;
};

export const floats = (dims: readonly number[], data: Float32Array): TensorValue => ({
  type: "float32",
  dims,
  data,
});

/** A picture's worth of numbers: smooth, with edges, no two channels alike, from `low` to `high`. */
export function picture(dims: readonly number[], low = 0, high = 1): TensorValue {
  const width = dims.at(-1)!;
  const size = sizeOf(dims);
  const value = (i: number): number => {
    const [x, y] = [i % width, Math.floor(i / width)];
    const wave = Math.sin(x / 9 + y / 23) * Math.cos(y / 13);
    const stripe = Math.floor(x / 17) % 3 === 0 ? 0.35 : 0;
    return Math.min(1, Math.max(0, 0.45 + 0.3 * wave + stripe + (0.1 * i) / size));
  };
  return makeTensor("", "float32", dims, (i) => low + (high - low) * value(i));
}

/** A network of one model and one input of a fixed shape. */
export function single(
  name: string,
  model: ModelRef,
  input: string,
  value: () => TensorValue,
): Network {
  return {
    name,
    unit: "run",
    models: { model },
    work: ({ model }) => {
      const inputs = { [input]: value() };
      const run = () => model!.run(inputs);
      const check = async () => {
        const outputs = Object.entries(await run());
        return { results: Object.fromEntries(outputs.map(([key, v]) => [key, tensorOf(v)])) };
      };
      return { check, unit: run, inputs: { model: inputs } };
    },
  };
}
