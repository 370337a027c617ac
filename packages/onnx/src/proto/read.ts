/**
 * ONNX files → plain objects: `readModel` for a model, `readTensor`, `readSequence` and `readOptional` for values that
 * are kept beside one. Whatever is wrong with the bytes is an ArtifactError that names file and byte; memory stays
 * within a small multiple of the file. Opens no files, runs no checks between nodes (`checkGraph`).
 *
 * Format: github.com/onnx/onnx, onnx/onnx.in.proto and docs/IR.md.
 */

import { checkOptions, type OptionNames } from "@kiln-ml/ir";
import { closeExternal } from "./external.ts";
import {
  functionFields,
  modelFields,
  opsetFields,
  optionalFields,
  sequenceFields,
} from "./fields.ts";
import type { FunctionDef, Model, TensorDef } from "./model.ts";
import { type ReadMessage, readFields } from "./read-fields.ts";
import {
  attributesOf,
  domainOf,
  readAttributeMessage,
  readGraphMessage,
  readNodeMessage,
} from "./read-graph.ts";
import { readSparseMessage } from "./read-sparse.ts";
import { readEntry, readTensorMessage } from "./read-tensor.ts";
import { type External, failAt, openSource, quote, type Source } from "./source.ts";

export interface ReadOptions {
  /** The name that errors begin with. */
  readonly file?: string;
  /** The file at a location relative to the model's, whole or open; undefined if there is none. */
  readonly external?: External;
}

const readOptions: OptionNames<ReadOptions> = { file: 1, external: 1 };

/**
 * The model in `bytes`. Data of tensors are views into `bytes` where those are aligned, copies elsewhere.
 *
 * Throws ArtifactError for a damaged or hostile file.
 */
export function readModel(bytes: Uint8Array, options: ReadOptions = {}): Model {
  checkOptions("readModel", options, readOptions);
  const { file = "model", external } = options;
  const source = openSource(bytes, file, external);
  try {
    return readWhole(source, readModelMessage);
  } finally {
    closeExternal(source);
  }
}

/** A TensorProto by itself, as in `input_0.pb` of a test. Throws ArtifactError for a damaged file. */
export const readTensor = (bytes: Uint8Array, file = "tensor"): TensorDef =>
  readWhole(openSource(bytes, file), readTensorMessage);

/** A SequenceProto of tensors by itself. Throws ArtifactError for a damaged file or other elements. */
export const readSequence = (bytes: Uint8Array, file = "sequence"): readonly TensorDef[] =>
  readWhole(openSource(bytes, file), readSequenceMessage);

/** An OptionalProto by itself: a tensor, a sequence of tensors, or nothing. Throws ArtifactError as above. */
export const readOptional = (
  bytes: Uint8Array,
  file = "optional",
): TensorDef | readonly TensorDef[] | undefined =>
  readWhole(openSource(bytes, file), readOptionalMessage);

const readWhole = <T>(source: Source, read: ReadMessage<T>): T => read(source, source.bytes.length);

function readModelMessage(source: Source, end: number): Model {
  const fields = readFields(source, end, modelFields, {
    graph: readGraphMessage,
    opsets: readOpset,
    metadata: readEntry,
    functions: readFunctionMessage,
  });
  const { at, irVersion, producer = "", graph, functions } = fields;
  if (irVersion === undefined) return failAt(source, at, "a model without an IR version");
  if (!graph) return failAt(source, at, "a model without a graph");
  const metadata = new Map(fields.metadata.map(({ key = "", value = "" }) => [key, value]));
  // Before IR version 3 there was one set of ops.
  const opsets =
    irVersion < 3 && !fields.opsets.length ? new Map([["", 1]]) : byDomain(fields.opsets);
  return { irVersion, producer, opsets, graph, functions, metadata };
}

interface Opset {
  readonly domain: string;
  readonly version: number;
}

function readOpset(source: Source, end: number): Opset {
  const { at, domain, version = 0 } = readFields(source, end, opsetFields, {});
  if (version < 1) failAt(source, at, `opset ${quote(domainOf(domain))} has version ${version}`);
  return { domain: domainOf(domain), version };
}

/** Of two versions of one domain the higher counts. */
function byDomain(opsets: readonly Opset[]): ReadonlyMap<string, number> {
  const versions = new Map<string, number>();
  for (const { domain, version } of opsets)
    versions.set(domain, Math.max(version, versions.get(domain) ?? 0));
  return versions;
}

function readFunctionMessage(source: Source, end: number): FunctionDef {
  const fields = readFields(source, end, functionFields, {
    nodes: readNodeMessage,
    opsets: readOpset,
    defaults: readAttributeMessage,
  });
  const { at, name, domain, overload = "", inputs, outputs, attributes, nodes } = fields;
  if (!name) return failAt(source, at, "a function without a name");
  const defaults = attributesOf(source, at, fields.defaults, `function ${quote(name)}`);
  const opsets = byDomain(fields.opsets);
  return {
    name,
    domain: domainOf(domain),
    overload,
    inputs,
    outputs,
    attributes,
    defaults,
    nodes,
    opsets,
  };
}

const refuse =
  (what: string): ReadMessage<never> =>
  (source) =>
    failAt(source, source.reader.pos, what);

function readSequenceMessage(source: Source, end: number): readonly TensorDef[] {
  const { tensors, sparse } = readFields(source, end, sequenceFields, {
    tensors: readTensorMessage,
    sparse: readSparseMessage,
    sequences: refuse("a sequence of sequences"),
    maps: refuse("a sequence of maps"),
    optionals: refuse("a sequence of optionals"),
  });
  return sparse.length ? sparse : tensors;
}

function readOptionalMessage(
  source: Source,
  end: number,
): TensorDef | readonly TensorDef[] | undefined {
  const { tensor, sparse, sequence } = readFields(source, end, optionalFields, {
    tensor: readTensorMessage,
    sparse: readSparseMessage,
    sequence: readSequenceMessage,
    map: refuse("an optional map"),
    optional: refuse("an optional of an optional"),
  });
  return tensor ?? sparse ?? sequence;
}
