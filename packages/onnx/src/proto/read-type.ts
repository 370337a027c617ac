/**
 * TypeProto and ValueInfoProto → `TypeDef` and `ValueDef`. An extent below zero and an empty symbol say nothing, as in
 * files of old exporters; so does element type 0.
 */
import {
  dimFields,
  elementFields,
  shapeFields,
  tensorTypeFields,
  typeFields,
  valueFields,
} from "./fields.ts";
import { elementTypes, type TypeDef, type ValueDef } from "./model.ts";
import { type ReadMessage, readFields } from "./read-fields.ts";
import { failAt, type Source } from "./source.ts";

const stepOver: ReadMessage<true> = (source, end) => {
  source.reader.pos = end;
  return true;
};

function readDim(source: Source, end: number): number | string | undefined {
  const { value, symbol } = readFields(source, end, dimFields, {});
  return value !== undefined && value >= 0 ? value : symbol || undefined;
}

const readShape = (source: Source, end: number) =>
  readFields(source, end, shapeFields, { dims: readDim }).dims;

function readTensorType(source: Source, end: number): TypeDef | undefined {
  const { type = 0, shape } = readFields(source, end, tensorTypeFields, { shape: readShape });
  if (type === 0) return undefined;
  const name = elementTypes[type - 1];
  if (name === undefined) return { kind: "other", what: `tensor of element type ${type}` };
  return { kind: "tensor", type: name, ...(shape ? { shape } : {}) };
}

// Element types are types: the readers are functions, so that each is there when the other needs it.
function readElement(source: Source, end: number): { readonly of: TypeDef | undefined } {
  return readFields(source, end, elementFields, { of: readTypeMessage });
}

/** Undefined where the message says nothing. */
export function readTypeMessage(source: Source, end: number): TypeDef | undefined {
  const { tensor, sequence, optional, map, sparse, opaque } = readFields(source, end, typeFields, {
    // A tensor of no known type is known to be something.
    tensor: (s: Source, e: number) => ({ type: readTensorType(s, e) }),
    sequence: readElement,
    optional: readElement,
    map: stepOver,
    sparse: stepOver,
    opaque: stepOver,
  });
  if (tensor) return tensor.type;
  if (sequence) return { kind: "sequence", of: sequence.of };
  if (optional) return { kind: "optional", of: optional.of };
  const what = map ? "map" : sparse ? "sparse tensor" : opaque ? "opaque" : undefined;
  return what === undefined ? undefined : { kind: "other", what };
}

export function readValueMessage(source: Source, end: number): ValueDef {
  const { at, name, type } = readFields(source, end, valueFields, {
    type: (s: Source, e: number) => ({ is: readTypeMessage(s, e) }),
  });
  if (!name) return failAt(source, at, "a value without a name");
  return { name, type: type?.is };
}
