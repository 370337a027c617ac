/**
 * The tensors of a file as leaves of the graph. Floats of more than one element are parameters, so
 * that they can be trained and are stored as weights; single numbers are constants, which fold; the
 * rest is data, in packed bytes where integers have 2 or 4 bits. Each is made once a model.
 */
import {
  broadcastInDim,
  constant,
  dataLeaf,
  fromHost,
  isFloat,
  param,
  type Tensor,
} from "@kiln-ml/ir";
import { dtypeOf, hostOf } from "./element.ts";
import { packedLeaf } from "./packed.ts";
import type { TensorDef } from "./proto/model.ts";
import { TensorValue } from "./value.ts";

export class Weights {
  readonly #leaves = new Map<TensorDef, Tensor>();
  readonly #defs = new WeakMap<Tensor, TensorDef>();
  readonly #parameters = new Map<string, Tensor>();
  readonly #dialect: string;
  readonly #read: (def: TensorDef) => readonly number[] | undefined;

  /** `dialect` is what messages begin with. */
  constructor(read: (def: TensorDef) => readonly number[] | undefined, dialect: string) {
    this.#read = read;
    this.#dialect = dialect;
  }

  /** The parameters made so far, by the name they have in the file. */
  get parameters(): ReadonlyMap<string, Tensor> {
    return this.#parameters;
  }

  value(def: TensorDef): TensorValue {
    return new TensorValue(def.type, () => this.#leaf(def), def);
  }

  /** The values a leaf had in the file. */
  valuesOf(leaf: Tensor): readonly number[] | undefined {
    const def = this.#defs.get(leaf);
    return def && this.#read(def);
  }

  #leaf(def: TensorDef): Tensor {
    let leaf = this.#leaves.get(def);
    if (!leaf) {
      leaf = this.#make(def);
      this.#leaves.set(def, leaf);
      this.#defs.set(leaf, def);
    }
    return leaf;
  }

  #make(def: TensorDef): Tensor {
    const dtype = dtypeOf(def.type, `${this.#dialect}: ${def.name || "tensor"}`);
    const host = hostOf(def);
    if (host.length === 1)
      return broadcastInDim(constant(fromHost(dtype, host)[0]!, dtype), def.dims, []);
    if (!isFloat(dtype) || host.length === 0)
      return packedLeaf(def, host) ?? dataLeaf(dtype, def.dims, host);
    const name = this.#name(def.name);
    const leaf = param(dataLeaf(dtype, def.dims, host), { name, trainable: true });
    this.#parameters.set(name, leaf);
    return leaf;
  }

  #name(wanted: string): string {
    const base = wanted || "constant";
    let name = base;
    for (let i = 2; this.#parameters.has(name); i++) name = `${base}_${i}`;
    return name;
  }
}
