/**
 * TensorFlow.js model files as models that run: model.json with its shards, read without
 * TensorFlow.js. Knows no device; `kiln-ml/tfjs` runs what it makes.
 */
export { Field } from "./file/field.ts";
export { joined, type ShardSource, shardBytes } from "./file/shard.ts";
export { layerRows } from "./layers/rows.ts";
export { isTfjs, TfjsFile } from "./model.ts";
export { graphRows } from "./rows/index.ts";
export { refused } from "./rows/refused.ts";
