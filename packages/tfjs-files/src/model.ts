/**
 * One model.json: which shards it needs, and with their bytes the model. What is fetched, and from
 * where, is the caller's business.
 */
import type { ImportedModel, Model, TensorDef } from "@kiln-ml/onnx";
import { checkGraph, ImportedModel as Imported } from "@kiln-ml/onnx";
import { graphDialect, layersDialect } from "./dialects.ts";
import { Field } from "./file/field.ts";
import { readManifest, type WeightGroup } from "./file/manifest.ts";
import { joined } from "./file/shard.ts";
import { readWeights } from "./file/weights.ts";
import { readGraph, type Signature } from "./graph/read-graph.ts";
import { readLayers } from "./layers/read-layers.ts";

export class TfjsFile {
  readonly #root: Field;
  readonly #file: string;
  readonly #groups: readonly WeightGroup[];

  /** Throws ArtifactError for what is no model.json. */
  constructor(root: Field) {
    this.#root = root;
    this.#file = root.file;
    if (!root.isRecord || !root.maybe("modelTopology"))
      root.fail(
        "has no modelTopology, so it is no model of TensorFlow.js\n  give the model.json that tensorflowjs_converter wrote",
      );
    this.#groups = readManifest(root.get("weightsManifest"));
  }

  /** Throws ArtifactError for text that is no JSON, or no model. */
  static parse(text: string, file: string): TfjsFile {
    return new TfjsFile(Field.parse(text, file));
  }

  /** The paths of the shards, in the order of the manifest, each below the folder of the file. */
  get shards(): readonly string[] {
    return this.#groups.flatMap((group) => group.shards);
  }

  /** The model, with the bytes of each shard in order. */
  model(shards: readonly Uint8Array[]): ImportedModel {
    const weights = new Map<string, TensorDef>();
    let at = 0;
    for (const group of this.#groups) {
      const parts = shards.slice(at, at + group.shards.length);
      at += group.shards.length;
      for (const def of readWeights(this.#file, group, joined(parts))) weights.set(def.name, def);
    }
    const topology = this.#root.get("modelTopology");
    return topology.maybe("node")
      ? this.#graph(topology, weights)
      : this.#layers(topology, weights);
  }

  #graph(topology: Field, weights: ReadonlyMap<string, TensorDef>): ImportedModel {
    const model = readGraph(topology, this.#signature(), weights);
    return new Imported(this.#checked(model), graphDialect);
  }

  #layers(topology: Field, weights: ReadonlyMap<string, TensorDef>): ImportedModel {
    return new Imported(this.#checked(readLayers(topology, weights)), layersDialect);
  }

  #checked(model: Model): Model {
    return checkGraph(model, this.#file);
  }

  /** It stands beside the topology, or in the metadata of older files. */
  #signature(): Signature {
    const own =
      this.#root.maybe("signature") ?? this.#root.maybe("userDefinedMetadata")?.maybe("signature");
    return { inputs: own?.maybe("inputs"), outputs: own?.maybe("outputs") };
  }
}

/** Whether these are the first bytes of a text that may be a model.json. */
export function isTfjs(bytes: Uint8Array): boolean {
  for (const b of bytes.subarray(0, 64)) {
    if (b === 0x7b) return true;
    const blank = b === 0x20 || b === 0x0a || b === 0x0d || b === 0x09 || b >= 0x80;
    if (!blank) return false;
  }
  return false;
}
